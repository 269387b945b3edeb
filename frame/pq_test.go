package frame

import (
	"math"
	"testing"
)

// The signals are the two ends and those in table 1 of ITU-R BT.2408.
func TestPQ(t *testing.T) {
	for _, c := range []struct{ luminance, signal float64 }{{0, 0}, {100, 0.51}, {203, 0.58}, {1000, 0.75}, {PQPeak, 1}} {
		got := PQSignal(c.luminance / PQPeak)
		if math.Abs(got-c.signal) > 0.005 {
			t.Errorf("%v cd/m²: signal %.4f, want %.2f", c.luminance, got, c.signal)
		}
		if back := PQPeak * PQLuminance(got); math.Abs(back-c.luminance) > 1e-6*max(1, c.luminance) {
			t.Errorf("%v cd/m² comes back as %v", c.luminance, back)
		}
	}
}
