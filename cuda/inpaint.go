package cuda

import (
	"retime/inpaint"
)

// holes are the pixels of a group of planes that no neighbour shows: a mask and a list
// in any order.
type holes struct {
	mask    Image[byte]
	list    Buffer[uint32]
	blurred Buffer[byte]
	// count and rest are the halves of counter: the addresses of the length of the list
	// and of a flag for the inpainting.
	count, rest Arg
	counter     Buffer[uint64]
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
	propagate, blur, store [2]*Kernel // by bytes of a sample

	directions Buffer[[4]int32]
	blocks     int
}

func newInpainter(s *Stream, directions int) (p inpainter, err error) {
	for i, suffix := range []string{"u8", "u16"} {
		err := s.device.Kernels("inpaint", map[string]**Kernel{
			"propagate_" + suffix: &p.propagate[i], "blur_" + suffix: &p.blur[i], "store_" + suffix: &p.store[i],
		})
		if err != nil {
			return p, err
		}
	}
	list, err := inpaint.Directions(directions)
	if err != nil {
		return p, err
	}
	lines := make([][4]int32, len(list))
	for i, d := range list {
		lines[i] = [4]int32{0, int32(d.Sign), int32(d.Slope), int32(d.Step)}
		if d.Vertical {
			lines[i][0] = 1
		}
	}
	p.blocks = 8 * max(1, s.device.Info().Multiprocessors)
	return p, upload(s, &p.directions, lines)
}

func (p *inpainter) free() { p.directions.Free() }

// inpaintBlock is the number of threads in a block, and lineBlock that in blocks whose
// rows of threads share the directions.
var (
	inpaintBlock = Dim{128, 1, 1}
	lineBlock    = Dim{32, 16, 1}
)

// fill queues the kernels that fill the holes of a group's planes. They change nothing
// if all pixels are holes.
func (p *inpainter) fill(s *Stream, dst *planes, g group, h *holes) error {
	bytes, n := dst.format.Bytes()-1, g.end-g.first
	args := dst.args(nil, g.first, g.end)
	args = append(args, Int(n), Int(dst.stride(g.first)), h.list.Arg(), h.count)
	region := append(args[:len(args):len(args)], h.mask.Arg(), Int(h.mask.Stride), Int(g.width), Int(g.height))
	grid := Dim{min(p.blocks, ceilDiv(g.width*g.height, lineBlock.X)), 1, 1}
	for second := range 2 {
		a := append(region[:len(region):len(region)], p.directions.Arg(), Int(p.directions.N), Int(second), h.rest)
		if err := s.Launch(p.propagate[bytes], grid, lineBlock, (n+1)*lineBlock.X*lineBlock.Y*8, a...); err != nil {
			return err
		}
	}
	grid = Dim{min(p.blocks, ceilDiv(n*g.width*g.height, inpaintBlock.X)), 1, 1}
	blurred := []Arg{h.blurred.Arg(), Int(g.width * g.height)}
	if err := s.Launch(p.blur[bytes], grid, inpaintBlock, 0, append(region[:len(region):len(region)], blurred...)...); err != nil {
		return err
	}
	args = append(args, Int(g.width), Int(g.height))
	return s.Launch(p.store[bytes], grid, inpaintBlock, 0, append(args, blurred...)...)
}
