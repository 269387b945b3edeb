package warp

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"retime/flow"
	"retime/frame"
)

// randomHoles marks blobs, or almost everything, as holes.
func randomHoles(r *rand.Rand, holes frame.Image[uint8]) {
	if r.IntN(3) == 0 {
		for y := range holes.Height {
			for x := range holes.Width {
				holes.Row(y)[x] = 255
			}
		}
		for range r.IntN(4) {
			holes.Row(r.IntN(holes.Height))[r.IntN(holes.Width)] = 0
		}
		return
	}
	for range 1 + r.IntN(12) {
		x0, y0 := r.IntN(holes.Width), r.IntN(holes.Height)
		x1, y1 := min(holes.Width, x0+1+r.IntN(20)), min(holes.Height, y0+1+r.IntN(20))
		for y := y0; y < y1; y++ {
			for x := x0; x < x1; x++ {
				if r.IntN(9) > 0 {
					holes.Row(y)[x] = 255
				}
			}
		}
	}
}

func TestFlowFillerMatchesReference(t *testing.T) {
	const seed = 1
	r := rand.New(rand.NewPCG(seed, 0))
	fillers := []*FlowFiller{
		{Workers: frame.Workers{N: 1}}, {Workers: frame.Workers{N: 2}}, {Workers: frame.Workers{N: 8}},
	}
	for _, size := range [][2]int{{1, 1}, {1, 7}, {9, 1}, {8, 8}, {33, 21}, {40, 50}} {
		for round := range 8 {
			width, height := size[0], size[1]
			src := randomMotion(r, []string{"extremes", "fractions"}[round%2], width, height, 0).Flow
			holes, holesIntact := guardedImage[uint8](width, height, 7)
			randomHoles(r, holes)
			nearest := flow.NewField(width, height)
			for y := range height {
				for x := range width {
					nearest.Row(y)[x] = src.Row(y)[x]
					if holes.Row(y)[x] != 0 {
						nearest.Row(y)[x] = referenceNearest(src, holes, x, y)
					}
				}
			}
			for _, f := range fillers {
				name := fmt.Sprintf("seed %d, %dx%d, round %d, %d workers", seed, width, height, round, f.Workers.N)
				checkFill(t, name, src, nearest, func(v flow.Field) { f.Nearest(v, holes) })
			}
			if !holesIntact() {
				t.Fatal("wrote to the mask")
			}
		}
	}
}

func checkFill(t *testing.T, name string, src, want flow.Field, fill func(flow.Field)) {
	t.Helper()
	got, intact := guardedImage(src.Width, src.Height, flow.Unknown)
	copy(got.Pix, src.Pix)
	fill(flow.Field{Image: got})
	for y := range want.Height {
		for x, v := range want.Row(y) {
			if got.Row(y)[x] != v {
				t.Fatalf("%s: vector (%d, %d) is %v, want %v", name, x, y, got.Row(y)[x], v)
			}
		}
	}
	if !intact() {
		t.Fatalf("%s: wrote outside the field", name)
	}
}

func TestFlowFillerAllHoles(t *testing.T) {
	f := randomMotion(rand.New(rand.NewPCG(2, 0)), "extremes", 12, 9, 0).Flow
	holes := frame.NewImage[uint8](12, 9)
	for i := range holes.Pix {
		holes.Pix[i] = 255
	}
	new(FlowFiller).Nearest(f, holes)
	for y := range f.Height {
		for x, v := range f.Row(y) {
			if v != (flow.Vec{}) {
				t.Fatalf("vector (%d, %d) is %v", x, y, v)
			}
		}
	}
}
