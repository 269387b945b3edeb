package warp

import (
	"slices"
	"sync/atomic"

	"retime/flow"
	"retime/frame"
)

// Hold is a row of pictures in which a drawing over a ground that moves may stand still, as animation on
// twos or threes does. Pictures are guides.
type Hold struct {
	Before frame.Image[uint8]   // the picture before; empty if there is none
	Shown  []frame.Image[uint8] // two at least
	Next   frame.Image[uint8]   // the picture after, which shows the next drawing
	At     []Phase              // of Shown, from 0 for the first of them to PhaseOne for Next
	Level  int                  // how often guides were halved
}

// Guides differ by no more than holdNoise where a drawing stands still, and by holdChange or more where
// it moves and is not flat.
const (
	holdNoise  = 8
	holdChange = 20
	holdLeast  = 128 // pixels of the picture that show a drawing moving, at least
	holdClose  = 16  // pixels of the picture up to twice as far apart belong to one drawing
	holdReach  = 8   // how far around a drawing it is made again, in pixels of the picture
	holdShare  = 2   // pixels that are held for each that moves throughout, at least
	holdStep   = 4   // of the way of a drawing, in pixels of the guides
)

// Likely reports whether something may stand still in the pictures shown that moves before and after.
// It takes far less time than to find the flow for Regions.
func (h *Hold) Likely(workers frame.Workers) bool {
	side := max(holdClose>>h.Level, 1)
	var found atomic.Int64
	workers.Rows(h.Next.Height/side, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			for x := range h.Next.Width / side {
				if steps, moves := h.count(x*side, y*side, side); steps > holdShare*moves {
					found.Add(int64(steps))
				}
			}
		}
	})
	return found.Load() >= holdLeast>>(2*h.Level)
}

// count returns how many pixels of a square, which are not flat, stand still and change before and after,
// and how many change throughout.
func (h *Hold) count(x0, y0, side int) (steps, moves int) {
	for y := y0; y < y0+side; y++ {
		row, below, next := h.Shown[0].Row(y), h.Shown[0].Row(min(y+1, h.Next.Height-1)), h.Next.Row(y)
		for x := x0; x < x0+side; x++ {
			v := row[x]
			if apart(v, next[x]) < holdChange {
				continue
			}
			switch stands := h.stands(x, y); {
			case stands >= holdChange:
				moves++
			case stands <= holdNoise && max(apart(v, row[min(x+1, len(row)-1)]), apart(v, below[x])) > holdNoise && h.begins(x, y):
				steps++
			}
		}
	}
	return steps, moves
}

func apart[T frame.Sample](a, b T) T { return max(a, b) - min(a, b) }

// stands returns by how much the pictures shown differ at (x, y).
func (h *Hold) stands(x, y int) (most int) {
	v := h.Shown[0].Row(y)[x]
	for _, m := range h.Shown[1:] {
		most = max(most, int(apart(v, m.Row(y)[x])))
	}
	return most
}

// begins reports whether another thing is seen at (x, y) before the first picture shown.
func (h *Hold) begins(x, y int) bool {
	return h.Before.Width == 0 || apart(h.Before.Row(y)[x], h.Shown[0].Row(y)[x]) >= holdChange
}

// What a pixel says of a drawing.
const (
	holdSteps = 1 << iota // it stands still, and then moves
	holdMoves             // it moves throughout
	holdNew               // another thing was there before
)

// Regions returns an image on the guides' grid, 255 where a drawing that stands still in the pictures shown
// and then moves on is on its way from the first of them to the next picture, and 0 elsewhere. The
// flow leads from the first picture to the next one and back.
func (h *Hold) Regions(workers frame.Workers, f FlowPair) frame.Image[uint8] {
	a := h.Shown[0]
	kinds := frame.NewImage[uint8](a.Width, a.Height)
	workers.Rows(a.Height, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			for x := range a.Width {
				kinds.Row(y)[x] = h.kind(f, x, y)
			}
		}
	})
	ways := frame.NewImage[uint8](a.Width, a.Height)
	for y := range a.Height {
		for x, k := range kinds.Row(y) {
			if k&holdSteps == 0 {
				continue
			}
			v := f.Forward.Row(y)[x]
			steps := int64(max(v.X, -v.X, v.Y, -v.Y)/(holdStep*flow.One) + 1)
			for i := range steps + 1 {
				px := int32(x)<<positionBits + int32(int64(v.X)*i/steps)
				py := int32(y)<<positionBits + int32(int64(v.Y)*i/steps)
				ways.Row(nearestPixel(py, a.Height))[nearestPixel(px, a.Width)] = 255
			}
		}
	}
	closing := max(holdClose>>h.Level, 1)
	ways = Inverted(dilate(workers, Inverted(dilate(workers, ways, closing)), closing))
	h.keep(ways, kinds)
	return dilate(workers, ways, max(holdReach>>h.Level, 1))
}

// kind returns what the pixel at (x, y) of the first picture shown says.
func (h *Hold) kind(f FlowPair, x, y int) (k uint8) {
	v := f.Forward.Row(y)[x]
	px, py := int32(x)<<positionBits, int32(y)<<positionBits
	if max(v.X, -v.X, v.Y, -v.Y) < flow.One || !inside(h.Next, px+v.X, py+v.Y) {
		return 0
	}
	stands, grey := h.stands(x, y), uint32(h.Shown[0].Row(y)[x])<<16
	moves, worst := 255, 0 // the least and the most that it differs by if it is on its way
	for i, m := range h.Shown[1:] {
		p := int64(h.At[i+1])
		d := int(difference(grey, lookup(m, px+int32(int64(v.X)*p>>16), py+int32(int64(v.Y)*p>>16)))) / differenceOne
		moves, worst = min(moves, d), max(worst, d)
	}
	switch {
	case stands >= holdChange && worst*3 <= stands:
		return holdMoves
	case stands > holdNoise || moves < holdChange:
		return 0
	}
	back := f.Backward.Row(nearestPixel(py+v.Y, h.Next.Height))[nearestPixel(px+v.X, h.Next.Width)]
	dx, dy := v.X+back.X, v.Y+back.Y
	there := int(difference(grey, lookup(h.Next, px+v.X, py+v.Y))) / differenceOne
	if max(dx, -dx, dy, -dy) > flow.One || there*3 > moves {
		return 0
	}
	if k = holdSteps; h.begins(x, y) {
		k |= holdNew
	}
	return k
}

// keep clears ways that are no drawing's: one begins with the first picture, and little moves throughout there.
func (h *Hold) keep(ways, kinds frame.Image[uint8]) {
	keepRegions(ways, func(places []place) bool {
		steps, moves, begins := 0, 0, 0
		for _, p := range places {
			k := kinds.Row(p.y)[p.x]
			if k&holdSteps != 0 {
				steps++
			}
			if k&holdNew != 0 {
				begins++
			}
			if k&holdMoves != 0 {
				moves++
			}
		}
		return steps >= holdLeast>>(2*h.Level) && steps >= holdShare*moves && 2*begins >= steps
	})
}

// Touching returns those regions of m that touch one of others, of which any may be empty; an empty image
// for none.
func Touching(m frame.Image[uint8], others ...frame.Image[uint8]) frame.Image[uint8] {
	kept := m.Clone()
	any := keepRegions(kept, func(places []place) bool {
		return slices.ContainsFunc(others, func(o frame.Image[uint8]) bool {
			return o.Width > 0 && slices.ContainsFunc(places, func(p place) bool { return o.Row(p.y)[p.x] != 0 })
		})
	})
	if !any {
		return frame.Image[uint8]{}
	}
	return kept
}

// Inverted returns 255 minus m.
func Inverted(m frame.Image[uint8]) frame.Image[uint8] {
	out := frame.NewImage[uint8](m.Width, m.Height)
	for y := range m.Height {
		row := out.Row(y)
		for x, v := range m.Row(y) {
			row[x] = ^v
		}
	}
	return out
}
