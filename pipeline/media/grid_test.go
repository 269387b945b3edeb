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
						if jitter == 0 && stated == want && (r.grid == nil || r.grid.Jitter.Sign() > 0 || r.grid.Mean.Cmp(want) != 0) {
							t.Errorf("%d pictures at %s in 1/%d s: %+v", n, rate, ticks, r.grid)
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

// The clock of a camera that is a little off keeps its nominal rate, and is followed for two hours.
func TestDrift(t *testing.T) {
	for _, c := range []struct {
		rate   float64
		ticks  int64
		jitter float64
	}{
		{30.002, 90000, 2e-4},           // 67 ppm
		{30 * (1 + 15e-6), 90000, 2e-3}, // less than the jitter, of what is examined
		{30 * (1 + 6e-6), 1000, 0},      // within a tick, of what is examined
		{30000. / 1001 * (1 - 2e-6), 1000, 0},
		{24 * (1 - 6e-6), 90000, 1. / 90000},
		{30, 1000, 0},
		{30000. / 1001, 1000, 0},
		{30, 90000, 2e-3},
	} {
		nominal := standardRate(c.rate)
		times := shot(c.rate, c.ticks, int(7200*c.rate), c.jitter)
		r := regularity(times[:fileLookahead.frames], big.NewRat(1, c.ticks), nominal, nil)
		if r.rate == nil || r.rate.Cmp(nominal) != 0 || !r.steady || r.grid == nil {
			t.Errorf("%+v: %+v", c, r)
			continue
		}
		fps, _ := nominal.Float64()
		for k := 0; k < len(times); k += 61 {
			exact := big.NewRat(times[k], c.ticks)
			place := r.grid.Place(exact)
			moved, _ := new(big.Rat).Sub(place, exact).Float64()
			if place.Sub(place, r.grid.First); !place.Mul(place, nominal).IsInt() || math.Abs(moved) > 0.52/fps+2*c.jitter {
				t.Errorf("%+v: frame %d at %s has place %s, mean %s", c, k, exact.FloatString(4), place.FloatString(4), r.grid.Mean.FloatString(6))
				break
			}
		}
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
