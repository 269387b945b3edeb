package av

/*
#cgo pkg-config: libavutil
#include <libavutil/timecode.h>

static int timecode_after(const char *code, AVRational rate, int frames, char *out)
{
	AVTimecode t;
	int r = av_timecode_init_from_string(&t, rate, code, NULL);
	if (r < 0)
		return r;
	t.flags |= AV_TIMECODE_FLAG_24HOURSMAX;
	av_timecode_make_string(&t, out, frames);
	return 0;
}
*/
import "C"

import "github.com/asticode/go-astiav"

// TimecodeAfter returns the timecode that follows a timecode of SMPTE ST 12-1, such as
// "01:00:00:00" or "01:00:00;00", after some frames at rate frames per second
// (av_timecode_make_string).
func TimecodeAfter(code string, rate astiav.Rational, frames int) (string, error) {
	var out [C.AV_TIMECODE_STR_SIZE]C.char
	err := status(withString(code, func(c *C.char) C.int { return C.timecode_after(c, rational(rate), C.int(frames), &out[0]) }))
	if err != nil {
		return "", err
	}
	return C.GoString(&out[0]), nil
}
