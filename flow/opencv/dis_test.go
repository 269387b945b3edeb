//go:build !noopencv

package opencv

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"retime/flow"
)

// The padding must leave OpenCV nothing to choose. The test computes OpenCV's coarsest
// level from logarithms, as OpenCV does.
func TestDISPadding(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 0))
	for range 20000 {
		side := func() int { return 1 + rng.IntN(1<<(1+rng.IntN(15)))%maxSide }
		width, height := side(), side()
		w, h, err := padded(width, height)
		if err != nil {
			if max(width, height) < 10000 {
				t.Fatalf("%dx%d: %v", width, height, err)
			}
			continue
		}
		long, short := max(w, h), min(w, h)
		level := min(int(math.Log(float64(long)/(4*patch))/math.Log(2)+0.5), int(math.Log(float64(short/patch))/math.Log(2)))
		if w < width || h < height || level < 0 || level > maxLevel || level != coarsest(w, h) {
			t.Fatalf("%dx%d padded to %dx%d: coarsest level %d by logarithms, %d", width, height, w, h, level, coarsest(w, h))
		}
	}
	if _, _, err := padded(maxSide, 20000); err == nil || !strings.Contains(err.Error(), "pyramid levels") {
		t.Errorf("a picture with too many levels: %v", err)
	}
}

// At sizes around the steps of the pyramid, OpenCV must keep the parameters; an
// error from OpenCV would say that it did not.
func TestDISKeepsParameters(t *testing.T) {
	d := open(t, newDIS)
	for _, base := range []int{1, 3 * patch, 4 * patch, 6 * patch, 12 * patch, 23 * patch, 32 * patch} {
		for w := max(1, base-1); w <= base+1; w++ {
			for _, h := range []int{1, patch, 2*patch - 1, 2 * patch, 4*patch + 1, w} {
				estimate(t, d, constant(w, h, 9), constant(w, h, 9))
			}
		}
	}
}

func BenchmarkEstimate720p(b *testing.B) {
	setThreads(b, 1)
	defer setThreads(b, 0)
	first, second := texture(1280, 720, 0, 0), texture(1280, 720, 7, -5)
	for _, m := range methods {
		b.Run(m.name, func(b *testing.B) {
			e := open(b, m.open)
			var f flow.Field
			for b.Loop() {
				if err := e.Estimate(first, second, &f); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
