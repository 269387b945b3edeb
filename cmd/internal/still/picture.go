// Package still reads and writes still pictures as planes of samples: PGM and
// PPM, PNG, TIFF, PFM and NumPy's .npy.
//
// Samples are what the file holds. Nothing is converted between colour spaces or
// linearised, and colour is not multiplied by alpha: an alpha channel is one
// more channel.
//
// Errors have the kinds of pipeline/fault.
package still

import (
	"fmt"
	"math"

	"retime/frame"
)

// MaxSamples is the largest number of samples, over all channels, of a picture
// that is read: 2 GiB in memory.
const MaxSamples = 1 << 28

// Picture is a still picture.
type Picture struct {
	// Channels are gray; or red, green and blue; and a last one for alpha if
	// there are four. All have one size.
	Channels []frame.Image[float64]
	// Max is the value of white if samples are whole numbers, 1 to 65535, and 0 if
	// they are floating-point numbers.
	Max int
	// FloatBits is the size of a stored floating-point sample, 32 or 64. It
	// counts only if Max is 0.
	FloatBits int
	// Text says that PGM and PPM are written as decimal numbers (P2 and P3).
	Text bool

	// chunks are those of a PNG file that say how to show it; see pngKept.
	chunks []pngChunk
	// scale is the magnitude of the scale in a PFM file, or 0.
	scale float64
}

// Size returns the size of the picture in samples.
func (p *Picture) Size() (width, height int) {
	return p.Channels[0].Width, p.Channels[0].Height
}

// String describes the picture: "640x480, RGB, 8 bit".
func (p *Picture) String() string {
	w, h := p.Size()
	kind := [...]string{1: "gray", 3: "RGB", 4: "RGB with alpha"}[len(p.Channels)]
	switch bits := math.Log2(float64(p.Max + 1)); {
	case p.Max == 0:
		return fmt.Sprintf("%dx%d, %s, float%d", w, h, kind, p.FloatBits)
	case bits == math.Trunc(bits):
		return fmt.Sprintf("%dx%d, %s, %v bit", w, h, kind, bits)
	}
	return fmt.Sprintf("%dx%d, %s, 0 to %d", w, h, kind, p.Max)
}

// newPicture returns a picture of zeros. The size must have passed checkSize.
func newPicture(width, height, channels int) *Picture {
	p := &Picture{Channels: make([]frame.Image[float64], channels)}
	for i := range p.Channels {
		p.Channels[i] = frame.NewImage[float64](width, height)
	}
	return p
}

// checkSize returns an error for a picture that is empty or too large.
func checkSize(width, height, channels int) error {
	if width < 1 || height < 1 {
		return fmt.Errorf("%dx%d is no size: want at least 1x1", width, height)
	}
	if samples := float64(width) * float64(height) * float64(channels); samples > MaxSamples {
		return fmt.Errorf("%dx%d makes %.0f samples, more than the limit of %d: cut the picture into parts",
			width, height, samples, MaxSamples)
	}
	return nil
}

// quantize returns a sample as a whole number from 0 to limit: scaled, rounded
// to the nearest with ties upwards, and clamped.
func quantize(v, scale float64, limit int) int {
	v = math.Floor(float64(v*scale) + 0.5)
	if !(v > 0) {
		return 0
	}
	return int(min(v, float64(limit)))
}

// checkFinite returns an error naming the first sample that cannot be stored in
// the given number of bits.
func (p *Picture) checkFinite(bits int) error {
	limit := math.MaxFloat64
	if bits == 32 {
		limit = math.MaxFloat32
	}
	for c, m := range p.Channels {
		for y := range m.Height {
			for x, v := range m.Row(y) {
				if !(math.Abs(v) <= limit) {
					return fmt.Errorf("sample (%d, %d) of channel %d is %v, which %d bits cannot hold", x, y, c, v, bits)
				}
			}
		}
	}
	return nil
}
