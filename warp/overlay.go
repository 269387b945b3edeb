package warp

import (
	"encoding/binary"
	"math/bits"
	"sync/atomic"

	"retime/flow"
	"retime/frame"
)

// overlayFinder finds overlays, which lie still over a moving picture: logos, burnt-in
// text, the edges of a letterbox. It keeps its memory between intervals.
type overlayFinder struct {
	workers frame.Workers

	marks, means frame.Image[uint16]
	mask         frame.Image[uint8]
	moving, near frame.Image[bool] // squares of the probes' reach in which something moves, or beside such
}

// A pixel belongs to an overlay if it has structure, does not change over at least
// three of the four frames around the made one, and does not fit the motion of its
// surroundings. Edges along that motion, and periodic patterns, look still as well, but
// they fit the motion. Ground that something passes by does not; but text and logos are
// made to stand out from it.
const (
	overlayFrames   = 3
	overlayContrast = 24           // least grey levels between the darkest and the brightest of the pixel and eight others
	overlaySpan     = 2            // distance of those eight in pixels of the picture, at least one of the guides
	overlayNoise    = 4            // grey levels of change that count as none, or
	overlayCoding   = 3            // the contrast shifted right by this, if that is more
	overlayReach    = 32           // distance of the probes of the surroundings, in pixels of the picture
	overlayMotion   = flow.One / 2 // least motion of a probe, on the guides
	overlayMisfit   = 8            // grey levels
	overlayVotes    = 2            // surplus of misfitting over fitting probes
	overlayBold     = 80           // contrast from which what moves between A and B alone is a probe, too
)

// The mask is the share of marked pixels in a square around each pixel, less
// overlayStray, times overlayGain. So single strays vanish and edges are soft.
const (
	overlayStray       = 32
	overlayGain        = 5
	overlaySquare      = 4 // radius of the square in pixels of the picture,
	overlayLeastSquare = 2 // at least this many pixels of the guides
)

func overlayRadius(level int) int { return max(overlaySquare>>level, overlayLeastSquare) }

// find returns in.Static with the overlays that it finds added. The image is valid
// until the next call.
func (o *overlayFinder) find(in *Interval) frame.Image[uint8] {
	if !o.detect(in) {
		return in.Static
	}
	boxMean(o.workers, &o.means, o.marks, overlayRadius(in.Level))
	o.mask.Resize(o.means.Width, o.means.Height)
	o.workers.Rows(o.mask.Height, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			out := o.mask.Row(y)
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
	return o.mask
}

// detect marks the pixels of overlays with 255 and others with 0, and reports whether
// there are any overlays.
func (o *overlayFinder) detect(in *Interval) bool {
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
	size := overlayReach >> in.Level
	o.findMoving(in.Flows[0].Forward, in.Level)
	o.findNear()
	var any atomic.Bool
	o.workers.Rows(height, func(y0, y1 int) {
		columns := newExtremes(width, span)
		for y := y0; y < y1; y++ {
			columns.set(in.GuideA.Row(max(y-span, 0)), in.GuideA.Row(y), in.GuideA.Row(min(y+span, height-1)))
			a, b, c, d := frames[0].Row(y), frames[1].Row(y), frames[2].Row(y), frames[len(frames)-1].Row(y)
			out, near := o.marks.Row(y), o.near.Row(y/size)
			clear(out)
			for x := 0; x < width; x += lanes {
				change := changeAmong(loadLanes(a, x), loadLanes(b, x), loadLanes(c, x), loadLanes(d, x))
				if atLeast(mostChange*eachLane, change) == 0 {
					continue
				}
				contrast := columns.contrast(x)
				bold := atLeast(contrast, overlayBold*eachLane)
				for still := stillEdges(contrast, change); still != 0; still &= still - 1 {
					at := x + bits.TrailingZeros64(still)/8
					if at < width && near[at/size] && probes.misfit(in, at, y, bold&still&-still != 0) {
						out[at] = 255
						any.Store(true)
					}
				}
			}
		}
	})
	return any.Load()
}

// findMoving marks the squares in which a probe may find motion.
func (o *overlayFinder) findMoving(f flow.Field, level int) {
	size := overlayReach >> level
	o.moving.Resize((f.Width+size-1)/size, (f.Height+size-1)/size)
	o.workers.Rows(o.moving.Height, func(y0, y1 int) {
		for cy := y0; cy < y1; cy++ {
			out := o.moving.Row(cy)
			clear(out)
			for y := cy * size; y < min((cy+1)*size, f.Height); y++ {
				row := f.Row(y)
				for cx, moves := range out {
					for x := cx * size; x < min((cx+1)*size, f.Width) && !moves; x++ {
						moves = movesProbe(row[x])
					}
					out[cx] = moves
				}
			}
		}
	})
}

// findNear marks the squares whose pixels' probes may find motion: probes lie in the pixel's square
// or in those around it.
func (o *overlayFinder) findNear() {
	o.near.Resize(o.moving.Width, o.moving.Height)
	for y := range o.near.Height {
		out := o.near.Row(y)
		clear(out)
		for j := max(y-1, 0); j < min(y+2, o.near.Height); j++ {
			for x, moves := range o.moving.Row(j) {
				for i := max(x-1, 0); moves && i < min(x+2, len(out)); i++ {
					out[i] = true
				}
			}
		}
	}
}

func movesProbe(v flow.Vec) bool { return max(v.X, -v.X, v.Y, -v.Y) >= overlayMotion }

// mostChange is the largest change of any pixel of an overlay.
const mostChange = max(255>>overlayCoding, overlayNoise)

// stillEdges sets the top bit of each pixel that has structure and does not change.
func stillEdges(contrast, change uint64) uint64 {
	_, allowed := order(contrast>>overlayCoding&(255>>overlayCoding*eachLane), overlayNoise*eachLane)
	return atLeast(contrast, overlayContrast*eachLane) & atLeast(allowed, change)
}

// changeAmong returns the grey levels between the darkest and the brightest of four
// frames, for each pixel.
func changeAmong(a, b, c, d uint64) uint64 {
	a, b = order(a, b)
	c, d = order(c, d)
	least, _ := order(a, c)
	_, most := order(b, d)
	return most - least // no lane borrows from the next
}

// extremes holds the least and the largest of each column of three rows. It repeats the
// first and the last at least span pixels beyond the ends.
type extremes struct {
	least, most []uint8
	width, span int
}

func newExtremes(width, span int) extremes {
	n := (width+lanes-1)/lanes*lanes + 2*span
	return extremes{make([]uint8, n), make([]uint8, n), width, span}
}

func (e *extremes) set(a, b, c []uint8) {
	for x := 0; x < e.width; x += lanes {
		less, more := order(loadLanes(a, x), loadLanes(b, x))
		third := loadLanes(c, x)
		less, _ = order(less, third)
		_, more = order(more, third)
		binary.LittleEndian.PutUint64(e.least[e.span+x:], less)
		binary.LittleEndian.PutUint64(e.most[e.span+x:], more)
	}
	for _, row := range [][]uint8{e.least, e.most} {
		first, last := row[e.span], row[e.span+e.width-1]
		for x := range e.span {
			row[x] = first
		}
		for x := e.span + e.width; x < len(row); x++ {
			row[x] = last
		}
	}
}

// contrast returns, for each of eight pixels from x on, the grey levels between the
// least and the largest of its column and the columns span pixels to the left and
// right.
func (e *extremes) contrast(x int) uint64 {
	l, m, r := x, x+e.span, x+2*e.span
	least, _ := order(loadLanes(e.least, l), loadLanes(e.least, m))
	least, _ = order(least, loadLanes(e.least, r))
	_, most := order(loadLanes(e.most, l), loadLanes(e.most, m))
	_, most = order(most, loadLanes(e.most, r))
	return most - least
}

// probes are the offsets from a pixel at which misfit reads the motion of the
// surroundings.
type probes [8][2]int

func newProbes(level int) probes {
	r := overlayReach >> level
	d := 3 * r / 4
	return probes{{r, 0}, {-r, 0}, {0, r}, {0, -r}, {d, d}, {-d, d}, {d, -d}, {-d, -d}}
}

// misfit reports whether the pixel of GuideA at (x, y) does not follow the motion of
// its surroundings. bold tells whether it has much contrast.
func (p *probes) misfit(in *Interval, x, y int, bold bool) bool {
	here := uint32(in.GuideA.Row(y)[x]) << 16
	votes := 0
	for i, o := range p {
		if left := len(p) - i; votes+left < overlayVotes || votes-left >= overlayVotes {
			break // the remaining probes cannot change the result
		}
		px, py := min(max(x+o[0], 0), in.GuideA.Width-1), min(max(y+o[1], 0), in.GuideA.Height-1)
		v := in.Flows[0].Forward.Row(py)[px]
		if !movesProbe(v) || !bold && !in.movesBeyond(px, py) {
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

// movesBeyond reports whether a probe finds motion to the frames beyond the interval, if there are
// both. Where something passes by between A and B alone, the ground around lies still before or
// after.
func (in *Interval) movesBeyond(x, y int) bool {
	return in.Before == nil || in.After == nil || movesProbe(in.Before.Flow.Row(y)[x]) && movesProbe(in.After.Flow.Row(y)[x])
}

// cover gives the shares of pixels that never move to the hypothesis without motion.
// static may be empty.
func cover(workers frame.Workers, hypotheses []*hypothesis, static frame.Image[uint8]) {
	workers.Rows(static.Height, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			row := static.Row(y)
			for x := frame.LeadingZeros(row); x < len(row); x += frame.LeadingZeros(row[x:]) {
				covered := uint32(row[x]) + uint32(row[x])>>7 // 255 becomes 256
				for _, h := range hypotheses {
					weight := &h.weight.Row(y)[x]
					w := uint32(*weight) * (256 - covered)
					if h.kind == stationary {
						w += weightOne * covered
					}
					*weight = uint16(w >> 8)
				}
				x++
			}
		}
	})
}

// StaticMask turns a mask of the picture's size, 255 for pixels that never move, into
// Interval.Static: it halves the mask level times, keeps the largest values, and adds a
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

// halveMost returns the largest value of each block of two by two pixels.
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
