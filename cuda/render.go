package cuda

import (
	"errors"
	"fmt"

	"retime/flow"
	"retime/warp"
)

// renderer samples both neighbours along the motions that count at each pixel.
type renderer struct {
	unsized
	kernels map[tiling][2]*Kernel // by bytes of a sample
	light   map[tiling]*Kernel    // that sample in light
	taps    Buffer[[4]float32]
}

// tiling is the size, in log2, of the blocks of samples that a pixel of the guides makes: a square
// of one group of planes, and width by height of another.
type tiling struct{ side, width, height int }

// tilings lists the tilings for levels 0, 1 and 2 with the subsamplings that formats have.
var tilings = []tiling{
	{0, 0, 0},
	{1, 0, 0}, {1, 0, 1}, {1, 1, 0},
	{2, 0, 0}, {2, 0, 2}, {2, 1, 1}, {2, 1, 2}, {2, 2, 1},
}

// open loads the kernels and, unless they sample by ZwartPowell, the taps.
func (r *renderer) open(s *Stream, p *warp.Params) (err error) {
	r.kernels = map[tiling][2]*Kernel{}
	for _, t := range tilings {
		var kernels [2]*Kernel
		for i, suffix := range []string{"u8", "u16"} {
			name := fmt.Sprintf("render_%d_%dx%d_%s", 1<<t.side, 1<<t.width, 1<<t.height, suffix)
			if kernels[i], err = s.device.Kernel("render", name); err != nil {
				return err
			}
		}
		r.kernels[t] = kernels
	}
	if p.Kernel == warp.ZwartPowell {
		return nil
	}
	r.light = map[tiling]*Kernel{}
	for level := range warp.MaxLevel + 1 {
		if r.light[tiling{side: level}], err = s.device.Kernel("render", fmt.Sprintf("render_%d_1x1_light", 1<<level)); err != nil {
			return err
		}
	}
	taps := warp.Taps(p.Order)
	return upload(s, &r.taps, taps[:])
}

func (r *renderer) free() { r.taps.Free() }

// rendered is what a frame's planes are made from, and where.
type rendered struct {
	dst     *planes
	a, b    *source
	guides  *guides
	guesses *guesses
	bends   Arg // may be 0
	phase   warp.Phase
	light   *lightTable
}

// args appends the arguments that describe a group of planes, which may be empty.
func (f *rendered) args(to []Arg, gr group, h *holes) []Arg {
	to = f.dst.args(to, gr.first, gr.end)
	to = f.a.planes.args(to, gr.first, gr.end)
	to = f.b.planes.args(to, gr.first, gr.end)
	to = f.a.args(to, gr.first, gr.end)
	to = f.b.args(to, gr.first, gr.end)
	return append(to, Int(gr.end-gr.first), Int(gr.width), Int(gr.height), Int(f.dst.stride(gr.first)),
		Int(f.a.coefficients[gr.first].Stride), Int(gr.sx), Int(gr.sy), h.mask.Arg(), h.list.Arg(), h.count)
}

// make queues the kernel that renders the planes of one or two groups. The first group is not
// subsampled.
func (r *renderer) make(s *Stream, f *rendered, groups []group, h []holes) error {
	first, other, otherHoles := groups[0], group{}, &holes{}
	if len(groups) > 1 {
		other, otherHoles = groups[1], &h[1]
	}
	g := f.guides
	t := tiling{side: g.level}
	if other.end > 0 {
		t.width, t.height = max(0, g.level-other.sx), max(0, g.level-other.sy)
	}
	kernels, ok := r.kernels[t]
	kernel := kernels[f.dst.format.Bytes()-1]
	if r.light != nil && f.a.owner.Floats {
		kernel, ok = r.light[t]
	}
	if !ok {
		return fmt.Errorf("planes subsampled by %d and %d bits, with guides of level %d: %w", other.sx, other.sy, g.level, errors.ErrUnsupported)
	}
	args := f.args(nil, first, &h[0])
	args = f.args(args, other, otherHoles)
	args = append(f.guesses.args(args), f.bends, Int(g.width), Int(g.height), Int(g.level), r.taps.Arg(), Int(int(f.phase)),
		Float(float32(f.dst.format.Max())))
	args = f.light.args(args)
	grid := Cover(ceilDiv(first.width, 1<<g.level), ceilDiv(first.height, 1<<g.level), rowBlock)
	const taps = 4 * 4 * flow.One
	return s.Launch(kernel, grid, rowBlock, taps, args...)
}
