package flow

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Exact: against the definition in floats.
func TestHalve(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	for _, size := range [][2]int{{1, 1}, {2, 1}, {1, 3}, {7, 4}, {8, 9}, {31, 16}} {
		w, h := size[0], size[1]
		f := NewField(w, h)
		for i := range f.Pix {
			f.Pix[i] = Vec{int32(r.IntN(1<<30)) - 1<<29, int32(r.IntN(64)) - 32}
			if r.IntN(3) == 0 {
				f.Pix[i] = Unknown
			}
		}
		got := Halve(f)
		if got.Width != (w+1)/2 || got.Height != (h+1)/2 {
			t.Fatalf("%dx%d halved is %dx%d", w, h, got.Width, got.Height)
		}
		for y := range got.Height {
			for x := range got.Width {
				sx, sy, n := 0., 0., 0.
				for _, at := range [][2]int{{2 * x, 2 * y}, {2*x + 1, 2 * y}, {2 * x, 2*y + 1}, {2*x + 1, 2*y + 1}} {
					if at[0] >= w || at[1] >= h || !f.Row(at[1])[at[0]].Known() {
						continue
					}
					v := f.Row(at[1])[at[0]]
					sx, sy, n = sx+float64(v.X), sy+float64(v.Y), n+1
				}
				want := Unknown
				if n > 0 {
					want = Vec{int32(math.Floor(sx/(2*n) + 0.5)), int32(math.Floor(sy/(2*n) + 0.5))}
				}
				if got.Row(y)[x] != want {
					t.Fatalf("%v at %d,%d: %v, want %v", size, x, y, got.Row(y)[x], want)
				}
			}
		}
	}
}

// Exact: halved, a doubled field is what it was, edges stay sharp and ramps go on.
func TestDouble(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	for _, size := range [][2]int{{1, 1}, {2, 1}, {1, 3}, {7, 4}, {8, 9}, {31, 16}} {
		w, h := size[0], size[1]
		f := NewField((w+1)/2, (h+1)/2)
		reach := int(f.Limit())/4 - 1
		for i := range f.Pix {
			f.Pix[i] = Vec{int32(r.IntN(2*reach+1) - reach), int32(r.IntN(64)) - 32}
			if r.IntN(5) == 0 {
				f.Pix[i] = Unknown
			}
		}
		d := Double(f, w, h)
		if d.Width != w || d.Height != h {
			t.Fatalf("%dx%d, want %v", d.Width, d.Height, size)
		}
		back := Halve(d)
		for i := range f.Pix {
			if back.Pix[i] != f.Pix[i] {
				t.Fatalf("%v: vector %d is %v, was %v", size, i, back.Pix[i], f.Pix[i])
			}
		}
	}
	step, ramp := NewField(6, 3), NewField(6, 3)
	for i := range step.Pix {
		x := i % 6
		ramp.Pix[i].X = int32(8 * x)
		if x >= 3 {
			step.Pix[i].X = 512
		}
	}
	for x, v := range Double(step, 12, 6).Row(2) {
		if want := int32(x / 6 * 1024); v.X != want {
			t.Errorf("a step has %d at %d, want %d", v.X, x, want)
		}
	}
	for x, v := range Double(ramp, 12, 6).Row(2)[2:10] {
		if want := int32(8*(x+2) - 4); v.X != want {
			t.Errorf("a ramp has %d at %d, want %d", v.X, x+2, want)
		}
	}
}

// Exact: doubled as often as it was halved, to the size that it had, whose halves it has again.
func TestEnlarge(t *testing.T) {
	small := NewField(3, 2)
	copy(small.Pix, []Vec{{8, -3}, {40, 5}, Unknown, {12, 0}, {6, 7}, {5, 1}})
	for _, c := range []struct{ width, height, times int }{{3, 2, 0}, {5, 4, 1}, {23, 9, 3}} {
		large, times := Enlarge(small, c.width, c.height)
		if times != c.times || large.Width != c.width || large.Height != c.height {
			t.Fatalf("%+v: %dx%d after %d times", c, large.Width, large.Height, times)
		}
		for range times {
			large = Halve(large)
		}
		if !slices.Equal(large.Pix, small.Pix) {
			t.Errorf("%+v: halved again, it is %v", c, large.Pix)
		}
	}
}
