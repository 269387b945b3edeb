package frame

import (
	"math"
	"sync"
)

// Light describes how a frame's samples encode light. The zero value describes SDR samples.
type Light struct {
	Transfer  Transfer
	FullRange bool // of luma and chroma, or grey; RGB always has full range
	// Red and Blue are the weights KR and KB of red and blue in luma, in 1/10000, as ITU-T H.273
	// defines them.
	Red, Blue int64
}

// One is 1.0 in the fixed-point signals that Curve takes, and Bright is 1.0 in the light that it
// returns.
const (
	One    = 1 << 16
	Bright = 1 << 48
)

// Curve is a transfer curve in integers, the same on every machine.
type Curve struct{ light [One + 1]uint64 }

var curves = map[Transfer]func() *Curve{
	PQ:  sync.OnceValue(func() *Curve { return newCurve(PQLuminance) }),
	HLG: sync.OnceValue(func() *Curve { return newCurve(hlgScene) }),
}

// CurveOf returns the curve of PQ or HLG, or nil for SDR.
func CurveOf(t Transfer) *Curve {
	if c := curves[t]; c != nil {
		return c()
	}
	return nil
}

func newCurve(light func(signal float64) float64) *Curve {
	c := new(Curve)
	for i := range c.light {
		v := float32(light(float64(i) / One)) // drops the digits in which machines may differ
		c.light[i] = uint64(float64(v) * Bright)
	}
	return c
}

// hlgScene returns the scene light, from 0 to 1, of an HLG signal: the inverse OETF of ITU-R
// BT.2100.
func hlgScene(e float64) float64 {
	const a, b, c = 0.17883277, 0.28466892, 0.55991073
	if e <= 0.5 {
		return e * e / 3
	}
	return (math.Exp((e-c)/a) + b) / 12
}

// Light returns the light, from 0 to Bright, of a signal in 1/One. It clamps the signal to 0 and
// One.
func (c *Curve) Light(signal int64) uint64 { return c.light[min(max(signal, 0), One)] }

// Signal returns the signal in 1/One, from low to high, whose light is nearest; on a tie the lower
// one.
func (c *Curve) Signal(light uint64, low, high int64) int64 {
	low, high = min(max(low, 0), One), min(max(high, 0), One)
	for high-low > 1 {
		middle := (low + high) / 2
		if c.light[middle] <= light {
			low = middle
		} else {
			high = middle
		}
	}
	if high > low && c.light[high]-min(light, c.light[high]) < light-min(light, c.light[low]) {
		return high
	}
	return low
}
