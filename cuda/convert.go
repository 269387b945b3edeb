package cuda

import "retime/frame"

// converter turns integer planes into floats.
type converter struct{ of8, of16 *Kernel }

// A block of convertBlock threads covers 128 by 8 samples.
var convertBlock = Dim{32, 8, 1}

// newConverter returns a converter, or an error if the kernels cannot be loaded.
func newConverter(d *Device) (*converter, error) {
	c := new(converter)
	return c, d.Kernels("convert", map[string]**Kernel{"to_float_u8": &c.of8, "to_float_u16": &c.of16})
}

// toFloat queues dst = src, exactly. dst and src must have the same size.
func toFloat[T frame.Sample](s *Stream, c *converter, dst Image[float32], src Image[T]) error {
	k := c.of8
	if sizeOf[T]() == 2 {
		k = c.of16
	}
	if src.Width*src.Height == 0 {
		return nil
	}
	return s.Launch(k, Cover(ceilDiv(src.Width, 4), src.Height, convertBlock), convertBlock, 0,
		src.Arg(), Int(src.Stride), dst.Arg(), Int(dst.Stride), Int(src.Width), Int(src.Height))
}
