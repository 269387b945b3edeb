package flow

import (
	"math/rand/v2"
	"testing"

	"retime/frame"
)

func TestKeepStill(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	for _, size := range [][2]int{{1, 1}, {1, 40}, {40, 1}, {5, 9}, {64, 47}, {83, 61}} {
		w, h := size[0], size[1]
		for differing := range 4 {
			a, b := frame.NewImage[uint8](w, h), frame.NewImage[uint8](w+3, h)
			b.Width = w
			for y := range h {
				for x := range w {
					a.Row(y)[x] = uint8(r.Uint32())
				}
				copy(b.Row(y), a.Row(y))
			}
			for range differing {
				b.Row(r.IntN(h))[r.IntN(w)]++
			}
			for _, workers := range []int{1, 2, 7} {
				forward, backward := filled(w, h, Vec{3, -4}), filled(w, h, Vec{-5, 0})
				if err := KeepStill(a, b, frame.Workers{N: workers}, forward, backward); err != nil {
					t.Fatal(err)
				}
				for y := range h {
					for x := range w {
						want, other := Vec{3, -4}, Vec{-5, 0}
						if sameAround(a, b, x, y) {
							want, other = Vec{}, Vec{}
						}
						if got := forward.Row(y)[x]; got != want || backward.Row(y)[x] != other {
							t.Fatalf("%v, %d pixels differ, %d workers: %v at %d,%d, want %v", size, differing, workers, got, x, y, want)
						}
					}
				}
			}
		}
	}
}

// sameAround compares the squares around a pixel, one pixel after the other.
func sameAround(a, b frame.Image[uint8], x, y int) bool {
	for j := max(y-stillRadius, 0); j <= min(y+stillRadius, a.Height-1); j++ {
		for i := max(x-stillRadius, 0); i <= min(x+stillRadius, a.Width-1); i++ {
			if a.Row(j)[i] != b.Row(j)[i] {
				return false
			}
		}
	}
	return true
}

func TestKeepStillSizes(t *testing.T) {
	a := frame.NewImage[uint8](4, 4)
	if KeepStill(a, frame.NewImage[uint8](4, 5), frame.Workers{}) == nil {
		t.Error("pictures of two sizes")
	}
	if KeepStill(a, a, frame.Workers{}, NewField(4, 4), NewField(3, 4)) == nil {
		t.Error("a field of another size")
	}
}

func BenchmarkKeepStill1080p(b *testing.B) {
	const w, h = 1920, 1080
	forward, backward := NewField(w, h), NewField(w, h)
	r := rand.New(rand.NewPCG(7, 11))
	first := frame.NewImage[uint8](w, h)
	for i := range first.Pix {
		first.Pix[i] = uint8(r.Uint32())
	}
	for name, differ := range map[string]func(x, y int) bool{
		"still": func(int, int) bool { return false },
		"noise": func(int, int) bool { return r.IntN(8) > 0 },
		"half":  func(x, _ int) bool { return x < w/2 && r.IntN(8) > 0 },
	} {
		second := frame.NewImage[uint8](w, h)
		for y := range h {
			for x, v := range first.Row(y) {
				if differ(x, y) {
					v++
				}
				second.Row(y)[x] = v
			}
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := KeepStill(first, second, frame.Workers{N: 1}, forward, backward); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
