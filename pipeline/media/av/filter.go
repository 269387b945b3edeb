package av

/*
#cgo pkg-config: libavfilter
#include <libavfilter/buffersink.h>
*/
import "C"

import "github.com/asticode/go-astiav"

// SinkFormat returns the pixel format of the frames that a buffersink delivers
// (av_buffersink_get_format).
func SinkFormat(sink *astiav.FilterContext) astiav.PixelFormat {
	return astiav.PixelFormat(C.av_buffersink_get_format(native[C.AVFilterContext](sink)))
}

// SinkTimeBase returns the unit of a buffersink's timestamps in seconds
// (av_buffersink_get_time_base).
func SinkTimeBase(sink *astiav.FilterContext) astiav.Rational {
	tb := C.av_buffersink_get_time_base(native[C.AVFilterContext](sink))
	return astiav.NewRational(int(tb.num), int(tb.den))
}
