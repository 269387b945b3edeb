package bspline

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"retime/frame"
)

var boundaries = []Boundary{HalfSymmetric, WholeSymmetric, Periodic, Constant}

// sizes include single samples, signals shorter than any truncation index, odd
// tiles, and lines of several subregions.
var sizes = [][2]int{{1, 1}, {1, 2}, {3, 1}, {2, 4}, {5, 3}, {17, 31}, {64, 9}, {513, 257}}

// epsilon is the distance from 1 to the next larger T.
func epsilon[T Float]() float64 {
	e := T(1)
	for 1+e/2 != 1 {
		e /= 2
	}
	return float64(e)
}

// floor returns a bound on the relative error that rounding alone causes. The coefficients of a
// picture that alternates from sample to sample are larger than its samples by a factor of 1/ρ in
// each direction, and summing them loses as much precision.
func floor[T Float](order Order) float64 {
	rho := stability(Poles(order))
	return epsilon[T]() * (4 + 1.5/float64(rho*rho))
}

// coefficients prefilters a copy of img, and returns it and its margin.
func coefficients[T Float](t *testing.T, workers int, img frame.Image[T], order Order, b Boundary, precision float64) (frame.Image[T], int) {
	t.Helper()
	p, err := NewPrefilter[T](order, b, precision)
	if err != nil {
		t.Fatal(err)
	}
	w := frame.Workers{N: workers}
	c := Extend(w, img, p.Margin())
	if err := p.Apply(w, c); err != nil {
		t.Fatal(err)
	}
	return c, p.Margin()
}

// Within the given precision, because the truncated initialisations leave an error of that size;
// the reference's initialisations are exact.
func TestPrefilterIsTheReferenceWithinPrecision(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, size := range sizes {
		img := noise[float64](rng, size[0], size[1])
		for order := Order(2); order <= 11; order++ {
			for _, b := range boundaries {
				if len(img.Pix) > 10000 && order != 3 && order != 8 {
					continue
				}
				want := referenceCoefficients(order, b, img)
				for _, precision := range []float64{1e-2, 1e-6, 1e-12} {
					got, margin := coefficients(t, 1, img, order, b, precision)
					scale := Normalization(order) * Normalization(order)
					var worst float64
					for y := range img.Height {
						for x := range img.Width {
							d := got.Row(y + margin)[x+margin]*scale - want.Row(y)[x]
							worst = max(worst, math.Abs(d))
						}
					}
					if worst > precision+floor[float64](order) {
						t.Errorf("order %v, %v, %v, precision %g: coefficients are off by %g", order, b, size, precision, worst)
					}
				}
			}
		}
	}
}

// Exact: tiles, transposition and registers must not affect the result. The reference
// filters one line at a time, subregion by subregion, as the package documentation and
// [Region] define.
func TestPrefilterIsTheScalarFormBitForBit(t *testing.T) {
	t.Run("float32", testScalarForm[float32])
	t.Run("float64", testScalarForm[float64])
}

func testScalarForm[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, size := range append(sizes, [2]int{3, 1000}, [2]int{270, 35}) {
		img := noise[T](rng, size[0], size[1])
		for _, order := range []Order{2, 3, 7} {
			for _, b := range boundaries[:3] {
				got, _ := coefficients(t, 1, img, order, b, 1e-6)
				want := Extend(frame.Workers{N: 1}, img, 0)
				line := make([]T, img.Height)
				for x := range img.Width {
					for y := range line {
						line[y] = want.Row(y)[x]
					}
					scalarFilter(order, b, 1e-6, line)
					for y, v := range line {
						want.Row(y)[x] = v
					}
				}
				for y := range img.Height {
					scalarFilter(order, b, 1e-6, want.Row(y))
				}
				for i, v := range got.Pix {
					if v != want.Pix[i] {
						t.Fatalf("order %v, %v, %v: %v at sample %d, want %v", order, b, size, v, i, want.Pix[i])
					}
				}
			}
		}
	}
}

// scalarFilter runs algorithm 7 on one line.
func scalarFilter[T Float](order Order, b Boundary, precision float64, s []T) {
	poles := Poles(order)
	for i, n := range truncation(poles, precision) {
		z := T(poles[i])
		before := append([]T(nil), s...)
		for start := 0; start < len(s); start += Region {
			var c T
			for j := start - n; j < start; j++ {
				c = before[b.Index(j, len(s))] + T(z*c)
			}
			for j := start; j < min(start+Region, len(s)); j++ {
				c = before[j] + T(z*c)
				s[j] = c
			}
		}
		copy(before, s)
		last := len(s) - 1
		var border T
		switch b {
		case HalfSymmetric:
			border = T(poles[i]/(poles[i]-1)) * before[last]
		case WholeSymmetric:
			border = T(poles[i]/(float64(poles[i]*poles[i])-1)) * (before[last] + T(z*before[max(0, last-1)]))
		case Periodic:
			for j := n - 1; j >= 0; j-- {
				border = before[j%len(s)] + T(z*border)
			}
			border = -z * (before[last] + T(z*border))
		}
		for start := 0; start < len(s); start += Region {
			end := min(start+Region, len(s))
			var c T
			from := end + n - 1
			if from >= last {
				c, from = border, last-1
			}
			if end == len(s) {
				s[last] = border
			}
			for j := from; j >= start; j-- {
				c = z * (c - before[j])
				if j < end {
					s[j] = c
				}
			}
		}
	}
}

func TestPrefilterDoesNotDependOnWorkers(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	// The narrow pictures have more subregions than tiles.
	for _, size := range [][2]int{{513, 257}, {5, 1500}, {1500, 5}, {33, 1100}} {
		img := noise[float32](rng, size[0], size[1])
		for _, b := range boundaries {
			want, _ := coefficients(t, 1, img, 5, b, 1e-6)
			for _, workers := range []int{2, 8} {
				got, _ := coefficients(t, workers, img, 5, b, 1e-6)
				if !slices.Equal(got.Pix, want.Pix) {
					t.Errorf("%v, %v: %d workers differ from 1", b, size, workers)
				}
			}
		}
	}
}

func TestPrefilterKeepsToTheImage(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	const width, height, stride, canary = 37, 21, 50, 12345
	img := noise[float32](rng, width, height)
	pix := make([]float32, stride*height+20)
	for i := range pix {
		pix[i] = canary
	}
	padded := frame.Image[float32]{Width: width, Height: height, Stride: stride, Pix: pix[10 : 10+stride*(height-1)+width]}
	for y := range height {
		copy(padded.Row(y), img.Row(y))
	}
	p, err := NewPrefilter[float32](3, WholeSymmetric, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []frame.Image[float32]{img, padded} {
		if err := p.Apply(frame.Workers{N: 2}, m); err != nil {
			t.Fatal(err)
		}
	}
	for i, v := range pix {
		x, y := (i-10)%stride, (i-10)/stride
		want := float32(canary)
		if i >= 10 && x < width && y < height {
			want = img.Row(y)[x]
		}
		if v != want {
			t.Fatalf("element %d is %v, want %v", i, v, want)
		}
	}
}

func TestPrefilterReusesItsScratch(t *testing.T) {
	img := frame.NewImage[float32](300, 40)
	p, err := NewPrefilter[float32](3, WholeSymmetric, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	run := func() { _ = p.Apply(frame.Workers{N: 1}, img) }
	run()
	tiles := len(p.scratch)
	allocs := testing.AllocsPerRun(5, run)
	if len(p.scratch) != tiles || allocs > 10 {
		t.Errorf("%d tiles after %d, %v allocations per run", len(p.scratch), tiles, allocs)
	}
}

func TestPrefilterRejects(t *testing.T) {
	for _, test := range []struct {
		order     Order
		b         Boundary
		precision float64
	}{
		{-2, HalfSymmetric, 1e-6},
		{17, HalfSymmetric, 1e-6},
		{3, -1, 1e-6},
		{3, 4, 1e-6},
		{3, Periodic, 0},
		{3, Periodic, -1},
		{3, Periodic, math.NaN()},
		{3, Periodic, math.Inf(1)},
	} {
		if _, err := NewPrefilter[float32](test.order, test.b, test.precision); err == nil {
			t.Errorf("%+v: no error", test)
		}
	}
	p, err := NewPrefilter[float32](3, Constant, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	for _, img := range []frame.Image[float32]{
		{Width: -1, Height: 5},
		{Width: 4, Height: 4, Stride: 3, Pix: make([]float32, 16)},
		{Width: 4, Height: 4, Stride: 4, Pix: make([]float32, 15)},
		{Width: 4, Height: 1 << 62, Stride: 4, Pix: make([]float32, 16)},
		frame.NewImage[float32](2*p.Margin(), 100),
	} {
		if err := p.Apply(frame.Workers{}, img); err == nil {
			t.Errorf("%dx%d, stride %d: no error", img.Width, img.Height, img.Stride)
		}
	}
	if err := p.Apply(frame.Workers{}, frame.Image[float32]{}); err == nil {
		t.Error("empty image has no room for a margin: no error")
	}
}

func BenchmarkPrefilter(b *testing.B) {
	for _, size := range [][2]int{{320, 180}, {1920, 1080}, {3840, 2160}, {4608, 3456}} {
		for _, order := range []Order{3, 11} {
			b.Run(fmt.Sprintf("order=%d/size=%dx%d", order, size[0], size[1]), func(b *testing.B) {
				p, err := NewPrefilter[float32](order, WholeSymmetric, 1e-6)
				if err != nil {
					b.Fatal(err)
				}
				img := frame.NewImage[float32](size[0], size[1])
				for b.Loop() {
					for i := range img.Pix {
						img.Pix[i] = float32(i & 255)
					}
					if err := p.Apply(frame.Workers{N: 1}, img); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(len(img.Pix)*b.N), "ns/px")
			})
		}
	}
}
