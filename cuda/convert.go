package cuda

import (
	"retime/frame"
	"retime/warp"
)

// converter turns integer planes into floats.
type converter struct{ of8, of16, light *Kernel }

// A block of convertBlock threads covers 128 by 8 samples.
var convertBlock = Dim{32, 8, 1}

// newConverter returns a converter, or an error if the kernels cannot be loaded.
func newConverter(d *Device) (*converter, error) {
	c := new(converter)
	return c, d.Kernels("convert", map[string]**Kernel{"to_float_u8": &c.of8, "to_float_u16": &c.of16, "to_light": &c.light})
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

// toLight queues dst = the light of src, by the table of light. dst and src must have the same size.
func toLight(s *Stream, c *converter, dst Image[float32], src Image[uint16], light *lightTable) error {
	if src.Width*src.Height == 0 {
		return nil
	}
	return s.Launch(c.light, Cover(src.Width, src.Height, convertBlock), convertBlock, 0,
		src.Arg(), Int(src.Stride), dst.Arg(), Int(dst.Stride), Int(src.Width), Int(src.Height), light.of.Arg())
}

// lightTable is the table of warp.Light in device memory; the zero value is empty.
type lightTable struct {
	of    Buffer[float32]
	below Buffer[uint16]
	first int
}

// load queues the upload of the table, unless it is there.
func (t *lightTable) load(s *Stream) error {
	if t.of.N > 0 {
		return nil
	}
	table := warp.Light()
	if err := upload(s, &t.below, table.Below); err != nil {
		return err
	}
	t.first = table.First
	return upload(s, &t.of, table.Of)
}

func (t *lightTable) free() {
	t.of.Free()
	t.below.Free()
}

// args appends the table as the kernels that render take it.
func (t *lightTable) args(to []Arg) []Arg { return append(to, t.of.Arg(), t.below.Arg(), Int(t.first)) }
