package flow

import (
	"fmt"

	"retime/frame"
)

// CheckPictures returns an error unless a and b are complete pictures of one size, with no side
// longer than longest pixels.
func CheckPictures(a, b frame.Image[uint8], longest int) error {
	switch {
	case a.Width != b.Width || a.Height != b.Height:
		return fmt.Errorf("pictures of %dx%d and %dx%d differ in size", a.Width, a.Height, b.Width, b.Height)
	case a.Width < 1 || a.Height < 1:
		return fmt.Errorf("picture of %dx%d is empty", a.Width, a.Height)
	case max(a.Width, a.Height) > longest:
		return fmt.Errorf("picture of %dx%d is larger than %d in a side", a.Width, a.Height, longest)
	}
	for _, m := range []frame.Image[uint8]{a, b} {
		if m.Stride < m.Width || (len(m.Pix)-m.Width)/m.Stride < m.Height-1 {
			return fmt.Errorf("picture of %dx%d with stride %d has only %d samples", m.Width, m.Height, m.Stride, len(m.Pix))
		}
	}
	return nil
}

// Estimator estimates the optical flow from a to b, two pictures of one size, into dst.
// P is the type of a picture and F the type of a field to fill, such as
// frame.Image[uint8] and *Field. The vectors are canonical; see Quantize. Only one
// goroutine at a time may use an estimator.
type Estimator[P, F any] interface {
	Estimate(a, b P, dst F) error
	Close() error
}
