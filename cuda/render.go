package cuda

import (
	"fmt"

	"retime/warp"
	"retime/warp/bspline"
)

// renderer samples both neighbours along the motions that count at each pixel.
type renderer struct {
	kernels [2][3][3]*Kernel // by bytes of a sample, then log2 of a block's sides
	taps    Buffer[[4]float32]
}

// renderBlock is the number of threads in a block.
var renderBlock = Dim{128, 1, 1}

// newRenderer returns a renderer. A ZwartPowell kernel has no taps.
func newRenderer(s *Stream, order bspline.Order, kernel warp.Kernel) (r renderer, err error) {
	for i, suffix := range []string{"u8", "u16"} {
		for w := range 3 {
			for h := range 3 {
				name := fmt.Sprintf("render_%dx%d_%s", 1<<w, 1<<h, suffix)
				if r.kernels[i][w][h], err = s.device.Kernel("render", name); err != nil {
					return r, err
				}
			}
		}
	}
	if kernel == warp.ZwartPowell {
		return r, nil
	}
	taps := warp.Taps(order)
	return r, upload(s, &r.taps, taps[:])
}

func (r *renderer) free() { r.taps.Free() }

// make queues the kernels that render the planes of a group.
func (r *renderer) make(s *Stream, gr group, dst *planes, a, b *source, g *guides, p *projection, shares *shares, bends Arg, phase warp.Phase, holes *holes) error {
	w, h := max(0, g.level-gr.sx), max(0, g.level-gr.sy)
	args := dst.args(nil, gr.first, gr.end)
	args = a.planes.args(args, gr.first, gr.end)
	args = b.planes.args(args, gr.first, gr.end)
	args = a.args(args, gr.first, gr.end)
	args = b.args(args, gr.first, gr.end)
	args = append(args, Int(gr.end-gr.first), Int(gr.width), Int(gr.height), Int(dst.stride(gr.first)),
		Int(a.coefficients[gr.first].Stride), Int(gr.sx), Int(gr.sy), p.motions.Arg(), bends, shares.list.Arg(), Int(shares.n), Int(g.inner),
		shares.weights.Arg(), g.lying(), Int(g.width), Int(g.height), Int(g.level), r.taps.Arg(), Int(int(phase)),
		Float(float32(dst.format.Max())), holes.mask.Arg(), holes.list.Arg(), holes.count)
	grid := Cover(ceilDiv(gr.width, 1<<w), ceilDiv(gr.height, 1<<h), renderBlock)
	return s.Launch(r.kernels[dst.format.Bytes()-1][w][h], grid, renderBlock, (shares.n+1)*renderBlock.X*12, args...)
}
