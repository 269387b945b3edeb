package frame

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
	"testing"
)

// The curves are integers, the same on every machine, and Signal undoes Light.
func TestCurves(t *testing.T) {
	for transfer, want := range map[Transfer]string{PQ: "a66f68464d9abba7", HLG: "8b1ec44e0ab1a2e0"} {
		c, sum := Light{Transfer: transfer}.Curve(), sha256.New()
		for i := range c.light {
			sum.Write(binary.LittleEndian.AppendUint64(nil, uint64(c.light[i])))
			if i > 0 && c.light[i] < c.light[i-1] {
				t.Fatalf("%v falls at %d", transfer, i)
			}
		}
		if got := fmt.Sprintf("%x", sum.Sum(nil))[:16]; got != want {
			t.Errorf("%v: %s, want %s", transfer, got, want)
		}
		if c.light[0] != 0 || math.Abs(float64(c.light[One])/Bright-1) > 1e-6 {
			t.Errorf("%v goes from %d to %d", transfer, c.light[0], c.light[One])
		}
		for s := int64(0); s <= One; s += 7 {
			if got := c.Signal(c.Light(s), 0, One); c.Light(got) != c.Light(s) || s > 6000 && got != s {
				t.Errorf("%v: signal %d becomes %d", transfer, s, got)
			}
		}
		if c.Light(-5) != 0 || c.Light(One+5) != c.light[One] || c.Signal(0, 0, One) != 0 || c.Signal(1<<60, 3, 9) != 9 {
			t.Errorf("%v does not end at its ends", transfer)
		}
	}
	if (Light{}).Curve() != nil {
		t.Error("SDR has a curve")
	}
}

// The curves of SDR give the light that their standards say, go on beyond black and white, and Signal
// undoes Light.
func TestGammas(t *testing.T) {
	for gamma, want := range map[Gamma]float64{
		BT1886: 0.189465, SRGB: 0.214041, Linear: 0.5, Gamma22: 0.217638, Gamma28: 0.143587, Log100: 0.1, Log316: 0.0562341,
	} {
		c := Light{Gamma: gamma}.Curve()
		if got := float64(c.Light(One/2)) / Bright; math.Abs(got-want) > 1e-6 {
			t.Errorf("curve %d: %v at a half, want %v", gamma, got, want)
		}
		if got := float64(c.Light(One)) / Bright; math.Abs(got-1) > 1e-6 || c.Light(0) != 0 {
			t.Errorf("curve %d: %v at 1, %d at 0", gamma, got, c.Light(0))
		}
		for s := int64(-One); s < One+One/4; s += 97 {
			l := c.Light(s)
			if got := c.Signal(l, -2*One, 2*One); c.Light(got) != l || c.Light(-s) != -l || s > 6000 && got != s {
				t.Errorf("curve %d: signal %d becomes %d", gamma, s, got)
			}
		}
		if c.Light(One+One/8) <= c.Light(One) || c.Light(9*One) != c.Light(2*One) {
			t.Errorf("curve %d: ends wrong", gamma)
		}
	}
}

// Signal finds what a search of all signals between the ends finds.
func TestSignalIsTheNearest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	for _, l := range []Light{{Transfer: PQ}, {Transfer: HLG}, {Gamma: BT1886}, {Gamma: Linear}, {Gamma: Log316}} {
		c := l.Curve()
		for range 3000 {
			low := r.Int64N(5*One) - 2*One
			high := low + r.Int64N(1<<r.IntN(18))
			light := r.Int64N(Bright >> r.IntN(40))
			if r.IntN(4) == 0 {
				light = c.Light(r.Int64N(4*One)-2*One) + r.Int64N(3) - 1
			}
			// The last signal with no more light, or the one after it.
			from, to := c.clamp(low), c.clamp(high)
			want := from + int64(sort.Search(int(max(to-from-1, 0)), func(i int) bool { return c.Light(from+1+int64(i)) > light }))
			if want < to && c.Light(want+1)-light < light-c.Light(want) {
				want++
			}
			if got := c.Signal(light, low, high); got != want {
				t.Fatalf("%+v: light %d from %d to %d: signal %d, want %d", l, light, low, high, got, want)
			}
		}
	}
}
