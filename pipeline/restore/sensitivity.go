package restore

import (
	"slices"

	"retime/pipeline/fault"
)

// Sensitivity says how sure detection must be of damage.
type Sensitivity string

// The sensitivities; the empty one is Normal.
const (
	Low    Sensitivity = "low"
	Normal Sensitivity = "normal"
	High   Sensitivity = "high"
)

// limits are the thresholds of a sensitivity.
type limits struct {
	spoilt float64 // share of the cells that stray in a spoilt picture
	// often is the share of the frames around in which damage to whole frames may be seen. More of it is light
	// or a flicker that belongs to what is shown.
	often float64
	parts float64 // least score of damage to parts
}

var sensitivities = map[Sensitivity]limits{
	Low:    {0.09, 0.1, 0.95},
	Normal: {0.06, 0.15, 0.73},
	High:   {0.04, 0.3, 0.4},
}

// limits returns the thresholds of s.
func (s Sensitivity) limits() (limits, error) {
	if s == "" {
		s = Normal
	}
	l, ok := sensitivities[s]
	if !ok {
		return l, fault.New(fault.Usage, "Options.Sensitivity %q: choose from low, normal, high", string(s))
	}
	return l, nil
}

// wants reports whether k is among those to find: if none is named, damage to whole pictures.
func wants(find []Kind, k Kind) bool {
	if len(find) == 0 {
		find = wholeKinds
	}
	return slices.Contains(find, k)
}

// wantsParts reports whether damage to parts of pictures is to be found.
func wantsParts(find []Kind) bool {
	return slices.ContainsFunc(partKinds, func(k Kind) bool { return wants(find, k) })
}
