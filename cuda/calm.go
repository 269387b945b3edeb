package cuda

import (
	"errors"

	"retime/warp"
)

// calm blurs a made frame to the degree that its readings of the neighbours contradict each other.
type calm struct {
	expect, measure *Kernel
	soften          [2]*Kernel // by bytes of a sample

	made           planes // the frame before the blur
	columns, lines int    // of cells
	means, errors  Buffer[uint32]
	strengths      Buffer[uint16]
}

func (c *calm) open(s *Stream, _ *warp.Params) error {
	return s.device.Kernels("calm", map[string]**Kernel{
		"expect": &c.expect, "measure_strengths": &c.measure,
		"soften_u8": &c.soften[0], "soften_u16": &c.soften[1],
	})
}

func (c *calm) free() {
	c.made.free()
	c.means.Free()
	c.errors.Free()
	c.strengths.Free()
}

func (c *calm) resize(s *Stream, to *layout) error {
	size := 1 << (warp.Constants().CalmBits - to.level)
	c.columns, c.lines = ceilDiv(to.guideWidth, size), ceilDiv(to.guideHeight, size)
	cells, d := c.columns*c.lines, s.device
	return errors.Join(c.made.resize(d, to.format, to.width, to.height),
		c.means.Resize(d, cells), c.errors.Resize(d, cells), c.strengths.Resize(d, cells))
}

// find queues the kernels that set the strengths of the blur. bends may be 0.
func (c *calm) find(s *Stream, g *guides, guesses *guesses, bends Arg, phase warp.Phase) error {
	err := s.Launch(c.expect, Cover(c.columns*c.lines, 1, rowBlock), rowBlock, 0, append(guesses.args([]Arg{g.quads.Arg()}),
		bends, Int(g.width), Int(g.height), Int(int(phase)), Int(c.columns), Int(c.lines), Int(g.level), c.means.Arg(), c.errors.Arg())...)
	if err != nil {
		return err
	}
	return s.Launch(c.measure, Cover(c.columns, c.lines, wideBlock), wideBlock, 0,
		c.means.Arg(), c.errors.Arg(), Int(c.columns), Int(c.lines), c.strengths.Arg())
}

// softenTile is the size of the part of a plane that a wideBlock of threads makes.
var softenTile = Dim{128, 8, 1}

// blur queues the kernel that blurs made by the strengths into dst.
func (c *calm) blur(s *Stream, dst *planes, g *guides) error {
	var args []Arg
	for i := range dst.images {
		if i >= dst.format.Planes {
			args = append(args, make([]Arg, 7)...)
			continue
		}
		w, h := dst.format.PlaneSize(i, dst.width, dst.height)
		sx, sy := dst.format.Subsampling(i)
		args = append(args, c.made.images[i].Arg(), dst.images[i].Arg(), Int(dst.stride(i)), Int(w), Int(h), Int(sx), Int(sy))
	}
	args = append(args, c.strengths.Arg(), Int(c.columns), Int(c.lines), g.lying(), Int(g.width), Int(g.level))
	return s.Launch(c.soften[dst.format.Bytes()-1], over(dst.width, dst.height, dst.format.Planes, softenTile), wideBlock, 0, args...)
}
