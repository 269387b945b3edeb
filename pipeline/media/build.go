package media

import (
	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
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
	version, licence := av.Version()
	return Build{Version: version, Licence: licence, Libraries: av.Libraries()}
}

// HasEncoder says whether FFmpeg has an encoder of that name. Those that need
// hardware may still fail to open.
func HasEncoder(name string) bool { return astiav.FindEncoderByName(name) != nil }
