package timeline

import "math/big"

// Grid is the even spacing at which a camera shot, which its timestamps are near to: containers
// round them, and the clocks of cameras jitter and drift.
type Grid struct {
	// Rate is the nominal rate, in frames per second, and Mean the rate at which the camera's
	// clock really ran. Where they differ, pictures keep to the grid of Rate, and leave out or
	// repeat a place whenever the camera is half a frame ahead or behind.
	Rate, Mean *big.Rat
	// First is when the first picture stands, in seconds of the stream's clock: at its
	// timestamp, or if FFmpeg has lengthened it, a whole number of frames before the second.
	First *big.Rat
	// Middle is how far the middle of the jitter lies after the place of a picture, and
	// Tolerance how far from this middle a picture may lie to be meant for the place, both in
	// seconds.
	Middle, Tolerance *big.Rat
	// Jitter is the largest distance from the middle among the pictures examined that are
	// within Tolerance, in seconds.
	Jitter *big.Rat
}

// minTicks is how many ticks a frame must last for its grid to be told from the time base's own
// rounding.
const minTicks = 4

// RoundedGrid returns the grid of a rate, in frames per second, whose timestamps only a container rounds,
// to multiples of base, and whose first picture stands at first; both are in seconds. It returns nil if a
// frame lasts too few ticks.
func RoundedGrid(rate, base, first *big.Rat) *Grid {
	if ticks := new(big.Rat).Inv(new(big.Rat).Mul(rate, base)); ticks.Cmp(big.NewRat(minTicks, 1)) < 0 {
		return nil
	}
	return &Grid{Rate: rate, Mean: rate, First: first, Middle: new(big.Rat), Tolerance: base, Jitter: new(big.Rat)}
}

// Place returns the time that t is meant for, both in seconds of the stream's clock: a place of the
// grid, if t is near enough to one.
func (g *Grid) Place(t *big.Rat) *big.Rat {
	at := new(big.Rat).Sub(t, g.First)
	at.Sub(at, g.Middle)
	k := nearest(new(big.Rat).Mul(at, g.Mean))
	off := new(big.Rat).Sub(at, new(big.Rat).Quo(k, g.Mean))
	if off.Abs(off).Cmp(g.Tolerance) > 0 {
		return new(big.Rat).Set(t)
	}
	if g.Mean.Cmp(g.Rate) != 0 {
		k = nearest(k.Mul(k, new(big.Rat).Quo(g.Rate, g.Mean)))
	}
	return k.Add(k.Quo(k, g.Rate), g.First)
}

// nearest rounds v to a whole number, and up from the middle.
func nearest(v *big.Rat) *big.Rat {
	v.Add(v, big.NewRat(1, 2))
	return v.SetInt(new(big.Int).Div(v.Num(), v.Denom()))
}
