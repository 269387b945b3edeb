package stages

import (
	"math/big"
	"slices"
)

// cuts decides whether a scene changes between two pictures, by a list of times or by score.
type cuts struct {
	threshold float64
	listed    bool
	times     []*big.Rat // ascending
}

func newCuts(p *Params) cuts {
	c := cuts{threshold: p.SceneThreshold, listed: p.Scenes != nil, times: slices.Clone(p.Scenes)}
	slices.SortFunc(c.times, (*big.Rat).Cmp)
	return c
}

// within reports whether a scene begins after v's first picture, up to its second.
func (c *cuts) within(v *Interval, backward bool) bool {
	if !c.listed {
		return v.found.change.CutScore() >= c.threshold
	}
	// Lists are written in microseconds.
	slack := big.NewRat(1, 1_000_000)
	from, to := v.span(backward)
	from, to = new(big.Rat).Add(from, slack), new(big.Rat).Add(to, slack)
	i, _ := slices.BinarySearchFunc(c.times, from, (*big.Rat).Cmp)
	return i < len(c.times) && c.times[i].Cmp(to) <= 0
}
