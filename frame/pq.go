package frame

import "math"

// PQPeak is the luminance in cd/m² of the largest signal of SMPTE ST 2084.
const PQPeak = 10000

// Constants of SMPTE ST 2084, section 5.
const (
	pqM1 = 2610. / 16384
	pqM2 = 2523. / 4096 * 128
	pqC1 = 3424. / 4096
	pqC2 = 2413. / 4096 * 32
	pqC3 = 2392. / 4096 * 32
)

// PQSignal returns the signal, from 0 to 1, for a luminance given as a share of PQPeak:
// the inverse EOTF of SMPTE ST 2084.
func PQSignal(share float64) float64 {
	y := math.Pow(share, pqM1)
	return math.Pow((pqC1+pqC2*y)/(1+pqC3*y), pqM2)
}

// PQLuminance returns the luminance, as a share of PQPeak, of a signal from 0 to 1: the
// EOTF of SMPTE ST 2084.
func PQLuminance(signal float64) float64 {
	p := math.Pow(signal, 1/pqM2)
	return math.Pow(max(p-pqC1, 0)/(pqC2-pqC3*p), 1/pqM1)
}
