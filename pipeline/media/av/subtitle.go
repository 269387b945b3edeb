package av

/*
#cgo pkg-config: libavcodec
#include <libavcodec/avcodec.h>

static int open_text(AVCodecContext *c, const AVCodec *codec)
{
	c->sub_charenc_mode = FF_SUB_CHARENC_MODE_IGNORE;
	return avcodec_open2(c, codec, NULL);
}
static const char *event(const AVSubtitle *s, unsigned i)
{
	return i < s->num_rects && s->rects[i]->type == SUBTITLE_ASS ? s->rects[i]->ass : NULL;
}
*/
import "C"

import (
	"unsafe"

	"github.com/asticode/go-astiav"
)

// OpenText opens a subtitle decoder without a check of the text's encoding
// (avcodec_open2): the check would reject a whole packet for one byte that is not UTF-8
// (FF_SUB_CHARENC_MODE_IGNORE).
func OpenText(c *astiav.CodecContext, by *astiav.Codec) error {
	return status(C.open_text(coder(c), codec(by)))
}

// SubtitleHeader returns AVCodecContext.subtitle_header, the script header in ASS format.
func SubtitleHeader(c *astiav.CodecContext) string {
	p := coder(c)
	return C.GoStringN((*C.char)(unsafe.Pointer(p.subtitle_header)), p.subtitle_header_size)
}

// DecodeText returns a packet's events in ASS format (avcodec_decode_subtitle2). ok is
// false if the packet is damaged or holds no events.
func DecodeText(c *astiav.CodecContext, p *astiav.Packet) (events []string, ok bool) {
	var s C.AVSubtitle
	var got C.int
	if C.avcodec_decode_subtitle2(coder(c), &s, &got, packet(p)) < 0 || got == 0 {
		return nil, false
	}
	defer C.avsubtitle_free(&s)
	for i := range s.num_rects {
		if e := C.event(&s, i); e != nil {
			events = append(events, C.GoString(e))
		}
	}
	return events, true
}
