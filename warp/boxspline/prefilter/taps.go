package prefilter

import (
	"slices"

	"retime/warp/boxspline/lattice"
)

// tap is a point of a filter and its value.
type tap struct {
	at     lattice.Point
	weight float64
}

// sortTaps gives taps a fixed order, to make the order of sums fixed.
func sortTaps(taps []tap) {
	slices.SortFunc(taps, func(a, b tap) int { return slices.Compare(a.at[:], b.at[:]) })
}

func copyOf(f *lattice.Samples) *lattice.Samples {
	c := *f
	c.Cosets = make([][]float64, len(f.Cosets))
	for i := range c.Cosets {
		c.Cosets[i] = slices.Clone(f.Cosets[i])
	}
	return &c
}
