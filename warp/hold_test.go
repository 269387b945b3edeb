package warp

import (
	"math"
	"testing"

	"retime/flow"
	"retime/frame"
)

// stepping is a square, grained, of 36 by 36 pixels, over a ground that moves by 4 pixels a picture.
type stepping struct {
	width, left, step int
	ground            float64 // how far its grey levels are from the middle
}

const steppingHeight, steppingTop, steppingSide = 80, 20, 36

// draw returns picture n with the square's left side at left.
func (s stepping) draw(n, left int) frame.Image[uint8] {
	grain := func(x, y int) float64 {
		return math.Sin(float64(x)/2.3+math.Sin(float64(y)/3.1)) + math.Sin(float64(y)/2.9)
	}
	m := frame.NewImage[uint8](s.width, steppingHeight)
	for y := range m.Height {
		for x := range m.Width {
			if s.inside(x, y, left) {
				m.Row(y)[x] = uint8(120 + 50*grain(2*(x-left), 2*y+40))
			} else {
				m.Row(y)[x] = uint8(120 + s.ground*grain(x+4*n, y))
			}
		}
	}
	return m
}

// inside reports whether a pixel belongs to the square.
func (stepping) inside(x, y, left int) bool {
	return x >= left && x < left+steppingSide && y >= steppingTop && y < steppingTop+steppingSide
}

// flows returns the motion over two pictures, in which the square makes a step.
func (s stepping) flows() FlowPair {
	f := FlowPair{Forward: flow.NewField(s.width, steppingHeight), Backward: flow.NewField(s.width, steppingHeight)}
	for y := range steppingHeight {
		for x := range s.width {
			f.Forward.Row(y)[x], f.Backward.Row(y)[x] = flow.Vec{X: -8 * flow.One}, flow.Vec{X: 8 * flow.One}
			if s.inside(x, y, s.left) {
				f.Forward.Row(y)[x] = flow.Vec{X: int32(s.step) * flow.One}
			}
			if s.inside(x, y, s.left+s.step) {
				f.Backward.Row(y)[x] = flow.Vec{X: int32(-s.step) * flow.One}
			}
		}
	}
	return f
}

// hold returns the pictures with the square's left sides.
func (s stepping) hold(before, first, second, next int) Hold {
	return Hold{
		Before: s.draw(0, before), Shown: []frame.Image[uint8]{s.draw(1, first), s.draw(2, second)}, Next: s.draw(3, next),
		At: []Phase{0, PhaseOne / 2},
	}
}

// Where a square steps over a ground that moves, the regions are the square's way, and all else is not.
func TestHoldRegions(t *testing.T) {
	const left, step, bottom = 40, 10, steppingTop + steppingSide
	near := stepping{120, left, step, 16}
	far := stepping{6200, left, 6100, 4} // as in pictures of 8K
	for _, c := range []struct {
		name string
		stepping
		lefts   [4]int // of the square, before, in the pictures shown and in the next one
		regions bool
	}{
		{"held", near, [4]int{left - step, left, left, left + step}, true},
		{"moves throughout", near, [4]int{left - step/2, left, left + step/2, left + step}, false},
		{"held before, too", near, [4]int{left, left, left, left + step}, false},
		{"stays", near, [4]int{left, left, left, left}, false},
		{"goes far", far, [4]int{left - step, left, left, left + far.step}, true},
	} {
		h := c.hold(c.lefts[0], c.lefts[1], c.lefts[2], c.lefts[3])
		workers := frame.Workers{N: 3}
		if got := h.Likely(workers); got != c.regions {
			t.Errorf("%s: likely: %v", c.name, got)
		}
		m := h.Regions(workers, c.flows())
		end := left + c.step + steppingSide
		for y := range m.Height {
			for x := range m.Width {
				// Within the square's way, and well away from it.
				within := x >= left && x < end && y >= steppingTop && y < bottom
				away := x < left-2*holdReach || x >= end+2*holdReach || y < steppingTop-2*holdReach || y >= bottom+2*holdReach
				if got := m.Row(y)[x] == 255; within && got != c.regions || away && got {
					t.Fatalf("%s: (%d, %d) belongs to a region: %v", c.name, x, y, got)
				}
			}
		}
	}
}

func TestTouching(t *testing.T) {
	image := func(rows ...string) frame.Image[uint8] {
		m := frame.NewImage[uint8](len(rows[0]), len(rows))
		for y, row := range rows {
			for x, c := range row {
				if c == '#' {
					m.Row(y)[x] = 255
				}
			}
		}
		return m
	}
	m := image("##..#", "#...#", "..#..")
	for _, c := range []struct{ other, want frame.Image[uint8] }{
		{image(".....", "....#", "....."), image("....#", "....#", ".....")},
		{image(".#...", ".....", "..#.."), image("##...", "#....", "..#..")},
		{image("..##.", ".##..", "##.##"), frame.Image[uint8]{}},
		{frame.Image[uint8]{}, frame.Image[uint8]{}},
	} {
		if got := Touching(m, frame.Image[uint8]{}, c.other); string(got.Pix) != string(c.want.Pix) {
			t.Errorf("%v touch %v", got.Pix, c.other.Pix)
		}
	}
}
