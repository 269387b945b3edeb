package pixel

import (
	"math"
	"sync"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
)

// Samples in floating point stand for light, of which 1 is a white sheet and more is
// brighter. Their planar twins hold them as signals of SMPTE ST 2084 in 16 bits, 1
// being the reference white of ITU-R BT.2408, 203 cd/m²: that leaves room for lights
// nearly 50 times as bright, and no two neighbouring values can be told apart.
const (
	referenceWhite = 203   // cd/m²
	brightest      = 10000 // cd/m²
)

// signals are the values that the 2^16 signals stand for, and where to look for a
// value: for the upper 16 bits of its representation, the last signal that is not
// above any such value.
type signals struct {
	value [1 << 16]float32
	guess [1<<15 + 1]uint16
}

// linearSignals are computed once.
var linearSignals = sync.OnceValue(func() *signals {
	s := new(signals)
	top := float64(len(s.value) - 1)
	// The signal of white is made to stand for 1 exactly.
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

// inverse2084 is the fraction of SMPTE ST 2084's inverse EOTF for a share of its
// greatest luminance.
func inverse2084(y float64) float64 {
	p := math.Pow(y, n2084)
	return (c1 + c2*p) / (1 + c3*p)
}

// eotf2084 is the share of the greatest luminance that a signal stands for.
func eotf2084(e float64) float64 {
	p := math.Pow(e, 1/m2084)
	return math.Pow(max(p-c1, 0)/(c2-c3*p), 1/n2084)
}

// nearest is the signal whose value is nearest to that of a float's bits. Negative values
// and what is not a number are no light.
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

// isLinear says whether samples of p are in floating point.
func isLinear(p astiav.PixelFormat) bool {
	d := describe(p)
	return d != nil && d.Has(av.PixelFloat)
}
