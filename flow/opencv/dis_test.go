//go:build !noopencv

package opencv

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"retime/flow"
)

func TestDISOptions(t *testing.T) {
	nan := float32(math.NaN())
	tests := []struct {
		change func(*DISOptions)
		want   string
	}{
		{func(o *DISOptions) {}, ""},
		{func(o *DISOptions) { o.FinestScale = 30 }, ""},
		{func(o *DISOptions) { o.FinestScale = -1 }, "finest scale"},
		{func(o *DISOptions) { o.PatchSize = 3 }, "patch size"},
		{func(o *DISOptions) { o.PatchSize = 17 }, "patch size"},
		{func(o *DISOptions) { o.PatchStride = 0 }, "patch stride"},
		{func(o *DISOptions) { o.PatchStride = 9 }, "patch stride"},
		{func(o *DISOptions) { o.GradientDescentIterations = 0 }, "gradient descent"},
		{func(o *DISOptions) { o.VariationalRefinementIterations = -1 }, "refinement iterations"},
		{func(o *DISOptions) { o.VariationalRefinementIterations = 1 << 20 }, "refinement iterations"},
		{func(o *DISOptions) { o.Alpha = -1 }, "weight"},
		{func(o *DISOptions) { o.Gamma = nan }, "weight"},
		{func(o *DISOptions) { o.Delta = float32(math.Inf(1)) }, "weight"},
	}
	for i, tt := range tests {
		o := Medium.Options()
		tt.change(&o)
		d, err := NewDIS(o)
		if err == nil {
			d.Close()
		}
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("case %d: error %v, want %q", i, err, tt.want)
		}
	}
}

// The plan must leave OpenCV nothing to choose. The test computes OpenCV's coarsest
// level from logarithms, as OpenCV does.
func TestDISPlan(t *testing.T) {
	const seed = 3
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 20000 {
		o := DISOptions{FinestScale: rng.IntN(12), PatchSize: 4 + rng.IntN(13), Upsample: rng.IntN(2) == 1}
		zoom := 1
		if o.Upsample {
			zoom = 2
		}
		side := func() int { return 1 + rng.IntN(1<<(1+rng.IntN(15)))%(maxSide/zoom) }
		width, height := side(), side()
		id := fmt.Sprintf("%dx%d %+v", width, height, o)
		w, h, finest, err := o.plan(width, height)
		if err != nil {
			if max(width, height)*zoom < 10000 {
				t.Fatalf("%s: %v", id, err)
			}
			continue
		}
		if w < width || h < height || finest < 0 || finest > o.FinestScale {
			t.Fatalf("%s: planned %dx%d, finest %d", id, w, h, finest)
		}
		if zoom*w%(1<<finest) != 0 || zoom*h%(1<<finest) != 0 {
			t.Fatalf("%s: %dx%d upsampled %d times is no multiple of 2^%d", id, w, h, zoom, finest)
		}
		long, short := zoom*max(w, h), zoom*min(w, h)
		level := min(int(math.Log(float64(long)/float64(4*o.PatchSize))/math.Log(2)+0.5),
			int(math.Log(float64(short/o.PatchSize))/math.Log(2)))
		if level < finest || level > maxLevel || level != coarsest(zoom*w, zoom*h, o.PatchSize) {
			t.Fatalf("%s: coarsest level %d by logarithms, %d planned, finest %d", id, level, coarsest(zoom*w, zoom*h, o.PatchSize), finest)
		}
		if finest < o.FinestScale && level > finest+1 {
			t.Fatalf("%s: finest level %d, though %d levels fit", id, finest, level)
		}
	}
	for _, tt := range []struct {
		o    DISOptions
		w, h int
		want string
	}{
		{DISOptions{PatchSize: 8}, maxSide + 1, 1, "larger than 32766"},
		{DISOptions{PatchSize: 8, Upsample: true}, 3, 16384, "larger than 16383"},
		{DISOptions{PatchSize: 4, Upsample: true}, 15360, 8640, "pyramid levels"},
	} {
		if _, _, _, err := tt.o.plan(tt.w, tt.h); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%dx%d %+v: error %v, want %q", tt.w, tt.h, tt.o, err, tt.want)
		}
	}
}

// At sizes around the steps of the pyramid, OpenCV must keep the planned parameters; an
// error from OpenCV would say that it did not.
func TestDISKeepsParameters(t *testing.T) {
	for _, patch := range []int{4, 8, 16} {
		o := UltraFast.Options()
		o.PatchSize, o.PatchStride, o.FinestScale = patch, patch, 30
		d, err := NewDIS(o)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		for _, base := range []int{1, 3 * patch, 4 * patch, 6 * patch, 12 * patch, 23 * patch, 32 * patch} {
			for w := max(1, base-1); w <= base+1; w++ {
				for _, h := range []int{1, patch, 2*patch - 1, 2 * patch, 4*patch + 1, w} {
					estimate(t, d, constant(w, h, 9), constant(w, h, 9))
				}
			}
		}
	}
}

func TestEstimateFrom(t *testing.T) {
	// The pyramid of such a small picture is too low for a motion this large.
	const w, h, dx, dy = 96, 80, 30, -21
	a, b := texture(w, h, 0, 0), texture(w, h, dx, dy)
	initial := flow.NewField(w, h)
	for i := range initial.Pix {
		initial.Pix[i] = flow.Vec{X: dx*flow.One + 100, Y: dy*flow.One - 100}
	}
	initial.Pix[0] = flow.Unknown
	for _, upsample := range []bool{false, true} {
		o := Medium.Options()
		o.FinestScale, o.Upsample = 0, upsample
		d, err := NewDIS(o)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		count := func(f flow.Field) (good int) {
			for y := 30; y < h-10; y++ {
				for x := 10; x < w-dx-10; x++ {
					v := f.Row(y)[x]
					if math.Hypot(float64(v.X)/flow.One-dx, float64(v.Y)/flow.One-dy) < 0.2 {
						good++
					}
				}
			}
			return good
		}
		all := (h - 40) * (w - dx - 20)
		if n := count(estimate(t, d, a, b)); n > all/2 {
			t.Fatalf("upsample %v: %d of %d vectors found without help: the case proves nothing", upsample, n, all)
		}
		var got flow.Field
		if err := d.EstimateFrom(a, b, initial, &got); err != nil {
			t.Fatal(err)
		}
		if n := count(got); n < all*9/10 {
			t.Errorf("upsample %v: %d of %d vectors found from the initial flow", upsample, n, all)
		}
		same := flow.Field{Image: initial.Image}
		same.Pix = slices.Clone(initial.Pix)
		if err := d.EstimateFrom(a, b, same, &same); err != nil || !slices.Equal(same.Pix, got.Pix) {
			t.Errorf("upsample %v: initial flow as destination: error %v, or another result", upsample, err)
		}
		if err := d.EstimateFrom(a, b, flow.NewField(w, h+1), &got); err == nil {
			t.Error("an initial flow of another size was taken")
		}
	}
}

func TestFarnebackOptions(t *testing.T) {
	tests := []struct {
		change func(*FarnebackOptions)
		want   string
	}{
		{func(o *FarnebackOptions) {}, ""},
		{func(o *FarnebackOptions) { o.Levels, o.WindowSize, o.Iterations = 0, 1, 1 }, ""},
		{func(o *FarnebackOptions) { o.PyramidScale = 1 }, "pyramid scale"},
		{func(o *FarnebackOptions) { o.PyramidScale = math.NaN() }, "pyramid scale"},
		{func(o *FarnebackOptions) { o.Levels = -1 }, "levels"},
		{func(o *FarnebackOptions) { o.WindowSize = 0 }, "window"},
		{func(o *FarnebackOptions) { o.Iterations = 0 }, "iterations"},
		{func(o *FarnebackOptions) { o.PolyN = 2 }, "neighbourhood"},
		{func(o *FarnebackOptions) { o.PolySigma = 0 }, "sigma"},
	}
	for i, tt := range tests {
		o := DefaultFarneback()
		tt.change(&o)
		e, err := NewFarneback(o)
		if err == nil {
			estimate(t, e, constant(40, 30, 5), constant(40, 30, 5))
			e.Close()
		}
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("case %d: error %v, want %q", i, err, tt.want)
		}
	}
}

func BenchmarkDIS720p(b *testing.B) {
	setThreads(b, 1)
	defer setThreads(b, 0)
	first, second := texture(1280, 720, 0, 0), texture(1280, 720, 7, -5)
	for _, upsample := range []bool{false, true} {
		for finest := range 3 {
			o := Medium.Options()
			o.FinestScale, o.Upsample = finest, upsample
			if upsample && finest == 0 {
				continue
			}
			b.Run(fmt.Sprintf("finest=%d/upsample=%v", finest, upsample), func(b *testing.B) {
				d, err := NewDIS(o)
				if err != nil {
					b.Fatal(err)
				}
				defer d.Close()
				var f flow.Field
				for b.Loop() {
					if err := d.Estimate(first, second, &f); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkFarneback720p(b *testing.B) {
	setThreads(b, 1)
	defer setThreads(b, 0)
	first, second := texture(1280, 720, 0, 0), texture(1280, 720, 7, -5)
	e, err := NewFarneback(DefaultFarneback())
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	var f flow.Field
	for b.Loop() {
		if err := e.Estimate(first, second, &f); err != nil {
			b.Fatal(err)
		}
	}
}
