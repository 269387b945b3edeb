// Package av calls the functions of FFmpeg's libraries that go-astiav v0.16 does not
// bind. It reads the C pointers out of go-astiav's types. It contains all C of the media
// packages and makes no decisions. compat.h contains everything that differs between
// versions of FFmpeg.
package av

/*
#cgo pkg-config: libavformat libavcodec libavutil
#include <stdlib.h>
#include "compat.h"
*/
import "C"

import (
	"fmt"
	"unsafe"

	"github.com/asticode/go-astiav"
)

// NoTimestamp is AV_NOPTS_VALUE, the value of an unknown time.
const NoTimestamp = -1 << 63

// native returns the C struct that t wraps. It relies on T's first field being the
// pointer to that struct.
func native[S, T any](t *T) *S { return *(**S)(unsafe.Pointer(t)) }

func context(c *astiav.FormatContext) *C.AVFormatContext    { return native[C.AVFormatContext](c) }
func stream(s *astiav.Stream) *C.AVStream                   { return native[C.AVStream](s) }
func coder(c *astiav.CodecContext) *C.AVCodecContext        { return native[C.AVCodecContext](c) }
func codec(c *astiav.Codec) *C.AVCodec                      { return native[C.AVCodec](c) }
func packet(p *astiav.Packet) *C.AVPacket                   { return native[C.AVPacket](p) }
func params(p *astiav.CodecParameters) *C.AVCodecParameters { return native[C.AVCodecParameters](p) }
func raw(f *astiav.Frame) *C.AVFrame                        { return (*C.AVFrame)(f.UnsafePointer()) }

func rational(r astiav.Rational) C.AVRational { return C.AVRational{C.int(r.Num()), C.int(r.Den())} }

// status turns FFmpeg's return value r into an error, nil if r is not negative.
func status(r C.int) error {
	if r < 0 {
		return astiav.Error(r)
	}
	return nil
}

// withString calls f with s as a C string and frees the string afterwards.
func withString[T any](s string, f func(*C.char) T) T {
	c := C.CString(s)
	defer C.free(unsafe.Pointer(c))
	return f(c)
}

func integer(b bool) C.int {
	if b {
		return 1
	}
	return 0
}

// Version returns FFmpeg's version, such as "5.1.6-0+deb12u1" (av_version_info), and the
// licence of the build (avutil_license).
func Version() (version, licence string) {
	return C.GoString(C.av_version_info()), C.GoString(C.avutil_license())
}

// Libraries returns the name and version of each library, such as "libavcodec 59.37.100"
// (avcodec_version, avformat_version, avutil_version).
func Libraries() (list []string) {
	for _, l := range []struct {
		name    string
		version C.unsigned
	}{
		{"libavcodec", C.avcodec_version()},
		{"libavformat", C.avformat_version()},
		{"libavutil", C.avutil_version()},
	} {
		list = append(list, fmt.Sprintf("%s %d.%d.%d", l.name, l.version>>16, l.version>>8&0xff, l.version&0xff))
	}
	return list
}

// CodecLibrary is LIBAVCODEC_IDENT, the library name that files carry in their "encoder"
// tag.
const CodecLibrary = C.LIBAVCODEC_IDENT
