package warp

import (
	"math"
	"testing"

	"retime/flow"
	"retime/frame"
)

// Where a square steps over a ground that moves, the regions are the square's way, and all else is not.
func TestHoldRegions(t *testing.T) {
	const width, height, side, step = 120, 80, 36, 10
	grain := func(x, y int) float64 {
		return math.Sin(float64(x)/2.3+math.Sin(float64(y)/3.1)) + math.Sin(float64(y)/2.9)
	}
	draw := func(n, left int) frame.Image[uint8] {
		m := frame.NewImage[uint8](width, height)
		for y := range height {
			for x := range width {
				m.Row(y)[x] = uint8(120 + 16*grain(x+4*n, y))
				if x >= left && x < left+side && y >= 20 && y < 20+side {
					m.Row(y)[x] = uint8(120 + 50*grain(2*(x-left), 2*y+40))
				}
			}
		}
		return m
	}
	const left = 40
	f := FlowPair{Forward: flow.NewField(width, height), Backward: flow.NewField(width, height)}
	for y := range height {
		for x := range width {
			f.Forward.Row(y)[x], f.Backward.Row(y)[x] = flow.Vec{X: -8 * flow.One}, flow.Vec{X: 8 * flow.One}
			if y >= 20 && y < 20+side {
				if x >= left && x < left+side {
					f.Forward.Row(y)[x] = flow.Vec{X: step * flow.One}
				}
				if x >= left+step && x < left+step+side {
					f.Backward.Row(y)[x] = flow.Vec{X: -step * flow.One}
				}
			}
		}
	}
	for _, c := range []struct {
		name    string
		lefts   [4]int // of the square, before, in the pictures shown and in the next one
		regions bool
	}{
		{"held", [4]int{left - step, left, left, left + step}, true},
		{"moves throughout", [4]int{left - step/2, left, left + step/2, left + step}, false},
		{"held before, too", [4]int{left, left, left, left + step}, false},
		{"stays", [4]int{left, left, left, left}, false},
	} {
		h := Hold{Before: draw(0, c.lefts[0]), Shown: []frame.Image[uint8]{draw(1, c.lefts[1]), draw(2, c.lefts[2])}, Next: draw(3, c.lefts[3]), At: []Phase{0, PhaseOne / 2}}
		workers := frame.Workers{N: 3}
		if got := h.Likely(workers); got != c.regions {
			t.Errorf("%s: likely: %v", c.name, got)
		}
		m := h.Regions(workers, f)
		for y := range height {
			for x := range width {
				// Within the square's way, and well away from it.
				within := x >= left && x < left+step+side && y >= 20 && y < 20+side
				away := x < left-2*holdReach || x >= left+step+side+2*holdReach || y < 20-2*holdReach || y >= 20+side+2*holdReach
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
