package pixel

import (
	"math"
	"sync"

	"github.com/asticode/go-astiav"

	"retime/frame"
	"retime/pipeline/media/av"
)

// Floating-point samples are linear light: 1 is reference white, and brighter light has
// larger values. Their planar twins store them as 16-bit signals of SMPTE ST 2084 (PQ),
// with 1 at the reference white of ITU-R BT.2408, 203 cd/m². The signals reach nearly 50
// times as far, and their steps are too small to see.
const referenceWhite = 203 // cd/m²

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
	white := math.Round(top * frame.PQSignal(referenceWhite/float64(frame.PQPeak)))
	unit := frame.PQLuminance(white / top)
	for i := range s.value {
		s.value[i] = float32(frame.PQLuminance(float64(i)/top) / unit)
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

// PeakLight returns the most light that planar twins of floats hold, with 1 for white.
func PeakLight() float32 {
	s := linearSignals()
	return s.value[len(s.value)-1]
}

// isLinear reports whether p's samples are floating point.
func isLinear(p astiav.PixelFormat) bool {
	d := describe(p)
	return d != nil && d.Has(av.PixelFloat)
}
