package cuda

import (
	"errors"
	"fmt"
	"math/bits"

	"retime/flow"
	"retime/warp"
)

// The tiles of the kernels over the guides' grid.
var (
	wideBlock = Dim{32, 8, 1}
	wideTile  = Dim{32, 16, 1}
	wholeTile = Dim{32, 32, 1}
)

// over returns the grid of n layers of tiles that covers width by height.
func over(width, height, n int, tile Dim) Dim {
	g := Cover(width, height, tile)
	g.Z = n
	return g
}

// splatWindow is the number of bytes of shared memory that one quantity takes in the window of
// splat.cu.
const splatWindow = 40 * 24 * 8

// sums holds the accumulators of splatted pictures, which are zero between frames.
type sums struct {
	values  Buffer[uint64]
	carries Buffer[uint32]
}

// resize makes room for n pictures of the given number of pixels, each with a weight and values
// other quantities.
func (a *sums) resize(s *Stream, pixels, n, values int) error {
	if err := a.values.Resize(s.device, n*(values+1)*pixels); err != nil {
		return err
	}
	return a.carries.Resize(s.device, n*values*pixels)
}

func (a *sums) clear(s *Stream) error {
	if err := a.values.Clear(s); err != nil {
		return err
	}
	return a.carries.Clear(s)
}

func (a *sums) free() {
	a.values.Free()
	a.carries.Free()
}

// projection splats an interval's flows to the time of a made frame and fills the
// pixels that they do not reach.
type projection struct {
	splat, arrive, fill, median *Kernel

	sums  sums
	known Buffer[uint32]
	// Both hold the motions from A to B, one for each flow, then the mean of the inner ones. once
	// holds them after the first of two medians.
	once, motions Buffer[flow.Vec]
}

func (p *projection) open(s *Stream, _ *warp.Params) (err error) {
	if p.splat, err = s.device.Kernel("splat", "splat_flow"); err != nil {
		return err
	}
	if p.arrive, err = s.device.Kernel("arrive", "arrive_flow"); err != nil {
		return err
	}
	if p.fill, err = s.device.Kernel("fill", "fill_nearest"); err != nil {
		return err
	}
	p.median, err = s.device.Kernel("median", "median_motions")
	return err
}

func (p *projection) resize(s *Stream, to *layout) error {
	pixels, flows := to.guideWidth*to.guideHeight, to.flows+2
	return errors.Join(
		p.sums.resize(s, pixels, flows, 2), p.known.Resize(s.device, flows*ceilDiv(to.guideHeight, 32)*to.guideWidth),
		p.once.Resize(s.device, (flows+1)*pixels), p.motions.Resize(s.device, (flows+1)*pixels),
	)
}

// meanPlane returns the index of the mean motion for the given number of flows between the
// neighbours. It follows the two flows from beyond.
func meanPlane(flows int) int { return flows + 2 }

func (p *projection) free() {
	p.sums.free()
	p.known.Free()
	p.once.Free()
	p.motions.Free()
}

// make queues the kernels that set motions from the flows and their weights. For each flow, they
// add the number of pixels that it does not reach to an element of holes, which must start at 0.
func (p *projection) make(s *Stream, g *guides, phase warp.Phase, holes Arg) error {
	limit, flows := int(flow.Field{Image: g.shape()}.Limit()), g.projected()
	err := s.Launch(p.splat, over(g.width, g.height, flows, wideTile), wideBlock, 3*splatWindow,
		g.flows.Arg(), g.trust.Arg(), Int(g.inner), p.sums.values.Arg(), p.sums.carries.Arg(),
		Int(g.width), Int(g.height), Int(int(phase)), Int(limit))
	if err != nil {
		return err
	}
	err = s.Launch(p.arrive, over(g.width, g.height, flows, wholeTile), wideBlock, 0,
		p.sums.values.Arg(), p.sums.carries.Arg(), p.motions.Arg(), p.known.Arg(), holes,
		Int(g.width), Int(g.height), Long(int64(warp.Constants().LeastTrust)), Int(limit))
	if err != nil {
		return err
	}
	grid := over(g.width, g.height, flows, wideBlock)
	err = s.Launch(p.fill, grid, wideBlock, 0, p.motions.Arg(), p.known.Arg(), holes, Int(g.width), Int(g.height))
	if err != nil {
		return err
	}
	grid = Cover(ceilDiv(g.width, 2), ceilDiv(g.height, 2), wideBlock)
	grid.Z = 1 + flows - g.inner
	for _, way := range [2][2]Arg{{p.once.Arg(), p.motions.Arg()}, {p.motions.Arg(), p.once.Arg()}} {
		err = s.Launch(p.median, grid, wideBlock, 0, way[0], way[1],
			Int(bits.Len(uint(g.inner))-1), Int(meanPlane(g.inner)), Int(g.width), Int(g.height)) // inner is a power of two
		if err != nil {
			return err
		}
	}
	return nil
}

// colours splats the planes of both neighbours forward.
type colours struct {
	splat [2][4]*Kernel // by bytes of a sample, then number of planes
	meet  [2]*Kernel

	sums [maxGroups]sums
}

func (c *colours) open(s *Stream, _ *warp.Params) (err error) {
	for i, suffix := range []string{"u8", "u16"} {
		for n := range c.splat[i] {
			if c.splat[i][n], err = s.device.Kernel("splat", fmt.Sprintf("splat_%d_%s", n+1, suffix)); err != nil {
				return err
			}
		}
		if c.meet[i], err = s.device.Kernel("blend", "meet_"+suffix); err != nil {
			return err
		}
	}
	return nil
}

func (c *colours) resize(s *Stream, to *layout) error {
	for i, g := range to.groups[:to.count] {
		if err := c.sums[i].resize(s, g.width*g.height, 2, g.end-g.first); err != nil {
			return err
		}
	}
	return nil
}

func (c *colours) free() {
	for i := range c.sums {
		c.sums[i].free()
	}
}

// make queues the kernels that set the planes of group i from the planes of a and b: they move both
// forward, blend them at pixels that both reach, and list in h the pixels that neither reaches.
func (c *colours) make(s *Stream, i int, gr group, dst, a, b *planes, g *guides, phase warp.Phase, h *holes) error {
	n, stride := gr.end-gr.first, dst.stride(gr.first)
	bytes := dst.format.Bytes() - 1
	args := a.args(nil, gr.first, gr.end)
	args = b.args(args, gr.first, gr.end)
	args = append(args, Int(stride), Int(gr.width), Int(gr.height), g.flows.Arg(), g.trust.Arg(), Int(g.width), Int(g.height),
		Int(gr.sx-g.level), Int(gr.sy-g.level), c.sums[i].values.Arg(), c.sums[i].carries.Arg(), Int(int(phase)))
	if err := s.Launch(c.splat[bytes][n-1], over(gr.width, gr.height, 2, wideTile), wideBlock, (n+1)*splatWindow, args...); err != nil {
		return err
	}
	args = dst.args(nil, gr.first, gr.end)
	args = append(args, Int(n), Int(stride), Int(gr.width), Int(gr.height), c.sums[i].values.Arg(), c.sums[i].carries.Arg(),
		Int(int(phase)), h.mask.Arg(), h.list.Arg(), h.count)
	return s.Launch(c.meet[bytes], Cover(gr.width, gr.height, wideBlock), wideBlock, 0, args...)
}

// fader blends the planes of both neighbours.
type fader struct {
	unsized
	kernels [2]*Kernel // by bytes of a sample
}

func (f *fader) open(s *Stream, _ *warp.Params) error {
	return s.device.Kernels("blend", map[string]**Kernel{"fade_u8": &f.kernels[0], "fade_u16": &f.kernels[1]})
}

func (f *fader) free() {}

// make queues the kernel that sets the planes of a group to the blend of a and b.
// If count is not 0, the kernel does so only if the number at that address equals the
// number of samples of a plane.
func (f *fader) make(s *Stream, gr group, dst, a, b *planes, phase warp.Phase, count Arg) error {
	grid := Cover(gr.width, gr.height, wideBlock)
	if count != (Arg{}) {
		// The condition hardly ever holds, and a small grid checks it quickly.
		grid.Y = min(grid.Y, 8)
	}
	for i := gr.first; i < gr.end; i++ {
		err := s.Launch(f.kernels[dst.format.Bytes()-1], grid, wideBlock, 0,
			dst.images[i].Arg(), a.images[i].Arg(), b.images[i].Arg(), Int(dst.stride(i)), Int(gr.width), Int(gr.height),
			Int(int(phase)), count)
		if err != nil {
			return err
		}
	}
	return nil
}
