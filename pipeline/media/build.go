package media

/*
#cgo pkg-config: libavformat libavcodec libavutil
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
*/
import "C"

import (
	"fmt"

	"github.com/asticode/go-astiav"
)

// Build describes the FFmpeg libraries that the program runs with.
type Build struct {
	Version string // such as "5.1.6-0+deb12u1"
	Licence string // such as "GPL version 2 or later"
	// Libraries are names with versions, such as "libavcodec 59.37.100".
	Libraries []string
}

// FFmpeg returns the build at hand.
func FFmpeg() Build {
	b := Build{Version: C.GoString(C.av_version_info()), Licence: C.GoString(C.avutil_license())}
	for _, l := range []struct {
		name    string
		version C.unsigned
	}{
		{"libavcodec", C.avcodec_version()},
		{"libavformat", C.avformat_version()},
		{"libavutil", C.avutil_version()},
	} {
		b.Libraries = append(b.Libraries, fmt.Sprintf("%s %d.%d.%d", l.name, l.version>>16, l.version>>8&0xff, l.version&0xff))
	}
	return b
}

// HasEncoder says whether FFmpeg has an encoder of that name. Those that need
// hardware may still fail to open.
func HasEncoder(name string) bool { return astiav.FindEncoderByName(name) != nil }
