package aov

import (
	"image"
	"math"

	"retime/flow"
	"retime/pipeline/media/exr"
	"retime/warp"
)

// sampler makes the samples of a channel of a made frame.
type sampler struct {
	motion *motion
	at     image.Point // where the motion's first pixel is
	a, b   view
}

// row makes the samples from (x, y) on, in the pixels of the file.
func (s *sampler) row(to []uint32, x, y int) {
	phase := s.motion.phase
	blends := Blends(s.a.plane.Name, s.a.plane.Type)
	out := exr.Plane{Type: s.a.plane.Type, Bits: to}
	for i := range to {
		v, seen := s.motion.at(x+i-s.at.X, y-s.at.Y)
		ax, ay := place(x+i, v.X, -int64(phase)), place(y, v.Y, -int64(phase))
		bx, by := place(x+i, v.X, warp.PhaseOne-int64(phase)), place(y, v.Y, warp.PhaseOne-int64(phase))
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
			out.Set(i, s.a.smooth(ax, ay)*(1-w)+s.b.smooth(bx, by)*w)
		}
	}
}

// place returns where part of a motion leads from p, in 1/256 pixel.
func place(p int, v int32, part int64) int { return p*flow.One + int(int64(v)*part/warp.PhaseOne) }

// view is a channel of a source picture. Beyond what is stored and what is shown, it goes on as at the edge;
// what is shown and not stored is 0.
type view struct {
	part  *exr.Part
	plane *exr.Plane
}

// index returns where the sample of a pixel is, -1 for a 0.
func (v view) index(x, y int) int {
	w := v.part.Window
	all := w.Union(v.part.Display)
	p := image.Pt(min(max(x, all.Min.X), all.Max.X-1), min(max(y, all.Min.Y), all.Max.Y-1))
	if !p.In(w) {
		return -1
	}
	return (p.Y-w.Min.Y)*w.Dx() + p.X - w.Min.X
}

// nearest returns the bits of the sample nearest to a place, in 1/256 pixel.
func (v view) nearest(x, y int) uint32 {
	if i := v.index((x+flow.One/2)>>8, (y+flow.One/2)>>8); i >= 0 {
		return v.plane.Bits[i]
	}
	return 0
}

func (v view) value(x, y int) float32 {
	if i := v.index(x, y); i >= 0 {
		return v.plane.Value(i)
	}
	return 0
}

// smooth returns the value at a place, in 1/256 pixel: that of the cubic through the samples (R. Keys, "Cubic
// convolution interpolation for digital image processing", IEEE TASSP 29(6), 1981), but between the least
// and the largest of the four around it. Where a sample is infinite or no number, it is the nearest.
func (v view) smooth(x, y int) float32 {
	ix, iy := x>>8, y>>8
	if (x|y)&(flow.One-1) == 0 {
		return v.value(ix, iy)
	}
	wx, wy := &cubic[x&(flow.One-1)], &cubic[y&(flow.One-1)]
	var sum float32
	least, most := float32(math.Inf(1)), float32(math.Inf(-1))
	for j := range 4 {
		var line float32
		for i := range 4 {
			s := v.value(ix+i-1, iy+j-1)
			line += float32(wx[i] * s)
			if (i == 1 || i == 2) && (j == 1 || j == 2) {
				least, most = min(least, s), max(most, s)
			}
		}
		sum += float32(wy[j] * line)
	}
	if d := sum - sum; d != 0 { // infinite or NaN
		return v.value((x+flow.One/2)>>8, (y+flow.One/2)>>8)
	}
	return min(max(sum, least), most)
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
