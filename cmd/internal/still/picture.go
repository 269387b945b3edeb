// Package still reads and writes still pictures as planes of samples: PGM and PPM, PNG,
// TIFF, PFM and NumPy's .npy.
//
// Samples have the values in the file. The package neither converts colour spaces nor
// linearises, and it does not multiply colour by alpha: an alpha channel is one more
// channel.
//
// Errors have the kinds of pipeline/fault.
package still

import (
	"fmt"
	"math"

	"retime/frame"
)

// MaxSamples is the largest number of samples, over all channels, in a picture to read:
// 2 GiB in memory.
const MaxSamples = 1 << 28

// Picture is a still picture.
type Picture struct {
	// Channels holds gray; or red, green and blue; or these and alpha. All have the
	// same size.
	Channels []frame.Image[float64]
	// Max is the value of white, 1 to 65535, if samples are whole numbers, and 0 if
	// they are floating-point numbers.
	Max int
	// FloatBits is the size of a stored floating-point sample, 32 or 64. It matters
	// only if Max is 0.
	FloatBits int
	// Text makes Write use decimal numbers in PGM and PPM (P2 and P3).
	Text bool

	// chunks holds the chunks of pngKept in a PNG file.
	chunks []pngChunk
	// scale is the magnitude of the scale in a PFM file, or 0.
	scale float64
}

// Size returns the size of the picture in samples.
func (p *Picture) Size() (width, height int) {
	return p.Channels[0].Width, p.Channels[0].Height
}

// String describes the picture, such as "640x480, RGB, 8 bit".
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

// checkSize returns an error if a picture is empty or too large.
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

// quantize scales a sample, rounds it to the nearest whole number, ties upwards, and
// clamps that to 0 to limit.
func quantize(v, scale float64, limit int) int {
	v = math.Floor(float64(v*scale) + 0.5)
	if !(v > 0) {
		return 0
	}
	return int(min(v, float64(limit)))
}

// checkFinite returns an error that names the first sample that is not finite in the
// given number of bits.
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
