package prefilter

import (
	"slices"

	"retime/warp/boxspline/lattice"
)

// tap is a value of a filter.
type tap struct {
	at     lattice.Point
	weight float64
}

// sortTaps gives taps a fixed order, so that sums have one.
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
