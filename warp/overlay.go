package warp

import (
	"sync/atomic"

	"retime/flow"
	"retime/pipeline/frame"
)

// OverlayFinder finds what lies still over a moving picture: logos, burnt-in text,
// the edges of a letterbox. Its scratch memory is kept from interval to interval; it
// is used by one goroutine.
type OverlayFinder struct {
	Workers frame.Workers

	marks, means frame.Image[uint16]
}

// A pixel belongs to an overlay if it has structure, does not change over at
// least three of the four frames around the made one, and does not fit the
// motion of its surroundings. Edges along that motion and periodic patterns
// look still as well, but fit it.
const (
	overlayFrames   = 3
	overlayContrast = 24           // grey levels among the pixel and the eight
	overlaySpan     = 2            // pixels of the picture from it, or one of the guides
	overlayNoise    = 4            // grey levels of change, or
	overlayCoding   = 3            // the contrast shifted right by this if that is more
	overlayReach    = 32           // pixels of the picture to where the surroundings are probed
	overlayMotion   = flow.One / 2 // on the guides, from which they move
	overlayMisfit   = 8            // grey levels
	overlayVotes    = 2            // how many more probes must misfit than fit
)

// The mask is the share of marked pixels in a square around each, less overlayStray,
// times overlayGain, so that strays vanish and edges are soft.
const (
	overlayStray = 32
	overlayGain  = 5
)

// overlayRadius is the square's: 4 pixels of the picture, but 2 of the guides.
func overlayRadius(level int) int { return max(4>>level, 2) }

// Find adds what it finds to in.Static.
func (o *OverlayFinder) Find(in *Interval) {
	if !o.detect(in) {
		return
	}
	boxMean(o.Workers, &o.means, o.marks, overlayRadius(in.Level))
	found := frame.NewImage[uint8](o.means.Width, o.means.Height)
	o.Workers.Rows(found.Height, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			out := found.Row(y)
			for x, v := range o.means.Row(y) {
				out[x] = uint8(min(max(int(v)-overlayStray, 0)*overlayGain, 255))
			}
			if in.Static.Width > 0 {
				for x, v := range in.Static.Row(y) {
					out[x] = max(out[x], v)
				}
			}
		}
	})
	in.Static = found
}

// detect marks the pixels of overlays with 255, others with 0, and says whether
// there are any.
func (o *OverlayFinder) detect(in *Interval) bool {
	frames := make([]frame.Image[uint8], 0, 4)
	frames = append(frames, in.GuideA, in.GuideB)
	for _, outer := range []*Outer{in.Before, in.After} {
		if outer != nil {
			frames = append(frames, outer.Guide)
		}
	}
	if len(frames) < overlayFrames {
		return false
	}
	width, height := in.GuideA.Width, in.GuideA.Height
	o.marks.Resize(width, height)
	span := max(overlaySpan>>in.Level, 1)
	probes := newProbes(in.Level)
	var any atomic.Bool
	o.Workers.Rows(height, func(y0, y1 int) {
		changes, least, most := make([]uint8, width), make([]uint8, width), make([]uint8, width)
		for y := y0; y < y1; y++ {
			changed(changes, frames, y)
			extremes(least, most, in.GuideA.Row(max(y-span, 0)), in.GuideA.Row(y), in.GuideA.Row(min(y+span, height-1)))
			out := o.marks.Row(y)
			clear(out)
			for x, change := range changes {
				if change > mostChange {
					continue
				}
				l, r := max(x-span, 0), min(x+span, width-1)
				contrast := max(most[l], most[x], most[r]) - min(least[l], least[x], least[r])
				if contrast >= overlayContrast && change <= max(overlayNoise, contrast>>overlayCoding) && probes.misfit(in, x, y) {
					out[x] = 255
					any.Store(true)
				}
			}
		}
	})
	return any.Load()
}

// mostChange is the most that any pixel of an overlay changes.
const mostChange = 255 >> overlayCoding

// changed sets by how many grey levels the pixels of row y differ among three or
// four frames.
func changed(dst []uint8, frames []frame.Image[uint8], y int) {
	a, b, c, d := frames[0].Row(y), frames[1].Row(y), frames[2].Row(y), frames[len(frames)-1].Row(y)
	a, b, c, d = a[:len(dst)], b[:len(dst)], c[:len(dst)], d[:len(dst)]
	for x := range dst {
		dst[x] = max(a[x], b[x], c[x], d[x]) - min(a[x], b[x], c[x], d[x])
	}
}

// extremes sets the least and the largest of each column of three rows.
func extremes(least, most, a, b, c []uint8) {
	most = most[:len(least)]
	a, b, c = a[:len(least)], b[:len(least)], c[:len(least)]
	for x := range least {
		least[x], most[x] = min(a[x], b[x], c[x]), max(a[x], b[x], c[x])
	}
}

// probes are the places around a pixel at which its surroundings' motion is
// read.
type probes [8][2]int

func newProbes(level int) probes {
	r := overlayReach >> level
	d := 3 * r / 4
	return probes{{r, 0}, {-r, 0}, {0, r}, {0, -r}, {d, d}, {-d, d}, {d, -d}, {-d, -d}}
}

// misfit says whether the pixel of GuideA at (x, y) does not move as what is
// around it moves.
func (p *probes) misfit(in *Interval, x, y int) bool {
	here := uint32(in.GuideA.Row(y)[x]) << 16
	votes := 0
	for _, o := range p {
		px, py := min(max(x+o[0], 0), in.GuideA.Width-1), min(max(y+o[1], 0), in.GuideA.Height-1)
		v := in.Flows[0].Forward.Row(py)[px]
		if max(v.X, -v.X, v.Y, -v.Y) < overlayMotion {
			continue
		}
		tx, ty := int32(x)<<positionBits+v.X, int32(y)<<positionBits+v.Y
		if !inside(in.GuideB, tx, ty) {
			continue
		}
		if difference(here, lookup(in.GuideB, tx, ty)) > overlayMisfit*differenceOne {
			votes++
		} else {
			votes--
		}
	}
	return votes >= overlayVotes
}

// cover gives the shares of pixels that never move to the hypothesis without
// motion. static is empty for none.
func cover(workers frame.Workers, hypotheses []*hypothesis, static frame.Image[uint8]) {
	workers.Rows(static.Height, func(y0, y1 int) {
		for _, h := range hypotheses {
			for y := y0; y < y1; y++ {
				weights := h.weight.Row(y)
				for x, m := range static.Row(y) {
					if m == 0 {
						continue
					}
					covered := uint32(m) + uint32(m)>>7 // 255 becomes 256
					w := uint32(weights[x]) * (256 - covered)
					if h.kind == stationary {
						w += weightOne * covered
					}
					weights[x] = uint16(w >> 8)
				}
			}
		}
	})
}

// StaticMask turns a mask of the picture's size, 255 where nothing ever moves,
// into Interval.Static: halved level times, keeping the largest value, with a
// soft edge outside.
func StaticMask(picture frame.Image[uint8], level int) frame.Image[uint8] {
	m := picture
	for range level {
		m = halveMost(m)
	}
	var wide, marks frame.Image[uint16]
	marks.Resize(m.Width, m.Height)
	for y := range m.Height {
		for x, v := range m.Row(y) {
			marks.Row(y)[x] = uint16(v)
		}
	}
	boxMean(frame.Workers{}, &wide, marks, overlayRadius(level))
	out := frame.NewImage[uint8](m.Width, m.Height)
	for y := range m.Height {
		for x, v := range m.Row(y) {
			out.Row(y)[x] = max(v, uint8(min(int(wide.Row(y)[x])*overlayGain/2, 255)))
		}
	}
	return out
}

// halveMost keeps the largest of each two by two pixels.
func halveMost(src frame.Image[uint8]) frame.Image[uint8] {
	out := frame.NewImage[uint8]((src.Width+1)/2, (src.Height+1)/2)
	for y := range out.Height {
		a, b := src.Row(2*y), src.Row(min(2*y+1, src.Height-1))
		for x := range out.Width {
			l, r := 2*x, min(2*x+1, src.Width-1)
			out.Row(y)[x] = max(a[l], a[r], b[l], b[r])
		}
	}
	return out
}
