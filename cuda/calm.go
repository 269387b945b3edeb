package cuda

import (
	"errors"

	"retime/warp"
)

// calm blurs a made frame as far as its readings of the neighbours contradict each other.
type calm struct {
	expect, measure *Kernel
	soften, replace [2]*Kernel // by bytes of a sample

	columns, lines, size int // of cells, and a cell's side in pixels of the guides
	means, errors        Buffer[uint32]
	strengths            Buffer[uint16]
}

func newCalm(d *Device) (c calm, err error) {
	return c, d.Kernels("calm", map[string]**Kernel{
		"expect": &c.expect, "measure_strengths": &c.measure,
		"soften_u8": &c.soften[0], "soften_u16": &c.soften[1], "replace_u8": &c.replace[0], "replace_u16": &c.replace[1],
	})
}

func (c *calm) free() {
	c.means.Free()
	c.errors.Free()
	c.strengths.Free()
}

func (c *calm) resize(d *Device, width, height, level int) error {
	c.size = 1 << (warp.Constants().CalmBits - level)
	c.columns, c.lines = ceilDiv(width, c.size), ceilDiv(height, c.size)
	cells := c.columns * c.lines
	return errors.Join(c.means.Resize(d, cells), c.errors.Resize(d, cells), c.strengths.Resize(d, cells))
}

// find queues the kernels that set the strengths of the blur. bends may be 0.
func (c *calm) find(s *Stream, g *guides, p *projection, shares *shares, bends Arg, phase warp.Phase) error {
	grid := Cover(c.columns, c.lines, wideBlock)
	err := s.Launch(c.expect, grid, wideBlock, 0,
		g.quads.Arg(), p.motions.Arg(), bends, shares.list.Arg(), Int(shares.n), Int(g.inner), shares.weights.Arg(), g.lying(),
		Int(g.width), Int(g.height), Int(int(phase)), Int(c.columns), Int(c.lines), Int(c.size), c.means.Arg(), c.errors.Arg())
	if err != nil {
		return err
	}
	return s.Launch(c.measure, grid, wideBlock, 0, c.means.Arg(), c.errors.Arg(), Int(c.columns), Int(c.lines), c.strengths.Arg())
}

// blur queues the kernels that blur a group's planes by the strengths. blurred is memory for
// their samples.
func (c *calm) blur(s *Stream, gr group, dst *planes, g *guides, blurred Arg) error {
	args := dst.args(nil, gr.first, gr.end)
	args = append(args, Int(gr.end-gr.first), Int(dst.stride(gr.first)), Int(gr.width), Int(gr.height), blurred,
		c.strengths.Arg(), Int(c.columns), Int(c.lines), Int(gr.sx), Int(gr.sy), g.lying(), Int(g.width), Int(g.level))
	grid, bytes := Cover(gr.width, gr.height, wideBlock), dst.format.Bytes()-1
	if err := s.Launch(c.soften[bytes], grid, wideBlock, 0, args...); err != nil {
		return err
	}
	return s.Launch(c.replace[bytes], grid, wideBlock, 0, args...)
}
