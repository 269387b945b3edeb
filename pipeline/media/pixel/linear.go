package pixel

import (
	"math"
	"sync"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
)

// Floating-point samples are linear light: 1 is reference white, and brighter light has
// larger values. Their planar twins store them as 16-bit signals of SMPTE ST 2084 (PQ),
// with 1 at the reference white of ITU-R BT.2408, 203 cd/m². The signals reach nearly 50
// times as far, and their steps are too small to see.
const (
	referenceWhite = 203   // cd/m²
	brightest      = 10000 // cd/m²
)

// signals holds the linear value of each of the 2^16 signals, and a first guess for the
// inverse: for the upper 16 bits of a float32, the last signal whose value does not
// exceed any float32 with these bits.
type signals struct {
	value [1 << 16]float32
	guess [1<<15 + 1]uint16
}

// linearSignals returns the table, which it computes once.
var linearSignals = sync.OnceValue(func() *signals {
	s := new(signals)
	top := float64(len(s.value) - 1)
	// Scale the table so that white's signal stands for exactly 1.
	white := math.Round(top * math.Pow(inverse2084(referenceWhite/float64(brightest)), m2084))
	unit := eotf2084(white / top)
	for i := range s.value {
		s.value[i] = float32(eotf2084(float64(i)/top) / unit)
	}
	at := 0
	for b := range s.guess {
		v := math.Float32frombits(uint32(b) << 16)
		for at+1 < len(s.value) && s.value[at+1] <= v {
			at++
		}
		s.guess[b] = uint16(at)
	}
	return s
})

// Constants of SMPTE ST 2084, section 5.
const (
	n2084      = 2610. / 16384
	m2084      = 2523. / 4096 * 128
	c1, c2, c3 = 3424. / 4096, 2413. / 4096 * 32, 2392. / 4096 * 32
)

// inverse2084 returns SMPTE ST 2084's inverse EOTF of y, a fraction of 10000 cd/m²,
// before the last power: raised to m2084 it is the signal.
func inverse2084(y float64) float64 {
	p := math.Pow(y, n2084)
	return (c1 + c2*p) / (1 + c3*p)
}

// eotf2084 returns SMPTE ST 2084's EOTF of the signal e, from 0 to 1, as a fraction of
// 10000 cd/m².
func eotf2084(e float64) float64 {
	p := math.Pow(e, 1/m2084)
	return math.Pow(max(p-c1, 0)/(c2-c3*p), 1/n2084)
}

// nearest returns the signal whose value is nearest to the float32 with the bits of word.
// It returns 0 for negative values and NaN.
func (s *signals) nearest(word uint32) uint16 {
	const infinity = 0x7f800000
	v := math.Float32frombits(word)
	switch {
	case word == 0 || word > infinity:
		return 0
	case v >= s.value[len(s.value)-1]:
		return uint16(len(s.value) - 1)
	}
	upper := word >> 16
	low, high := int(s.guess[upper]), int(s.guess[upper+1])+1
	for high-low > 1 {
		middle := (low + high) / 2
		if s.value[middle] <= v {
			low = middle
		} else {
			high = middle
		}
	}
	if low+1 < len(s.value) && s.value[low+1]-v < v-s.value[low] {
		low++
	}
	return uint16(low)
}

// isLinear reports whether p's samples are floating point.
func isLinear(p astiav.PixelFormat) bool {
	d := describe(p)
	return d != nil && d.Has(av.PixelFloat)
}
