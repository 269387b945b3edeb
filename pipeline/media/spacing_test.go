package media

import (
	"math"
	"math/big"
	"testing"
)

// timesOf returns timestamps in units of 1/ticks s, after distances in frames at rate,
// again and again for n frames.
func timesOf(rate float64, ticks int64, n int, distances ...float64) []int64 {
	at, times := 0.0, []int64{0}
	for i := range n {
		at += distances[i%len(distances)] / rate
		times = append(times, int64(math.Round(at*float64(ticks))))
	}
	return times
}

// A clip's rate does not depend on the unit of its timestamps.
func TestSpacing(t *testing.T) {
	for _, c := range []struct {
		name      string
		rate      float64
		distances []float64
		want      string
		varies    bool
	}{
		{"constant", 24, []float64{1}, "24", false},
		{"dropped frames", 30000. / 1001, []float64{1, 1, 2, 1, 3}, "30000/1001", true},
		{"mostly dropped frames", 30, []float64{1, 2, 3, 2, 1, 4, 1}, "30", true},
		{"two rates, more of the lower", 24, []float64{1, 1, 1, 0.8}, "24", true},
		{"two rates, more of the higher", 60000. / 1001, []float64{1, 1, 1, 2.5}, "60000/1001", true},
		{"multiples, equally frequent", 50, []float64{1, 2}, "50", true},
		{"soft telecine", 60000. / 1001, []float64{2, 3}, "24000/1001", true},
		{"jitter", 30, []float64{1.02, 0.98, 1.01, 0.99, 1, 1, 2}, "30", true},
		{"half a frame", 12.5, []float64{1, 1, 2}, "25/2", true},
		{"a rate of its own", 17.3, []float64{1, 1, 2}, "173/10", true},
	} {
		for _, ticks := range []int64{1000, 30000, 90000, 1000000} {
			s := spacing(timesOf(c.rate, ticks, 700, c.distances...), big.NewRat(1, ticks))
			if s.Rate == nil || s.Rate.RatString() != c.want || s.Varies != c.varies {
				t.Errorf("%s in 1/%d s: rate %v, varies %t; want %s, %t", c.name, ticks, s.Rate, s.Varies, c.want, c.varies)
			}
		}
	}
	for _, times := range [][]int64{nil, {5}, {5, 6}} {
		if s := spacing(times, big.NewRat(1, 1000)); s.Rate != nil || s.Varies {
			t.Errorf("%d timestamps tell a rate of %s", len(times), s.Rate)
		}
	}
}
