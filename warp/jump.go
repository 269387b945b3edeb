package warp

import (
	"sync/atomic"

	"retime/flow"
	"retime/frame"
)

// A pixel changes if A and B differ there by jumpChange grey levels, and stands still if they differ
// by no more than jumpNoise. Pixels that change, and what lies within jumpReach pixels of the picture
// of them, make a spot if they touch.
const (
	jumpChange = 24
	jumpNoise  = 6
	jumpReach  = 4
	jumpNear   = 12 // how close to a spot that jumps what stands still is shown as it stands
)

// A motion explains a change that is jumpFit times the error along it, if it is at least jumpMotion
// on the guides and the flow back differs by no more than that.
const (
	jumpMotion = flow.One / 2
	jumpFit    = 3
)

// A spot jumps if more than one part in jumpShare of its change follows no motion, at least one
// changing pixel in jumpBolds changes as much as text and signs do, at most one pixel in jumpStill
// moves on the rim around it, and it takes at most one pixel in jumpArea of the picture.
const (
	jumpShare = 4
	jumpBold  = 64 // grey levels
	jumpBolds = 8
	jumpRim   = 2 // width of the rim on the guides
	jumpStill = 8
	jumpArea  = 32
)

// Jumps finds what changes at once from A to B where all around stands still, such as the digits of a
// counter or of a burnt-in time code: no motion leads from one to the other, so a frame between them
// should show one of the two. It returns an image on the guides' grid, 0 for such spots and for what
// stands still close to them, 255 elsewhere, or an empty one if there are none. The interval needs
// guides and a flow.
func Jumps(workers frame.Workers, in *Interval) frame.Image[uint8] {
	changes := frame.NewImage[uint8](in.GuideA.Width, in.GuideA.Height)
	marks := frame.NewImage[uint8](changes.Width, changes.Height)
	var any atomic.Bool
	workers.Rows(changes.Height, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			findChanges(changes.Row(y), in, y)
			if markJumps(marks.Row(y), changes.Row(y), in, y) {
				any.Store(true)
			}
		}
	})
	if !any.Load() {
		return frame.Image[uint8]{}
	}
	spots := dilate(workers, marks, max(jumpReach>>in.Level, 1))
	if !keepJumps(spots, marks, changes) {
		return frame.Image[uint8]{}
	}
	cells := dilate(workers, spots, jumpNear>>in.Level)
	workers.Rows(cells.Height, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			out, spot, change := cells.Row(y), spots.Row(y), changes.Row(y)
			for x, near := range out {
				if out[x] = 255; near != 0 && (spot[x] != 0 || change[x] <= jumpNoise) {
					out[x] = 0
				}
			}
		}
	})
	return cells
}

// What is known of a pixel that changes.
const (
	jumpMoved = 1 // a motion explains it
	jumpFree  = 2 // no motion does
)

// findChanges sets out to how much A and B differ at the pixels of row y: in their guides, or in a
// plane of colour.
func findChanges(out []uint8, in *Interval, y int) {
	ra, rb := in.GuideA.Row(y), in.GuideB.Row(y)
	for x := range out {
		out[x] = apart(ra[x], rb[x])
	}
	for i := 1; i < 3 && in.A.Format.Planes >= 3; i++ {
		if in.A.Format.Bytes() == 1 {
			colourChanges(out, frame.Samples[uint8](in.A.Planes[i]), frame.Samples[uint8](in.B.Planes[i]), in, i, y)
		} else {
			colourChanges(out, frame.Samples[uint16](in.A.Planes[i]), frame.Samples[uint16](in.B.Planes[i]), in, i, y)
		}
	}
}

// colourChanges raises out to how much plane i differs, in 1/256 of its range.
func colourChanges[T frame.Sample](out []uint8, a, b frame.Image[T], in *Interval, i, y int) {
	sx, sy := in.A.Format.Subsampling(i)
	row := min(y<<in.Level>>sy, a.Height-1)
	ra, rb := a.Row(row), b.Row(row)
	for x := range out {
		at := min(x<<in.Level>>sx, len(ra)-1)
		out[x] = max(out[x], uint8(uint32(apart(ra[at], rb[at]))>>(in.A.Format.Depth-8)))
	}
}

// markJumps sets out to what is known of the pixels of row y, 0 for those that do not change, and
// reports whether there are others.
func markJumps(out, changes []uint8, in *Interval, y int) (any bool) {
	a, b, f := in.GuideA, in.GuideB, in.Flows[0]
	for x := range out {
		d := int(changes[x])
		if d < jumpChange {
			continue
		}
		any = true
		out[x] = jumpFree
		if explains(a, b, f.Forward, f.Backward, x, y, d) || explains(b, a, f.Backward, f.Forward, x, y, d) {
			out[x] = jumpMoved
		}
	}
	return any
}

// explains reports whether the motion from a to b at (x, y), where they differ by change, leads to the
// same grey in b and back again.
func explains(a, b frame.Image[uint8], forward, backward flow.Field, x, y, change int) bool {
	v := forward.Row(y)[x]
	px, py := int32(x)<<positionBits+v.X, int32(y)<<positionBits+v.Y
	if max(v.X, -v.X, v.Y, -v.Y) < jumpMotion || !inside(b, px, py) {
		return false
	}
	back := backward.Row(nearestPixel(py, b.Height))[nearestPixel(px, b.Width)]
	dx, dy := v.X+back.X, v.Y+back.Y
	e := difference(uint32(a.Row(y)[x])<<16, lookup(b, px, py))
	return max(dx, -dx, dy, -dy) <= jumpMotion && jumpFit*int(e) <= change*differenceOne
}

// dilate returns 255 within a square of a radius around pixels that are not 0, and else 0.
func dilate(workers frame.Workers, marks frame.Image[uint8], radius int) frame.Image[uint8] {
	wide, out := frame.NewImage[uint8](marks.Width, marks.Height), frame.NewImage[uint8](marks.Width, marks.Height)
	workers.Rows(marks.Height, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			row := wide.Row(y)
			end := 0 // of what is marked so far
			for x, v := range marks.Row(y) {
				if v != 0 {
					for i := max(x-radius, end); i < min(x+radius+1, len(row)); i++ {
						row[i] = 255
					}
					end = x + radius + 1
				}
			}
		}
	})
	workers.Rows(out.Height, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			row := out.Row(y)
			for j := max(y-radius, 0); j < min(y+radius+1, out.Height); j++ {
				for x, v := range wide.Row(j) {
					row[x] |= v
				}
			}
		}
	})
	return out
}

// spot is what touches.
type spot struct {
	places        []place
	changed, free int // sums of the change, and of that which no motion explains
	count, bold   int // pixels that change, and those of them that change much
}

// keepJumps clears the spots that do not jump, and reports whether any is left. marks say what is
// known of pixels that change by so much.
func keepJumps(spots, marks, changes frame.Image[uint8]) (any bool) {
	rims := frame.NewImage[uint32](spots.Width, spots.Height) // number of the spot that counted a pixel last
	number := uint32(0)
	return keepRegions(spots, func(places []place) bool {
		number++
		s := newSpot(places, marks, changes)
		bold, free := s.bold*jumpBolds >= s.count, s.free*jumpShare > s.changed
		return bold && free && len(places)*jumpArea <= len(spots.Pix) && s.stands(spots, changes, rims, number)
	})
}

func newSpot(places []place, marks, changes frame.Image[uint8]) *spot {
	s := &spot{places: places}
	for _, p := range places {
		d := int(changes.Row(p.y)[p.x])
		m := marks.Row(p.y)[p.x]
		if m == 0 {
			continue
		}
		s.changed += d
		s.count++
		if m == jumpFree {
			s.free += d
		}
		if d >= jumpBold {
			s.bold++
		}
	}
	return s
}

// stands reports whether the rim of s stands still.
func (s *spot) stands(spots, changes frame.Image[uint8], rims frame.Image[uint32], number uint32) bool {
	rim, moving := 0, 0
	for _, p := range s.places {
		p.around(spots, jumpRim, func(x, y int) {
			if r := &rims.Row(y)[x]; spots.Row(y)[x] == 0 && *r != number {
				*r = number
				rim++
				if changes.Row(y)[x] > jumpNoise {
					moving++
				}
			}
		})
	}
	return moving*jumpStill <= rim
}
