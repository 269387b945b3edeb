package media

import (
	"crypto/md5" //nolint:gosec // FFmpeg's lists have it, and nobody is to be kept out
	"errors"

	"github.com/asticode/go-astiav"

	"retime/frame"
)

// FrameMD5 returns the MD5 of a Reader's frame, and how many bytes it has: of the samples in the decoder's
// own format, without padding, as FFmpeg's framemd5 muxer has it.
func FrameMD5(f *frame.Frame) (sum [md5.Size]byte, size int, err error) {
	picture, ok := f.Native.(*astiav.Frame)
	if !ok {
		return sum, 0, errors.New("the frame comes from no reader")
	}
	if size, err = picture.ImageBufferSize(1); err != nil {
		return sum, 0, err
	}
	samples := make([]byte, size)
	if _, err = picture.ImageCopyToBuffer(samples, 1); err != nil {
		return sum, 0, err
	}
	return md5.Sum(samples), size, nil //nolint:gosec // see above
}
