package timeline

import (
	"math"
	"math/big"

	"retime/pipeline/media"
)

// Clock turns timestamps into exact times. Containers with a coarse time base
// round the times of a constant rate; if a rate is known whose grid lies
// within a tick of the timestamp, the grid is what was meant.
type Clock struct {
	base   *big.Rat // seconds per tick
	zero   *big.Rat // subtracted from every time
	grid   *big.Rat // frames per second, nil for none
	origin int64    // timestamp that the grid stands on
	begin  int64    // earlier timestamps count as this one
}

// minTicks is how many ticks a frame must last for its grid to be told from
// the time base's own rounding.
const minTicks = 4

// NewClock returns the clock of a video, whose grid stands on its first frame.
func NewClock(v media.Video) *Clock {
	c := &Clock{base: v.TimeBase, zero: v.Start, origin: v.FirstPTS, begin: math.MinInt64}
	if v.Rate != nil {
		ticks := new(big.Rat).Mul(v.Rate, v.TimeBase)
		if ticks.Inv(ticks).Cmp(big.NewRat(minTicks, 1)) >= 0 {
			c.grid = v.Rate
		}
	}
	return c
}

func (c *Clock) ticks(pts int64) *big.Rat {
	return new(big.Rat).Mul(c.base, new(big.Rat).SetInt64(pts))
}

// Begin makes timestamps before pts count as pts.
func (c *Clock) Begin(pts int64) { c.begin = pts }

// At returns the time of pts in seconds.
func (c *Clock) At(pts int64) *big.Rat {
	return c.meant(c.ticks(max(pts, c.begin)))
}

// meant returns the time in seconds of t, which counts as timestamps do.
func (c *Clock) meant(t *big.Rat) *big.Rat {
	if c.grid != nil {
		t = c.snap(t, c.ticks(c.origin))
	}
	return t.Sub(t, c.zero)
}

// Exact returns the time of pts in seconds as it stands, off the grid.
func (c *Clock) Exact(pts int64) *big.Rat {
	t := c.ticks(pts)
	return t.Sub(t, c.zero)
}

// End returns when the video v, which the clock is of, ends by what its container states;
// nil if it states nothing.
func (c *Clock) End(v media.Video) *big.Rat {
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

// snap moves t to the grid through origin if that is at most a tick away.
func (c *Clock) snap(t, origin *big.Rat) *big.Rat {
	n := new(big.Rat).Sub(t, origin)
	n.Mul(n, c.grid)
	n.Add(n, big.NewRat(1, 2))
	k := new(big.Int).Div(n.Num(), n.Denom())
	g := new(big.Rat).Quo(new(big.Rat).SetInt(k), c.grid)
	g.Add(g, origin)
	off := new(big.Rat).Sub(t, g)
	if off.Abs(off).Cmp(c.base) <= 0 {
		return g
	}
	return t
}
