package warp

import (
	"math"
	"sync"

	"retime/frame"
)

// HDR signals leave what SDR shows to the lower half of their range, so their
// upper eight bits tell little of dark and middle tones. Guides are made of them
// through the curve that ITU-R BT.2390 (section 5.4.1) gives for showing them on a
// display of less peak luminance, in the perceptually even scale of SMPTE ST 2084.

// guidePeak is the luminance of the brightest guide level in cd/m².
const guidePeak = 300

// toneKey says what a table depends on.
type toneKey struct {
	transfer frame.Transfer
	depth    int
	full     bool
}

var toneTables sync.Map // toneKey to []uint8

// toneTable returns the guide level of each sample of an HDR signal.
func toneTable(k toneKey) []uint8 {
	if t, ok := toneTables.Load(k); ok {
		return t.([]uint8)
	}
	table := make([]uint8, 1<<k.depth)
	black, white := 0, 1<<k.depth-1
	if !k.full {
		black, white = 16<<(k.depth-8), 235<<(k.depth-8)
	}
	for v := range table {
		e := float64(v-black) / float64(white-black)
		table[v] = uint8(math.Round(255 * guideLevel(k.transfer, min(max(e, 0), 1))))
	}
	t, _ := toneTables.LoadOrStore(k, table)
	return t.([]uint8)
}

// guideLevel maps a signal from 0 to 1 to a guide level from 0 to 1.
func guideLevel(t frame.Transfer, e float64) float64 {
	peak := 1.0
	if t == frame.HLG {
		e, peak = pqSignal(hlgLuminance(e)), pqSignal(hlgPeak)
	}
	e /= peak
	most := pqSignal(guidePeak) / peak
	knee := 1.5*most - 0.5
	if e > knee {
		t := (e - knee) / (1 - knee)
		e = (2*t*t*t-3*t*t+1)*knee + (t*t*t-2*t*t+t)*(1-knee) + (3*t*t-2*t*t*t)*most
	}
	return e / most
}

// pqSignal returns the signal of SMPTE ST 2084 for a luminance in cd/m².
func pqSignal(luminance float64) float64 { return frame.PQSignal(luminance / frame.PQPeak) }

// hlgPeak is the luminance in cd/m² of a display for HLG of system gamma 1.2.
const hlgPeak = 1000

// hlgLuminance is what a gray HLG signal shows on such a display, after ITU-R
// BT.2100.
func hlgLuminance(e float64) float64 {
	const a, b, c = 0.17883277, 0.28466892, 0.55991073
	scene := e * e / 3
	if e > 0.5 {
		scene = (math.Exp((e-c)/a) + b) / 12
	}
	return hlgPeak * math.Pow(scene, 1.2)
}
