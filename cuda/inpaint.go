package cuda

import (
	"retime/inpaint"
	"retime/warp"
)

// holes are the pixels of a group of planes that no neighbour shows: a mask, and a list in any
// order.
type holes struct {
	mask    Image[byte]
	list    Buffer[uint32]
	blurred Buffer[byte]
	// count and rest are the halves of counter: the addresses of the length of the list and of a
	// flag for the inpainting.
	count, rest Arg
	counter     Buffer[uint64]
}

// gaps are the holes of all groups.
type gaps struct {
	counters *Buffer[uint64] // of the frame
	holes    [maxGroups]holes
}

func (a *gaps) open(*Stream, *warp.Params) error { return nil }

func (a *gaps) resize(s *Stream, to *layout) error {
	for i, g := range to.groups[:to.count] {
		h := &a.holes[i]
		if err := h.resize(s.device, g, to.format.Bytes()); err != nil {
			return err
		}
		h.counter = a.counters.part(groupCounter+i, 1)
		at := h.counter.Arg().bits
		h.count, h.rest = Arg{at}, Arg{at + 4}
	}
	return nil
}

func (a *gaps) free() {
	for i := range a.holes {
		a.holes[i].free()
	}
}

// clear queues a fill that empties the list. The kernels that list pixels also set the
// mask.
func (h *holes) clear(s *Stream) error { return h.counter.Clear(s) }

func (h *holes) resize(d *Device, g group, bytes int) error {
	pixels := g.width * g.height
	// The mask has no gaps between its rows.
	if err := h.mask.buffer.Resize(d, pixels); err != nil {
		return err
	}
	h.mask.Width, h.mask.Height, h.mask.Stride = g.width, g.height, g.width
	if err := h.list.Resize(d, pixels); err != nil {
		return err
	}
	return h.blurred.Resize(d, (g.end-g.first)*pixels*bytes)
}

func (h *holes) free() {
	h.mask.Free()
	h.list.Free()
	h.blurred.Free()
}

// inpainter fills holes as package inpaint does.
type inpainter struct {
	unsized
	propagate, blur, store [2]*Kernel // by bytes of a sample

	directions Buffer[[4]int32]
	blocks     int
}

func (p *inpainter) open(s *Stream, params *warp.Params) error {
	for i, suffix := range []string{"u8", "u16"} {
		err := s.device.Kernels("inpaint", map[string]**Kernel{
			"propagate_" + suffix: &p.propagate[i], "blur_" + suffix: &p.blur[i], "store_" + suffix: &p.store[i],
		})
		if err != nil {
			return err
		}
	}
	list, err := inpaint.Directions(params.Directions)
	if err != nil {
		return err
	}
	lines := make([][4]int32, len(list))
	for i, d := range list {
		lines[i] = [4]int32{0, int32(d.Sign), int32(d.Slope), int32(d.Step)}
		if d.Vertical {
			lines[i][0] = 1
		}
	}
	p.blocks = 4 * max(1, s.device.Info().Multiprocessors)
	return upload(s, &p.directions, lines)
}

func (p *inpainter) free() { p.directions.Free() }

// inpaintBlock is the number of threads in a block, and lineBlock the number in blocks whose rows
// of threads share the directions.
var (
	inpaintBlock = Dim{128, 1, 1}
	lineBlock    = Dim{32, 16, 1}
)

// together is the number of groups whose samples, or whose holes, one launch makes.
const together = 2

// args appends the arguments that describe the holes of a group's planes. The group may be
// empty.
func (h *holes) args(to []Arg, dst *planes, g group) []Arg {
	to = dst.args(to, g.first, g.end)
	return append(to, Int(g.end-g.first), Int(dst.stride(g.first)), h.list.Arg(), h.count, h.mask.Arg(), Int(g.width), Int(g.height),
		h.blurred.Arg(), h.rest)
}

// fill queues the kernels that fill the holes of the planes of one or two groups. They
// change nothing in a group if all of its pixels are holes.
func (p *inpainter) fill(s *Stream, dst *planes, groups []group, h []holes) error {
	bytes, n, samples := dst.format.Bytes()-1, 0, 0
	var args []Arg
	for i := range together {
		g, its := group{}, &holes{}
		if i < len(groups) {
			g, its = groups[i], &h[i]
		}
		args = its.args(args, dst, g)
		n, samples = max(n, g.end-g.first), max(samples, g.samples())
	}
	cover := func(samples, width int) Dim { return Dim{min(p.blocks, ceilDiv(samples, width)), len(groups), 1} }
	for second := range 2 {
		a := append(args[:len(args):len(args)], p.directions.Arg(), Int(p.directions.N), Int(second))
		if err := s.Launch(p.propagate[bytes], cover(samples/n, lineBlock.X), lineBlock, (n+1)*lineBlock.X*lineBlock.Y*8, a...); err != nil {
			return err
		}
	}
	if err := s.Launch(p.blur[bytes], cover(samples, inpaintBlock.X), inpaintBlock, 0, args...); err != nil {
		return err
	}
	return s.Launch(p.store[bytes], cover(samples, inpaintBlock.X), inpaintBlock, 0, args...)
}
