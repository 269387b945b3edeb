package cuda

import "retime/frame"

// Converter turns integer planes into floats and back.
type Converter struct {
	toFloat8, toFloat16, toSamples8, toSamples16 *Kernel
}

// A block of convertBlock threads covers 128 by 8 samples.
var convertBlock = Dim{32, 8, 1}

// NewConverter returns a converter, or an error if the kernels cannot be loaded.
func NewConverter(d *Device) (*Converter, error) {
	c := new(Converter)
	return c, d.Kernels("convert", map[string]**Kernel{
		"to_float_u8": &c.toFloat8, "to_float_u16": &c.toFloat16,
		"to_samples_u8": &c.toSamples8, "to_samples_u16": &c.toSamples16,
	})
}

// ToFloat queues dst = src, exactly. dst and src must have one size.
func ToFloat[T frame.Sample](s *Stream, c *Converter, dst Image[float32], src Image[T]) error {
	k := c.toFloat8
	if sizeOf[T]() == 2 {
		k = c.toFloat16
	}
	if src.Width*src.Height == 0 {
		return nil
	}
	return s.Launch(k, Cover(ceilDiv(src.Width, 4), src.Height, convertBlock), convertBlock, 0,
		src.Arg(), Int(src.Stride), dst.Arg(), Int(dst.Stride), Int(src.Width), Int(src.Height))
}

// ToSamples queues dst = src, rounded to the nearest sample from 0 to limit, ties up,
// with the bits of package warp. dst and src must have one size.
func ToSamples[T frame.Sample](s *Stream, c *Converter, dst Image[T], src Image[float32], limit int) error {
	k := c.toSamples8
	if sizeOf[T]() == 2 {
		k = c.toSamples16
	}
	if src.Width*src.Height == 0 {
		return nil
	}
	return s.Launch(k, Cover(ceilDiv(src.Width, 4), src.Height, convertBlock), convertBlock, 0,
		src.Arg(), Int(src.Stride), dst.Arg(), Int(dst.Stride), Int(src.Width), Int(src.Height), Float(float32(limit)))
}
