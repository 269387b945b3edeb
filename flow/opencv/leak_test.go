package opencv

import (
	"fmt"
	"os"
	"testing"

	"retime/flow"
)

// resident returns the memory that the process has in use, in bytes.
func resident(t *testing.T) int {
	t.Helper()
	stat, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skipf("no /proc/self/statm to read the memory in use from: %v", err)
	}
	var size, pages int
	if _, err := fmt.Sscan(string(stat), &size, &pages); err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}

// Estimators give back all memory of OpenCV's. Were but one full-size matrix of
// each lost, it would come to several times the bound.
func TestLeaks(t *testing.T) {
	const w, h, passes, bound = 320, 180, 40, 4 << 20
	a, b := texture(w, h, 0, 0), texture(w, h, 2, 1)
	small, moved := texture(30, 20, 0, 0), texture(30, 20, 1, 0)
	var f flow.Field
	pass := func(v variant) {
		e, err := v.open()
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		for range 2 {
			if err := e.Estimate(small, moved, &f); err != nil {
				t.Fatal(err)
			}
			if err := e.Estimate(a, b, &f); err != nil {
				t.Fatal(err)
			}
		}
		if err := e.Estimate(a, small, &f); err == nil {
			t.Fatal("pictures of different sizes were taken")
		}
	}
	quick := []variant{
		dis("quick", UltraFast, func(o *DISOptions) { o.GradientDescentIterations, o.FinestScale = 1, 0 }),
		dis("quick upsampled", UltraFast, func(o *DISOptions) { o.GradientDescentIterations, o.Upsample = 1, true }),
		{"Farneback", 0, 0, func() (estimator, error) {
			return NewFarneback(FarnebackOptions{PyramidScale: 0.5, WindowSize: 3, Iterations: 1, PolyN: 3, PolySigma: 1})
		}},
	}
	for _, v := range quick {
		for range 10 {
			pass(v)
		}
		before := resident(t)
		for range passes {
			pass(v)
		}
		if grown := resident(t) - before; grown > bound {
			t.Errorf("%s: %d KiB more in use after %d estimators", v.name, grown>>10, passes)
		}
	}
}
