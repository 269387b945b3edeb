package measure

import (
	"math"
	"math/rand/v2"
	"testing"

	"retime/flow"
	"retime/frame"
)

// The error counts where a flow diverges: everywhere if it zooms, nowhere if it is a pan, a turn or
// a shear, and only in the half that zooms.
func TestDivergentMSE(t *testing.T) {
	const width, height = 12, 10
	format := frame.Format{Name: "gray", Depth: 8, Planes: 1}
	truth, made := frame.New(format, width, height), frame.New(format, width, height)
	for y, p := 0, frame.Samples[uint8](made.Planes[0]); y < height; y++ {
		for x := range width {
			p.Row(y)[x] = 2 // and 4 to the right
			if x >= width/2 {
				p.Row(y)[x] = 4
			}
		}
	}
	for name, c := range map[string]struct {
		at   func(x, y int) flow.Vec
		want float64
	}{
		"still":                   {func(int, int) flow.Vec { return flow.Vec{} }, math.NaN()},
		"pan":                     {func(int, int) flow.Vec { return flow.Vec{X: 700, Y: -300} }, math.NaN()},
		"turn":                    {func(x, y int) flow.Vec { return flow.Vec{X: int32(-9 * y), Y: int32(9 * x)} }, math.NaN()},
		"shear":                   {func(_, y int) flow.Vec { return flow.Vec{X: int32(9 * y)} }, math.NaN()},
		"stretched one way":       {func(x, y int) flow.Vec { return flow.Vec{X: int32(9 * x), Y: int32(-9 * y)} }, math.NaN()},
		"zoom":                    {func(x, y int) flow.Vec { return flow.Vec{X: int32(9 * x), Y: int32(9 * y)} }, 10},
		"zoom out":                {func(x, y int) flow.Vec { return flow.Vec{X: int32(-9 * x), Y: int32(-9 * y)} }, 10},
		"zoom to the right":       {func(x, _ int) flow.Vec { return flow.Vec{X: int32(9 * max(x-width/2-1, 0))} }, 16},
		"a hundredth to the left": {func(x, _ int) flow.Vec { return flow.Vec{X: int32(x + 99*max(x-width/2-1, 0))} }, 16},
		"two to the left":         {func(x, _ int) flow.Vec { return flow.Vec{X: int32(2*x + 98*max(x-width/2-1, 0))} }, 10},
	} {
		d := &divergence{}
		d.flows[0] = flow.NewField(width, height)
		for y := range height {
			for x := range width {
				d.flows[0].Row(y)[x] = c.at(x, y)
			}
		}
		if got := divergentMSE[uint8](d, truth, made); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Between the made frame and the next one, a square moves over a still ground. Errors at its border
// count, and those far from it do not.
func TestDivergentMSEOfFrames(t *testing.T) {
	const size = 96
	r := rand.New(rand.NewPCG(7, 1))
	var ground, square [size][size]uint16
	for y := range size {
		for x := range size {
			ground[y][x], square[y][x] = uint16(60+r.IntN(60)), uint16(140+r.IntN(100))
		}
	}
	for _, format := range []frame.Format{{Name: "gray", Depth: 8, Planes: 1}, {Name: "gray10le", Depth: 10, Planes: 1}} {
		shift := format.Depth - 8
		picture := func(at int, wrong func(x, y int) bool) *frame.Frame {
			f := frame.New(format, size, size)
			for y := range size {
				for x := range size {
					v := ground[y][x]
					if x >= at && x < at+24 && y >= 20 && y < 44 {
						v = square[y][x-at]
					}
					if wrong(x, y) {
						v += 5
					}
					if shift == 0 {
						frame.Samples[uint8](f.Planes[0]).Row(y)[x] = uint8(v)
					} else {
						frame.Samples[uint16](f.Planes[0]).Row(y)[x] = v << shift
					}
				}
			}
			return f
		}
		right := func(int, int) bool { return false }
		truth, next := picture(20, right), picture(24, right)
		m := &Meter{workers: frame.Workers{N: 2}}
		measure := func(made, next *frame.Frame) float64 {
			mse, err := m.DivergentMSE(truth, made, next)
			if err != nil {
				t.Fatal(err)
			}
			return mse
		}
		if got := measure(truth, truth); !math.IsNaN(got) {
			t.Errorf("%s, still: %v", format.Name, got)
		}
		if got := measure(truth, next); got != 0 {
			t.Errorf("%s, right: %v", format.Name, got)
		}
		if got := measure(picture(20, func(_, y int) bool { return y >= 80 }), next); got != 0 {
			t.Errorf("%s, wrong far from the square: %v", format.Name, got)
		}
		one := float64(int(25) << (2 * shift))
		if got := measure(picture(20, func(x, y int) bool { return y < 70 }), next); got != one {
			t.Errorf("%s, wrong around the square: %v, want %v", format.Name, got, one)
		}
	}
}
