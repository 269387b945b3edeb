package frame

import (
	"math"
	"math/bits"
	"sync"
)

// Light describes how a frame's samples encode light. The zero value describes SDR samples whose curve
// is not known.
type Light struct {
	Transfer  Transfer
	Gamma     Gamma // the curve, if Transfer is SDR
	FullRange bool  // of luma and chroma, or grey; RGB always has full range
	// Red and Blue are the weights KR and KB of red and blue in luma, in 1/10000, as ITU-T H.273
	// defines them.
	Red, Blue int64
	// Floats is set if the samples are signals of PQ that stand for floating-point light.
	Floats bool
}

// Gamma names a curve of SDR samples.
type Gamma uint8

// The curves, with the light of a signal v from 0 to 1. They go on to 2, and with the sign of v below 0.
const (
	NoGamma    Gamma = iota // not known
	BT1886                  // v^2.4, what a display makes of video (ITU-R BT.1886 with a black of 0)
	SRGB                    // IEC 61966-2-1
	Linear                  // v
	Gamma22                 // v^2.2
	Gamma28                 // v^2.8
	Log100                  // 100^(v-1), 0 at 0 (ITU-T H.273, 9)
	Log316                  // (100√10)^(v-1), 0 at 0 (ITU-T H.273, 10)
	gammaCount              // how many there are
)

// One is 1.0 in the fixed-point signals that Curve takes, and Bright is 1.0 in the light that it
// returns.
const (
	One    = 1 << 16
	Bright = 1 << 48
)

// Curve is a transfer curve in integers, the same on every machine.
type Curve struct {
	light  []int64 // of the signals from 0 on
	signed bool    // whether it goes on below 0
	guess  []int32 // by bucket of light, the last signal that has no more than the least light in the bucket
}

// Buckets of light are as wide as a share of it: each power of 2 has 1 << bucketBits.
const bucketBits = 11

// bucket returns the bucket of a light above 0.
func bucket(light int64) int {
	n := bits.Len64(uint64(light))
	return n<<bucketBits | int(uint64(light)<<(64-n)>>(63-bucketBits))&(1<<bucketBits-1)
}

// least returns the least light of a bucket.
func least(bucket int) int64 {
	mantissa := uint64(1<<bucketBits | bucket&(1<<bucketBits-1))
	return int64(mantissa << (63 - bucketBits) >> (64 - bucket>>bucketBits))
}

var (
	curves = map[Transfer]func() *Curve{
		PQ:  sync.OnceValue(func() *Curve { return newCurve(PQLuminance, One, false) }),
		HLG: sync.OnceValue(func() *Curve { return newCurve(hlgScene, One, false) }),
	}
	gammas = func() (list [gammaCount]func() *Curve) {
		for g, light := range []func(float64) float64{
			BT1886: power(2.4), SRGB: srgb, Linear: power(1), Gamma22: power(2.2), Gamma28: power(2.8), Log100: logarithm(2), Log316: logarithm(2.5),
		} {
			list[g] = sync.OnceValue(func() *Curve { return newCurve(light, 2*One, true) })
		}
		return list
	}()
)

// Curve returns the curve of the samples, or nil if it is not known.
func (l Light) Curve() *Curve {
	if c := curves[l.Transfer]; c != nil {
		return c()
	}
	if l.Gamma == NoGamma || l.Gamma >= gammaCount {
		return nil
	}
	return gammas[l.Gamma]()
}

func newCurve(light func(signal float64) float64, last int, signed bool) *Curve {
	c := &Curve{light: make([]int64, last+1), signed: signed}
	for i := range c.light {
		v := float32(light(float64(i) / One)) // drops the digits in which machines may differ
		c.light[i] = int64(float64(v) * Bright)
	}
	at := 0
	c.guess = make([]int32, bucket(max(c.light[last], 1))+2)
	for i := range c.guess {
		for at < last && c.light[at+1] <= least(i) {
			at++
		}
		c.guess[i] = int32(at)
	}
	return c
}

func power(gamma float64) func(float64) float64 {
	return func(v float64) float64 { return math.Pow(v, gamma) }
}

func srgb(v float64) float64 {
	if v <= 0.04045 {
		return v / 12.92
	}
	return math.Pow((v+0.055)/1.055, 2.4)
}

func logarithm(decades float64) func(float64) float64 {
	return func(v float64) float64 {
		if v == 0 {
			return 0
		}
		return math.Pow(10, decades*(v-1))
	}
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

// Light returns the light of a signal in 1/One, in 1/Bright. It clamps the signal to the curve's ends: 0
// and One for PQ and HLG, -2 One and 2 One for others.
func (c *Curve) Light(signal int64) int64 {
	if uint64(signal) < uint64(len(c.light)) {
		return c.light[signal]
	}
	return c.beyond(signal)
}

// beyond is Light of what lies below 0 or beyond the curve's end.
func (c *Curve) beyond(signal int64) int64 {
	signal = c.clamp(signal)
	if signal < 0 {
		return -c.light[-signal]
	}
	return c.light[signal]
}

func (c *Curve) clamp(signal int64) int64 {
	last := int64(len(c.light) - 1)
	if c.signed {
		return min(max(signal, -last), last)
	}
	return min(max(signal, 0), last)
}

// Signal returns the signal in 1/One, from low to high, whose light is nearest; on a tie the lower
// one.
func (c *Curve) Signal(light, low, high int64) int64 {
	low, high = c.clamp(low), c.clamp(high)
	if b := bucket(max(light, 1)); b+1 < len(c.guess) && light > 0 && high-low > 1 {
		low = max(low, min(int64(c.guess[b]), high-1))
		high = min(high, max(int64(c.guess[b+1])+1, low+1))
	}
	for high-low > 1 {
		middle := low + (high-low)/2
		if c.Light(middle) <= light {
			low = middle
		} else {
			high = middle
		}
	}
	if high > low && c.Light(high)-light < light-c.Light(low) {
		return high
	}
	return low
}
