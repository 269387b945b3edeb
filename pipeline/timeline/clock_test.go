package timeline

import (
	"math/big"
	"testing"

	"retime/pipeline/timeline/rational"
)

// The places of a camera whose clock is off stay within half a frame of its timestamps, however
// long the clip is, and leave out or repeat one only when the camera is half a frame ahead or behind.
func TestLongDriftIsFollowed(t *testing.T) {
	const frames = 100_000
	for _, mean := range []*big.Rat{big.NewRat(30_004, 1000), big.NewRat(29_997, 1000), big.NewRat(30, 1)} {
		v := Video{
			TimeBase: big.NewRat(1, 90000), Start: new(big.Rat), Rate: big.NewRat(30, 1),
			Grid: &Grid{Rate: big.NewRat(30, 1), Mean: mean, First: new(big.Rat), Middle: new(big.Rat), Tolerance: big.NewRat(1, 240)},
		}
		c := NewClock(v)
		half := big.NewRat(1, 60)
		slips := map[int64]int{}
		last := int64(-1)
		for k := int64(0); k < frames; k += 37 {
			jitter := (k*k*7919)%361 - 180 // 2 ms
			pts := rational.Floor(new(big.Rat).Quo(big.NewRat(k*90000, 1), mean)) + max(jitter, -k)
			place := new(big.Rat).Mul(c.At(pts), v.Rate)
			if !place.IsInt() {
				t.Fatalf("mean %s: frame %d stands at place %s", mean.RatString(), k, place.RatString())
			}
			if off := new(big.Rat).Sub(c.At(pts), c.Exact(pts)); off.Abs(off).Cmp(new(big.Rat).Add(half, big.NewRat(3, 1000))) > 0 {
				t.Fatalf("mean %s: frame %d is moved by %s s", mean.RatString(), k, off.FloatString(4))
			}
			at := place.Num().Int64()
			if at < last {
				t.Fatalf("mean %s: frame %d goes back", mean.RatString(), k)
			}
			slips[at-k]++
			last = at
		}
		want := 1
		if mean.Cmp(v.Rate) != 0 {
			d := new(big.Rat).Sub(new(big.Rat).Quo(new(big.Rat).Mul(big.NewRat(frames, 1), v.Rate), mean), big.NewRat(frames, 1))
			want = int(Round(d.Abs(d))) + 1
		}
		if len(slips) != want {
			t.Errorf("mean %s: the places are off by %d different numbers of frames, want %d", mean.RatString(), len(slips), want)
		}
	}
}
