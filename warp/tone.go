package warp

import (
	"math"
	"sync"

	"retime/frame"
)

// HDR signals use only the lower half of their range for everything that SDR shows, so
// their upper eight bits distinguish dark and middle tones poorly. Guides pass through
// the curve that ITU-R BT.2390 (section 5.4.1) gives for display at a lower peak
// luminance, in the perceptually even scale of SMPTE ST 2084.

// guidePeak is the luminance of the brightest guide level in cd/m².
const guidePeak = 300

// toneKey identifies a table.
type toneKey struct {
	transfer frame.Transfer
	depth    int
	full     bool
}

var toneTables sync.Map // from toneKey to []uint8

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

// guideLevel returns the guide level, from 0 to 1, of a signal from 0 to 1.
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

// hlgPeak is the peak luminance in cd/m² of an HLG display with system gamma 1.2.
const hlgPeak = 1000

// hlgLuminance returns the luminance of a gray HLG signal on such a display, after
// ITU-R BT.2100.
func hlgLuminance(e float64) float64 {
	const a, b, c = 0.17883277, 0.28466892, 0.55991073
	scene := e * e / 3
	if e > 0.5 {
		scene = (math.Exp((e-c)/a) + b) / 12
	}
	return hlgPeak * math.Pow(scene, 1.2)
}
