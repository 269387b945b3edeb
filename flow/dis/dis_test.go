package dis

import (
	"math"
	"slices"
	"strings"
	"testing"

	"retime/flow"
	"retime/frame"
)

func open(t testing.TB, o Options, workers int) *Estimator {
	t.Helper()
	e, err := New(o, frame.Workers{N: workers})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

func estimate(t testing.TB, e *Estimator, a, b frame.Image[uint8]) (forward, backward flow.Field) {
	t.Helper()
	if err := e.Estimate(a, b, &forward, &backward, false); err != nil {
		t.Fatal(err)
	}
	for _, f := range []flow.Field{forward, backward} {
		if f.Width != a.Width || f.Height != a.Height || f.Stride != a.Width || len(f.Pix) != a.Width*a.Height {
			t.Fatalf("field of %dx%d, stride %d, %d vectors for a picture of %dx%d", f.Width, f.Height, f.Stride, len(f.Pix), a.Width, a.Height)
		}
	}
	return forward, backward
}

// compare fails unless the estimator's fields are exactly those of the reference.
func compare(t *testing.T, e *Estimator, a, b frame.Image[uint8]) {
	t.Helper()
	forward, backward := estimate(t, e, a, b)
	wantForward, wantBackward := referenceFlow(e.options, a, b)
	var halvedForward, halvedBackward flow.Field
	if err := e.Estimate(a, b, &halvedForward, &halvedBackward, true); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name      string
		got, want flow.Field
	}{
		{"forward", forward, wantForward}, {"backward", backward, wantBackward},
		{"halved forward", halvedForward, flow.Halve(wantForward)}, {"halved backward", halvedBackward, flow.Halve(wantBackward)},
	} {
		if c.got.Width != c.want.Width || c.got.Height != c.want.Height || len(c.got.Pix) != len(c.want.Pix) {
			t.Fatalf("%dx%d %+v: the %s field is %dx%d", a.Width, a.Height, e.options, c.name, c.got.Width, c.got.Height)
		}
		differ, first := 0, -1
		for i, v := range c.got.Pix {
			if v != c.want.Pix[i] {
				if first < 0 {
					first = i
				}
				differ++
			}
		}
		if differ > 0 {
			t.Errorf("%dx%d %+v: %d %s vectors differ, the first at (%d, %d): %v, want %v", a.Width, a.Height, e.options,
				differ, c.name, first%c.got.Width, first/c.got.Width, c.got.Pix[first], c.want.Pix[first])
		}
	}
}

// settings are options that differ from Default's as their names say.
var settings = []struct {
	name   string
	change func(*Options)
}{
	{"default", func(*Options) {}},
	{"quick", func(o *Options) { *o = Quick() }},
	{"means kept", func(o *Options) { o.MeanNormalization = false }},
	{"no rounds", func(o *Options) { o.Rounds = 0 }},
	{"no reach", func(o *Options) { o.Reach = 0 }},
	{"no iterations", func(o *Options) { o.Iterations = 0 }},
	{"one iteration, six rounds", func(o *Options) { o.Iterations, o.Rounds = 1, 6 }},
	{"far", func(o *Options) { o.Reach, o.CandidateDistance, o.Iterations = 9, 64, 12 }},
}

// Exact: the package comment defines every bit.
func TestReference(t *testing.T) {
	for i, s := range scenes {
		for j, v := range settings {
			// Each scene runs with half of the settings: with one of them at three levels, with the
			// others at two.
			width, height := 46, 19
			if i%len(settings) == j {
				width, height = 91, 33
			} else if (i+j)%2 == 1 {
				continue
			}
			a, b := s.pair(uint64(i), width, height)
			t.Run(s.name+", "+v.name, func(t *testing.T) {
				o := Default()
				v.change(&o)
				compare(t, open(t, o, 1), a, b)
			})
		}
	}
}

func TestReferenceStrides(t *testing.T) {
	a, b := scenes[len(scenes)-1].pair(1, 31, 26)
	for stride := 1; stride <= patchSize; stride++ {
		o := Default()
		o.Stride, o.Rounds = stride, 2
		compare(t, open(t, o, 1), a, b)
	}
}

// One estimator meets all sizes, so that remains of a larger picture would show.
func TestReferenceSizes(t *testing.T) {
	e := open(t, Default(), 1)
	for _, size := range [][2]int{
		{1, 1}, {60, 9}, {2, 1}, {1, 3}, {7, 7}, {8, 8}, {9, 8}, {8, 9}, {12, 12}, {13, 11}, {16, 16}, {17, 33},
		{23, 22}, {45, 16}, {46, 15}, {16, 46}, {5, 60}, {90, 32}, {91, 31},
	} {
		for _, i := range []int{0, 7} {
			a, b := scenes[i].pair(5, size[0], size[1])
			compare(t, e, a, b)
		}
	}
}

func TestStrides(t *testing.T) {
	a, b := scenes[7].pair(0, 61, 43)
	e := open(t, Default(), 1)
	want, wantBack := estimate(t, e, a, b)
	restride := func(m frame.Image[uint8], stride int, canary uint8) frame.Image[uint8] {
		out := frame.Image[uint8]{Width: m.Width, Height: m.Height, Stride: stride, Pix: make([]uint8, stride*(m.Height-1)+m.Width)}
		for i := range out.Pix {
			out.Pix[i] = canary
		}
		for y := range m.Height {
			copy(out.Row(y), m.Row(y))
		}
		return out
	}
	wideA, wideB := restride(a, 64, 255), restride(b, 99, 0)
	beforeA, beforeB := slices.Clone(wideA.Pix), slices.Clone(wideB.Pix)
	got, gotBack := estimate(t, e, wideA, wideB)
	if !slices.Equal(got.Pix, want.Pix) || !slices.Equal(gotBack.Pix, wantBack.Pix) {
		t.Error("the stride changes the flow")
	}
	if !slices.Equal(wideA.Pix, beforeA) || !slices.Equal(wideB.Pix, beforeB) {
		t.Error("Estimate writes to the pictures")
	}
}

func TestWorkers(t *testing.T) {
	for _, i := range []int{0, 7, 9} {
		a, b := scenes[i].pair(3, 203, 157)
		want, wantBack := estimate(t, open(t, Default(), 1), a, b)
		for _, workers := range []int{0, 2, 3, 16} {
			e := open(t, Default(), workers)
			for range 2 {
				got, gotBack := estimate(t, e, a, b)
				if !slices.Equal(got.Pix, want.Pix) || !slices.Equal(gotBack.Pix, wantBack.Pix) {
					t.Errorf("%s: %d workers change the flow", scenes[i].name, workers)
				}
			}
		}
	}
}

// The backward flow of a pair is the forward flow of the reversed pair.
func TestDirections(t *testing.T) {
	a, b := scenes[9].pair(4, 90, 70)
	e := open(t, Default(), 1)
	forward, backward := estimate(t, e, a, b)
	reversed, reversedBack := estimate(t, e, b, a)
	if !slices.Equal(forward.Pix, reversedBack.Pix) || !slices.Equal(backward.Pix, reversed.Pix) {
		t.Error("the order of the pictures changes the flow")
	}
	if slices.Equal(forward.Pix, backward.Pix) {
		t.Error("both directions are the same")
	}
}

// Exact: without rounds, forward alone is the forward flow of both.
func TestForwardAlone(t *testing.T) {
	a, b := scenes[0].pair(3, 91, 33)
	e := open(t, Local(), 2)
	want, _ := estimate(t, e, a, b)
	want.Pix = slices.Clone(want.Pix)
	var got flow.Field
	if err := e.Estimate(a, b, &got, nil, false); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Pix, want.Pix) {
		t.Error("the flow differs from that of both directions")
	}
	if err := open(t, Default(), 1).Estimate(a, b, &got, nil, false); err == nil {
		t.Error("rounds take one direction alone")
	}
}

// Within 0.1 pixel away from the border, because the search is approximate.
func TestShift(t *testing.T) {
	const margin = 24
	for _, o := range []Options{Default(), Quick()} {
		for _, v := range [][2]float64{{0, 0}, {3, -2}, {-5.5, 4.25}, {14, 11}} {
			a, b := moving("", v[0], v[1]).pair(0, 161, 123)
			forward, backward := estimate(t, open(t, o, 1), a, b)
			for y := margin; y < a.Height-margin; y++ {
				for x := margin; x < a.Width-margin; x++ {
					f, g := forward.Row(y)[x], backward.Row(y)[x]
					for _, d := range []float64{float64(f.X) - flow.One*v[0], float64(f.Y) - flow.One*v[1], float64(g.X) + flow.One*v[0], float64(g.Y) + flow.One*v[1]} {
						if math.Abs(d) > 0.1*flow.One {
							t.Fatalf("%+v: flow of %v at (%d, %d) is %v and %v", o, v, x, y, f, g)
						}
					}
				}
			}
		}
	}
}

// The cost of the worst possible patch, and the sums on the way to it, reach their limits.
func TestRanges(t *testing.T) {
	const w, h = 16, 16
	stripes := func(y, phase int) uint8 { return uint8(255 * ((y + phase) / 2 % 2)) }
	for phase := range 4 {
		a, b := frame.NewImage[uint8](w, h), frame.NewImage[uint8](w, h)
		for y := range h {
			for x := range w {
				a.Row(y)[x], b.Row(y)[x] = stripes(x, phase), 255-stripes(x, phase)
			}
		}
		for _, means := range []bool{false, true} {
			o := Default()
			o.MeanNormalization = means
			e := open(t, o, 1)
			compare(t, e, a, b)
			p := e.searches[0].patch(0, 0)
			if got := p.cost(vector{}); got != patchPixels*maxDifference*maxDifference {
				t.Errorf("cost %d", got)
			}
		}
	}
}

func TestWeight(t *testing.T) {
	for d := range maxDifference + 1 {
		m := float64(max(d, 16))
		if got, want := Weight(d), int32(max(1, math.Round((1<<20)/(m*m)))); got != want {
			t.Fatalf("weight of %d: %d, want %d", d, got, want)
		}
	}
}

func TestLevels(t *testing.T) {
	for _, c := range []struct{ w, h, n, pixelsW, pixelsH int }{
		{1, 1, 1, 8, 8}, {960, 540, 6, 30, 17}, {1920, 1080, 7, 30, 17}, {7680, 4320, 9, 30, 17},
		{32767, 32767, 11, 32, 32}, {32767, 8, 1, 32767, 8}, {32, 16, 1, 32, 16}, {46, 16, 2, 23, 8}, {45, 16, 1, 45, 16},
	} {
		all, _ := levels(nil, c.w, c.h, 4)
		if l := all[len(all)-1]; len(all) != c.n || l.width != c.pixelsW || l.height != c.pixelsH {
			t.Errorf("%dx%d: %d levels, the coarsest of %dx%d", c.w, c.h, len(all), l.width, l.height)
		}
	}
}

// The longest sides allowed, so that positions are large.
func TestLong(t *testing.T) {
	for _, size := range [][2]int{{maxSide, 8}, {8, maxSide}, {7680, 12}} {
		const dx, dy = 1.5, -0.75
		a, b := moving("", dx, dy).pair(0, size[0], size[1])
		o := Quick()
		o.Reach, o.Rounds = 2, 1
		e := open(t, o, 1)
		forward, backward := estimate(t, e, a, b)
		far := 0
		for _, v := range forward.Pix {
			if max(math.Abs(float64(v.X)-dx*flow.One), math.Abs(float64(v.Y)-dy*flow.One)) > flow.One/2 {
				far++
			}
		}
		if far > len(forward.Pix)/10 {
			t.Errorf("%v: %d of %d vectors are far from the motion", size, far, len(forward.Pix))
		}
		e.kernels = portable
		if f, g := estimate(t, e, a, b); !slices.Equal(f.Pix, forward.Pix) || !slices.Equal(g.Pix, backward.Pix) {
			t.Errorf("%v: the portable kernels find other vectors", size)
		}
	}
}

func TestOptions(t *testing.T) {
	for _, c := range []struct {
		change func(*Options)
		want   string
	}{
		{func(*Options) {}, ""},
		{func(o *Options) { o.Stride = 0 }, "stride 0"},
		{func(o *Options) { o.Stride = 9 }, "stride 9"},
		{func(o *Options) { o.Candidates = 6 }, "6 candidates"},
		{func(o *Options) { o.CandidateDistance = 0 }, "distance 0"},
		{func(o *Options) { o.CandidateDistance = 65 }, "distance 65"},
		{func(o *Options) { o.Reach = -1 }, "reach -1"},
		{func(o *Options) { o.Reach = 17 }, "reach 17"},
		{func(o *Options) { o.Rounds = -1 }, "-1 rounds"},
		{func(o *Options) { o.Rounds = 17 }, "17 rounds"},
		{func(o *Options) { o.Neighbours = 5 }, "5 neighbours"},
		{func(o *Options) { o.Iterations = -1 }, "-1 iterations"},
		{func(o *Options) { o.Iterations = 65 }, "65 iterations"},
	} {
		o := Default()
		c.change(&o)
		e, err := New(o, frame.Workers{})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want %q", o, err, c.want)
		}
		if err == nil {
			e.Close()
		}
	}
}

func TestEstimateErrors(t *testing.T) {
	ok := frame.NewImage[uint8](20, 10)
	short, narrow := ok, ok
	short.Pix = short.Pix[:199]
	narrow.Stride = 19
	e := open(t, Default(), 1)
	var f, g flow.Field
	for _, c := range []struct {
		a, b frame.Image[uint8]
		want string
	}{
		{ok, frame.NewImage[uint8](10, 20), "20x10 and 10x20 differ"},
		{frame.Image[uint8]{}, frame.Image[uint8]{}, "0x0 is empty"},
		{ok, short, "only 199 samples"},
		{ok, narrow, "stride 19"},
		{frame.NewImage[uint8](40000, 1), frame.NewImage[uint8](40000, 1), "larger than 32767"},
	} {
		if err := e.Estimate(c.a, c.b, &f, &g, false); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
	estimate(t, e, ok, ok)
	for range 2 {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := e.Estimate(ok, ok, &f, &g, false); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("closed: error %v", err)
	}
}

func TestAllocations(t *testing.T) {
	a, b := scenes[7].pair(0, 120, 90)
	e := open(t, Default(), 1)
	var f, g flow.Field
	n := testing.AllocsPerRun(5, func() {
		if err := e.Estimate(a, b, &f, &g, false); err != nil {
			t.Fatal(err)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations for a pair", n)
	}
}
