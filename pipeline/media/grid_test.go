package media

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// shot returns timestamps in units of 1/ticks s of n pictures at rate, each up to jitter seconds off.
func shot(rate float64, ticks int64, n int, jitter float64) []int64 {
	random := rand.New(rand.NewPCG(1, 2))
	var times []int64
	for k := range n {
		at := 1 + float64(k)/rate + jitter*(2*random.Float64()-1)
		times = append(times, int64(math.Round(at*float64(ticks))))
	}
	return times
}

func rat(t testing.TB, s string) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		t.Fatalf("no rate: %s", s)
	}
	return r
}

// The rate at which pictures were shot is found, whatever the container's ticks and the camera's
// jitter, and whatever rate the container states.
func TestRegularity(t *testing.T) {
	for _, rate := range []string{"24000/1001", "24", "25", "30000/1001", "30", "50", "60000/1001", "60", "120000/1001", "120"} {
		want := rat(t, rate)
		fps, _ := want.Float64()
		for _, ticks := range []int64{1000, 30000, 90000, 1000000} {
			for _, jitter := range []float64{0, 1 / float64(ticks), 1e-4, 5e-4, 1e-3} {
				for _, n := range []int{40, 500} {
					for _, stated := range []*big.Rat{want, big.NewRat(1000, 1), new(big.Rat).Add(want, want), nil} {
						if stated != want && n < 500 && jitter > 2e-4 { // too few to tell 30 from 29.97
							continue
						}
						r := regularity(shot(fps, ticks, n, jitter), big.NewRat(1, ticks), stated, nil)
						if r.rate == nil || r.rate.Cmp(want) != 0 || !r.steady {
							t.Errorf("%d pictures at %s in 1/%d s, %g s off, stated %v: %+v", n, rate, ticks, jitter, stated, r)
						}
						if jitter == 0 && r.grid != nil && stated == want {
							t.Errorf("%d pictures at %s in 1/%d s need no grid: %+v", n, rate, ticks, *r.grid)
						}
					}
				}
			}
		}
	}
}

// What varies is not made regular.
func TestNoRegularity(t *testing.T) {
	phone := shot(30, 90000, 100, 0)
	for k := range 100 { // falls from 30 to 24
		phone = append(phone, phone[99]+int64(math.Round(float64(k+1)*90000/24)))
	}
	screen := []int64{0}
	random := rand.New(rand.NewPCG(3, 4))
	for k := range 200 {
		screen = append(screen, screen[k]+1+random.Int64N(100))
	}
	for name, c := range map[string]struct {
		times []int64
		ticks int64
	}{
		"phone":             {phone, 90000},
		"screen":            {screen, 1000},
		"soft telecine":     {timesOf(60000./1001, 90000, 200, 2, 3), 90000},
		"alternating":       {timesOf(24, 90000, 200, 1, 1.3), 90000},
		"two rates":         {timesOf(30, 90000, 200, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1.5), 90000},
		"two pictures":      {[]int64{0, 3000}, 90000},
		"far apart in time": {[]int64{0, 3000, 6000, 1 << 60}, 90000},
	} {
		if r := regularity(c.times, big.NewRat(1, c.ticks), big.NewRat(30, 1), nil); r.rate != nil {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// A camera's clock that is a little off keeps its nominal rate, and is followed.
func TestDrift(t *testing.T) {
	r := regularity(shot(30.002, 90000, 4000, 2e-4), big.NewRat(1, 90000), nil, nil)
	if r.rate == nil || r.rate.Cmp(big.NewRat(30, 1)) != 0 || r.grid == nil {
		t.Fatalf("%+v", r)
	}
	if mean, _ := r.grid.Mean.Float64(); math.Abs(mean-30.002) > 1e-4 {
		t.Errorf("mean rate %f", mean)
	}
}

// The first picture, which FFmpeg lengthens, is moved to its place.
func TestLengthenedBegin(t *testing.T) {
	for first, begin := range map[float64]float64{1.58: 0.58, 1.3: 0.3, 2.5: 0.5, 1: 0, 0.6: -1} {
		times := []int64{0}
		for k := range 100 {
			times = append(times, int64(math.Round((first+float64(k))*512)))
		}
		r := regularity(times, big.NewRat(1, 12800), nil, nil)
		switch {
		case begin < 0:
			if r.rate != nil {
				t.Errorf("first frame of %.2f: %+v", first, r)
			}
		case r.rate == nil || r.rate.Cmp(big.NewRat(25, 1)) != 0:
			t.Errorf("first frame of %.2f: %+v", first, r)
		case r.grid == nil:
			if begin != 0 {
				t.Errorf("first frame of %.2f: not moved", first)
			}
		default:
			if at, _ := r.grid.First.Float64(); math.Abs(at*25-begin) > 1e-2 {
				t.Errorf("first frame of %.2f: begins at %.3f frames, want %.3f", first, at*25, begin)
			}
		}
	}
}
