package warp

import (
	"fmt"
	"math"
	"testing"

	"retime/frame"
	"retime/warp/boxspline/fast"
	"retime/warp/boxspline/lattice"
	"retime/warp/bspline"
)

// The weights of every fraction are those of the generated code of the element. Exact,
// because no product or sum of either is rounded.
func TestZwartPowellWeights(t *testing.T) {
	const side = 8
	for place := range 16 {
		// One coefficient of the four by four is 1.
		s, err := lattice.NewSamples(lattice.Square, lattice.WholeSymmetric, lattice.Point{side, side})
		if err != nil {
			t.Fatal(err)
		}
		s.Set(lattice.Point{2 + place%4, 2 + place/4}, 1)
		g := fast.NewGrid[float64](s, false)
		var xs, ys, want [positionOne]float64
		for fy := range positionOne {
			for fx := range positionOne {
				xs[fx], ys[fx] = 3+float64(fx)/positionOne, 3+float64(fy)/positionOne
			}
			fast.ZP(g, want[:], xs[:], ys[:])
			for fx := range positionOne {
				var w [7]float32
				var at [7]int
				zpWeights(uint8(fx), uint8(fy), 4, &w, &at)
				got := float32(0)
				for k := range w {
					if at[k] == place {
						got += w[k]
					}
				}
				if float64(got) != want[fx] {
					t.Fatalf("coefficient %d at (%d, %d)/256: %v, want %v", place, fx, fy, got, want[fx])
				}
			}
		}
	}
}

// A parabola comes back from its coefficients, in blocks of every size.
func TestZwartPowellReproducesParabolas(t *testing.T) {
	const side = 24
	value := func(x, y float64) float64 { return 3*x*x - 2*x*y + y*y + 5 }
	img := frame.NewImage[uint16](side, side)
	for y := range side {
		for x := range side {
			img.Row(y)[x] = uint16(value(float64(x), float64(y)))
		}
	}
	c := coefficients{kernel: ZwartPowell}
	if err := load(&c, frame.Workers{N: 1}, img, nil); err != nil {
		t.Fatal(err)
	}
	for _, g := range []geometry{{width: 1, height: 1}, {width: 2, height: 2}, {width: 4, height: 2}} {
		for _, at := range [][2]int32{{2070, 2570}, {2050, 2815}, {2300, 2300}} {
			var sums [maxBlock]float32
			accumulate(&sums, img, &c, nil, at[0], at[1], 1, g)
			for j := range g.height {
				for i := range g.width {
					want := value(float64(at[0])/positionOne+float64(i), float64(at[1])/positionOne+float64(j))
					if got := sums[j*g.width+i]; math.Abs(float64(got)-want) > 1e-3 {
						t.Errorf("%v at %v + (%d, %d): %v, want %v", g, at, i, j, got, want)
					}
				}
			}
		}
	}
}

// BenchmarkSampling reads blocks of samples along random motions, by each kernel.
func BenchmarkSampling(b *testing.B) {
	img := frame.NewImage[uint8](640, 360)
	for i := range img.Pix {
		img.Pix[i] = uint8(i * i >> 7)
	}
	filter, err := bspline.NewPrefilter[float32](bspline.Cubic, bspline.WholeSymmetric, precision)
	if err != nil {
		b.Fatal(err)
	}
	taps := newTaps(bspline.Cubic)
	for _, side := range []int{1, 2, 4} {
		for _, kernel := range []Kernel{BSpline, ZwartPowell} {
			c := coefficients{kernel: kernel}
			if err := load(&c, frame.Workers{N: 1}, img, filter); err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("%dx%d/%s", side, side, kernel), func(b *testing.B) {
				var sums [maxBlock]float32
				g := geometry{width: side, height: side}
				for i := range b.N {
					x, y := int32(i*263%(600<<positionBits)), int32(i/600*257%(300<<positionBits))
					accumulate(&sums, img, &c, taps, x, y, 1, g)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*side*side), "ns/sample")
			})
		}
	}
}
