package timeline

import (
	"math/big"
)

// Clock turns timestamps into exact times. Containers with a coarse time base round the times
// of a constant rate, and the clocks of cameras jitter; if the grid of the source's rate lies
// near a timestamp, the grid is what was meant.
type Clock struct {
	base  *big.Rat // seconds per tick
	zero  *big.Rat // subtracted from every time
	grid  *Grid    // before zero is subtracted; nil for none
	first *big.Rat // earlier times, before zero is subtracted, count as this one; nil for none
}

// NewClock returns the clock of a video.
func NewClock(v Video) *Clock {
	c := &Clock{base: v.TimeBase, zero: v.Start, grid: v.Grid}
	if v.Grid != nil {
		c.first = v.Grid.First
	} else if v.Rate != nil {
		c.grid = RoundedGrid(v.Rate, v.TimeBase, c.ticks(v.FirstPTS))
	}
	return c
}

// NewStatedClock returns the clock of a video whose timestamps are meant as they are, except for
// the rounding of its time base.
func NewStatedClock(v Video) *Clock {
	if g := v.Grid; g != nil && g.Tolerance.Cmp(v.TimeBase) > 0 {
		v.Grid = nil
	}
	return NewClock(v)
}

func (c *Clock) ticks(pts int64) *big.Rat {
	return new(big.Rat).Mul(c.base, new(big.Rat).SetInt64(pts))
}

// At returns the time of pts in seconds.
func (c *Clock) At(pts int64) *big.Rat { return c.meant(c.ticks(pts)) }

// meant returns the time in seconds of t, which counts as timestamps do.
func (c *Clock) meant(t *big.Rat) *big.Rat {
	t = c.place(t)
	if c.first != nil {
		t = Later(t, c.first)
	}
	return new(big.Rat).Sub(t, c.zero)
}

func (c *Clock) place(t *big.Rat) *big.Rat {
	if c.grid == nil {
		return t
	}
	return c.grid.Place(t)
}

// Place returns the time that t, in seconds, is meant for, as At does for timestamps, but t may lie before
// the first picture.
func (c *Clock) Place(t *big.Rat) *big.Rat {
	t = c.place(new(big.Rat).Add(t, c.zero))
	return new(big.Rat).Sub(t, c.zero)
}

// Exact returns the time of pts in seconds as it stands, off the grid.
func (c *Clock) Exact(pts int64) *big.Rat {
	t := c.ticks(pts)
	return t.Sub(t, c.zero)
}

// Moved returns how many seconds At is after Exact; 0 within a tick, which is rounding.
func (c *Clock) Moved(pts int64) float64 {
	d := c.At(pts)
	d.Sub(d, c.Exact(pts))
	if new(big.Rat).Abs(d).Cmp(c.base) <= 0 {
		return 0
	}
	seconds, _ := d.Float64()
	return seconds
}

// End returns when the video v, which the clock is of, ends by what its container states;
// nil if it states nothing.
func (c *Clock) End(v Video) *big.Rat {
	if v.Duration == nil {
		return nil
	}
	return c.meant(new(big.Rat).Add(c.ticks(v.StreamPTS), v.Duration))
}

// Following returns the time of pts, at least a little later than a picture before it, whose
// time is last; nil for no picture. At may move two pictures that are a tick apart to one
// point of the grid. earlier is set if the pictures come in the order of falling
// timestamps: the time is then a little earlier.
func (c *Clock) Following(last *big.Rat, pts int64, earlier bool) *big.Rat {
	t := c.At(pts)
	if last == nil {
		return t
	}
	sign := 1
	if earlier {
		sign = -1
	}
	if t.Cmp(last) != sign {
		t = c.Exact(pts)
	}
	if t.Cmp(last) != sign { // then the two are equal: timestamps differ by a tick or more
		t.Add(last, new(big.Rat).Mul(c.base, big.NewRat(int64(sign), 2)))
	}
	return t
}
