package flow

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Exact: against the definition in floats.
func TestDouble(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	var got Field
	for _, size := range [][2]int{{1, 1}, {2, 1}, {1, 3}, {7, 4}, {8, 9}, {31, 16}} {
		w, h := size[0], size[1]
		f := NewField((w+1)/2, (h+1)/2)
		for i := range f.Pix {
			f.Pix[i] = Vec{int32(r.IntN(1<<20)) - 1<<19, int32(r.IntN(64)) - 32}
		}
		Double(&got, f, w, h)
		if got.Width != w || got.Height != h {
			t.Fatalf("%dx%d, want %dx%d", got.Width, got.Height, w, h)
		}
		at := func(x, y int) Vec { return f.Row(min(max(y, 0), f.Height-1))[min(max(x, 0), f.Width-1)] }
		for y := range h {
			for x := range w {
				cx, cy := (float64(x)+0.5)/2-0.5, (float64(y)+0.5)/2-0.5
				ix, iy := int(math.Floor(cx)), int(math.Floor(cy))
				fx, fy := cx-float64(ix), cy-float64(iy)
				mix := func(of func(Vec) int32) int32 {
					v := (1-fy)*((1-fx)*float64(of(at(ix, iy)))+fx*float64(of(at(ix+1, iy)))) +
						fy*((1-fx)*float64(of(at(ix, iy+1)))+fx*float64(of(at(ix+1, iy+1))))
					return int32(math.Floor(2*v + 0.5))
				}
				want := Vec{mix(func(v Vec) int32 { return v.X }), mix(func(v Vec) int32 { return v.Y })}
				if got.Row(y)[x] != want {
					t.Fatalf("%v at %d,%d: %v, want %v", size, x, y, got.Row(y)[x], want)
				}
			}
		}
	}
}

func TestUnderlay(t *testing.T) {
	f, below := filled(3, 2, Vec{}), filled(3, 2, Vec{5, 6})
	f.Row(1)[2] = Vec{0, 1}
	f.Underlay(below)
	for y := range 2 {
		for x := range 3 {
			want := Vec{5, 6}
			if x == 2 && y == 1 {
				want = Vec{0, 1}
			}
			if f.Row(y)[x] != want {
				t.Errorf("%v at %d,%d, want %v", f.Row(y)[x], x, y, want)
			}
		}
	}
}
