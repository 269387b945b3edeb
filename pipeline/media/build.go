package media

import (
	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
)

// Build describes the FFmpeg libraries that the program is running with.
type Build struct {
	Version string // such as "5.1.6-0+deb12u1"
	Licence string // such as "GPL version 2 or later"
	// Libraries are the names and versions of the libraries, such as "libavcodec
	// 59.37.100".
	Libraries []string
}

// FFmpeg returns the description of the FFmpeg libraries.
func FFmpeg() Build {
	version, licence := av.Version()
	return Build{Version: version, Licence: licence, Libraries: av.Libraries()}
}

// HasEncoder reports whether FFmpeg has an encoder called name. An encoder that needs
// hardware may still fail to open.
func HasEncoder(name string) bool { return astiav.FindEncoderByName(name) != nil }
