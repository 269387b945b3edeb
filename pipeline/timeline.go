package pipeline

import (
	"math/big"

	"retime/pipeline/media"
	"retime/warp"
)

// slot is one output frame: its number and where it lies between the two
// source frames of its interval.
type slot struct {
	index int64
	phase warp.Phase // 0 at the first of the two
}

// timeline places output frames between source frames. Frame k stands at
// origin + k*step on the source's clock, up to but not including end, or at
// times[k] where times are given. All its arithmetic is exact.
type timeline struct {
	origin, step *big.Rat
	end          *big.Rat // nil until the source's end is known
	times        []*big.Rat
	next         int64 // first frame not yet placed
}

func (t *timeline) at(k int64) *big.Rat {
	if t.times != nil {
		return new(big.Rat).Set(t.times[k])
	}
	v := new(big.Rat).Mul(t.step, new(big.Rat).SetInt64(k))
	return v.Add(v, t.origin)
}

// between returns the frames in [a, b). Each call begins where the last ended.
func (t *timeline) between(a, b *big.Rat) []slot {
	limit := b
	if t.end != nil && t.end.Cmp(b) < 0 {
		limit = t.end
	}
	length := new(big.Rat).Sub(b, a)
	var slots []slot
	for ; t.times == nil || t.next < int64(len(t.times)); t.next++ {
		at := t.at(t.next)
		if at.Cmp(limit) >= 0 {
			break
		}
		var phase warp.Phase
		if d := at.Sub(at, a); d.Sign() > 0 {
			phase = quantise(d.Quo(d, length))
		}
		slots = append(slots, slot{t.next, phase})
	}
	return slots
}

// quantise rounds x, in (0, 1), to a Phase that is neither end.
func quantise(x *big.Rat) warp.Phase {
	v := x.Mul(x, big.NewRat(warp.PhaseOne, 1))
	v.Add(v, big.NewRat(1, 2))
	p := new(big.Int).Div(v.Num(), v.Denom()).Int64()
	return warp.Phase(min(max(p, 1), warp.PhaseOne-1))
}

// count returns how many frames lie in [origin, end).
func (t *timeline) count(end *big.Rat) int64 {
	d := new(big.Rat).Sub(end, t.origin)
	if d.Sign() <= 0 {
		return 0
	}
	d.Quo(d, t.step)
	q, r := new(big.Int).QuoRem(d.Num(), d.Denom(), new(big.Int))
	if r.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return q.Int64()
}

// clock turns timestamps into exact times. Containers with a coarse time base
// round the times of a constant rate; where a rate is known whose grid lies
// within a tick of the timestamp, the grid is what was meant.
type clock struct {
	base  *big.Rat // seconds per tick
	zero  *big.Rat // subtracted from every time
	grid  *big.Rat // frames per second, nil for none
	first *int64   // timestamp that the grid stands on
}

// minTicks is how many ticks a frame must last for its grid to be told from
// the time base's own rounding.
const minTicks = 4

func newClock(v media.Video) *clock {
	c := &clock{base: v.TimeBase, zero: v.Start}
	if v.Rate != nil {
		ticks := new(big.Rat).Mul(v.Rate, v.TimeBase)
		if ticks.Inv(ticks).Cmp(big.NewRat(minTicks, 1)) >= 0 {
			c.grid = v.Rate
		}
	}
	return c
}

func (c *clock) ticks(pts int64) *big.Rat {
	return new(big.Rat).Mul(c.base, new(big.Rat).SetInt64(pts))
}

// at returns the time of pts in seconds.
func (c *clock) at(pts int64) *big.Rat {
	if c.first == nil {
		c.first = &pts
	}
	t := c.ticks(pts)
	if c.grid != nil {
		t = c.snap(t, c.ticks(*c.first))
	}
	return t.Sub(t, c.zero)
}

// snap moves t to the grid through origin if that is at most a tick away.
func (c *clock) snap(t, origin *big.Rat) *big.Rat {
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

// after returns the time at which a frame at pts that lasts for duration ends.
func (c *clock) after(pts, duration int64) *big.Rat { return c.at(pts + duration) }
