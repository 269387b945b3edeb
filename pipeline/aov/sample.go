package aov

import (
	"image"

	"retime/flow"
	"retime/pipeline/media/exr"
	"retime/warp"
)

// sampler makes the samples of a channel of a made frame.
type sampler struct {
	motion *motion
	at     image.Point // where the motion's first pixel is
	blends bool
	a, b   *view
}

// row makes the samples from (x, y) on, in the pixels of the file.
func (s *sampler) row(to []uint32, x, y int) {
	phase, blends := s.motion.phase, s.blends
	out := exr.Plane{Type: s.a.plane.Type, Bits: to}
	for i := range to {
		v, seen := s.motion.at(x+i-s.at.X, y-s.at.Y)
		ax, ay := place(x+i, v.X, -phase), place(y, v.Y, -phase)
		bx, by := place(x+i, v.X, warp.PhaseOne-phase), place(y, v.Y, warp.PhaseOne-phase)
		switch {
		case !blends && (seen == first || seen == both && phase < warp.PhaseOne/2):
			to[i] = s.a.nearest(ax, ay)
		case !blends:
			to[i] = s.b.nearest(bx, by)
		case seen == first:
			out.Set(i, s.a.smooth(ax, ay))
		case seen == second:
			out.Set(i, s.b.smooth(bx, by))
		default:
			w := float32(phase) / warp.PhaseOne
			out.Set(i, float32(s.a.smooth(ax, ay)*(1-w))+float32(s.b.smooth(bx, by)*w))
		}
	}
}

// place returns where part of a motion leads from p, in 1/256 pixel.
func place(p int, v int32, part int64) int { return p*flow.One + int(int64(v)*part/warp.PhaseOne) }

// view is a channel of a source picture. Beyond what is stored and what is shown, it goes on as at the edge;
// what is shown and not stored is 0.
type view struct {
	window, all image.Rectangle // what is stored, and with it what is shown
	plane       *exr.Plane
	values      []float32 // of the samples; empty for a channel that is not mixed
	least, most float32   // of the values; NaN if one is
}

func newView(part *exr.Part, plane *exr.Plane, blends bool) *view {
	v := &view{window: part.Window, all: part.Window.Union(part.Display), plane: plane}
	if !blends {
		return v
	}
	v.values = make([]float32, len(plane.Bits))
	for i := range v.values {
		f := plane.Value(i)
		v.values[i] = f
		v.least, v.most = min(v.least, f), max(v.most, f)
	}
	return v
}

// within reports whether all values are from 0 to peak.
func (v *view) within(peak float32) bool { return v.least >= 0 && v.most <= peak }

// index returns where the sample of a pixel is, -1 for a 0.
func (v *view) index(x, y int) int {
	w, all := &v.window, &v.all
	x, y = min(max(x, all.Min.X), all.Max.X-1), min(max(y, all.Min.Y), all.Max.Y-1)
	if x < w.Min.X || y < w.Min.Y || x >= w.Max.X || y >= w.Max.Y {
		return -1
	}
	return (y-w.Min.Y)*w.Dx() + x - w.Min.X
}

// nearest returns the bits of the sample nearest to a place, in 1/256 pixel.
func (v *view) nearest(x, y int) uint32 {
	if i := v.index((x+flow.One/2)>>8, (y+flow.One/2)>>8); i >= 0 {
		return v.plane.Bits[i]
	}
	return 0
}

func (v *view) value(x, y int) float32 {
	if i := v.index(x, y); i >= 0 {
		return v.values[i]
	}
	return 0
}

// block returns the samples around a place between four pixels: lines of four, the first from (x-1, y-1).
func (v *view) block(x, y int) (b [4][4]float32) {
	w := &v.window
	if x <= w.Min.X || y <= w.Min.Y || x+2 >= w.Max.X || y+2 >= w.Max.Y {
		for j := range b {
			for i := range b[j] {
				b[j][i] = v.value(x+i-1, y+j-1)
			}
		}
		return b
	}
	stride := w.Dx()
	at := (y-1-w.Min.Y)*stride + x - 1 - w.Min.X
	for j := range b {
		b[j] = [4]float32(v.values[at+j*stride:])
	}
	return b
}

// smooth returns the value at a place, in 1/256 pixel: that of the cubic through the samples (R. Keys, "Cubic
// convolution interpolation for digital image processing", IEEE TASSP 29(6), 1981), but between the least
// and the largest of the four around it. Where a sample is infinite or no number, it is the nearest.
func (v *view) smooth(x, y int) float32 {
	ix, iy := x>>8, y>>8
	if (x|y)&(flow.One-1) == 0 {
		return v.value(ix, iy)
	}
	wx, wy := &cubic[x&(flow.One-1)], &cubic[y&(flow.One-1)]
	b := v.block(ix, iy)
	var sum float32
	for j := range b {
		l := &b[j]
		sum += float32(wy[j] * (float32(wx[0]*l[0]) + float32(wx[1]*l[1]) + float32(wx[2]*l[2]) + float32(wx[3]*l[3])))
	}
	p, q, r, s := b[1][1], b[1][2], b[2][1], b[2][2]
	if d := sum - sum; d != 0 { // infinite or NaN
		return v.value((x+flow.One/2)>>8, (y+flow.One/2)>>8)
	}
	return min(max(sum, min(p, q, r, s)), max(p, q, r, s))
}

// cubic has the weights of four samples for each 1/256 between the second and the third.
var cubic = func() (w [flow.One][4]float32) {
	for i := range w {
		t := float64(i) / flow.One
		w[i] = [4]float32{
			float32(-t * (1 - t) * (1 - t) / 2), float32(1 - t*t*(5-3*t)/2),
			float32(t * (1 + t*(4-3*t)) / 2), float32(-t * t * (1 - t) / 2),
		}
	}
	return w
}()
