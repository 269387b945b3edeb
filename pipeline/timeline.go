package pipeline

import (
	"math/big"
	"slices"
	"sort"

	"retime/pipeline/curve"
	"retime/pipeline/media"
	"retime/warp"
)

// slot is one output frame: its number and where it lies between the two
// source frames of its interval.
type slot struct {
	index    int64      // of the moment, where frames consist of several
	phase    warp.Phase // 0 at the first of the two
	from, to *big.Rat   // when it is shown in the output; nil where that follows from index
	wish     Method     // how the user wants it made; empty for no wish
	lost     *lost      // what is made anew; nil for none
	beyond   warp.Phase // how far beyond the clip's end, in distances of its two pictures there; 0 for within
}

// timeline places output frames between source frames. Frame k stands at
// start + k*step in the output and shows what the run shows then, or the source's
// moment times[k] where times are given. With an exposure, frames consist of
// several moments around their time, and it is those that k counts. All its arithmetic is exact and depends
// on nothing but the arguments. Moments of a run that plays backward are negated,
// so that they rise with k.
type timeline struct {
	run         curve.Run
	start, step *big.Rat // seconds in the output
	first       int64    // frames from this number on
	frames      int64    // frames before this number only; endless where that is not known
	end         *big.Rat // of the part in the output, nil where that is not known
	slow        *big.Rat // of a run of one speed, else nil
	times       []*big.Rat
	exposure    *big.Rat // how long the shutter is open; nil for frames of one moment
	each        int64    // moments of a frame then
}

// moments is how many moments a frame consists of.
func (t *timeline) moments() int64 { return max(t.each, 1) }

// endless is more frames than any output has.
const endless = 1<<62 - 1

// shown is the time of frame k in the output.
func (t *timeline) shown(k int64) *big.Rat {
	v := new(big.Rat).Mul(t.step, new(big.Rat).SetInt64(k/t.moments()))
	v.Add(v, t.start)
	if t.exposure == nil {
		return v
	}
	// (2j + 1 - n) / 2n of the exposure, j of n.
	v.Add(v, new(big.Rat).Mul(t.exposure, big.NewRat(2*(k%t.each)+1-t.each, 2*t.each)))
	if begin := longest(t.start, t.run.Begin); v.Cmp(begin) < 0 {
		v.Set(begin)
	}
	if t.end != nil && v.Cmp(t.end) > 0 {
		v.Set(t.end)
	}
	return v
}

// at is the moment that frame k shows.
func (t *timeline) at(k int64) *big.Rat {
	if t.times != nil {
		return new(big.Rat).Set(t.times[k])
	}
	v := t.run.Source(t.shown(k))
	if t.run.Backward {
		v.Neg(v)
	}
	return v
}

// from returns the first frame that shows moment m or a later one.
func (t *timeline) from(m *big.Rat) int64 {
	if t.times != nil {
		i, _ := slices.BinarySearchFunc(t.times, m, (*big.Rat).Cmp)
		return int64(i)
	}
	if t.run.Backward {
		m = new(big.Rat).Neg(m)
	}
	// Moments are less than a frame off, and the inverse of a curve is a little early.
	k := min(max((t.count(m)-1)*t.moments(), t.first), t.frames)
	n := min(3*t.moments()+1, t.frames-k)
	return k + int64(sort.Search(int(n), func(i int) bool { return !t.before(k+int64(i), m) }))
}

// count is how many frames begin before the run shows m.
func (t *timeline) count(m *big.Rat) int64 {
	v := t.run.Output(m)
	return ceil(v.Quo(v.Sub(v, t.start), t.step))
}

// before says whether frame k shows what comes before m in the run's direction.
func (t *timeline) before(k int64, m *big.Rat) bool {
	c := t.run.Source(t.shown(k)).Cmp(m)
	return t.run.Backward && c > 0 || !t.run.Backward && c < 0
}

// between returns the frames from number k on that lie before b, for pictures
// shown at a and b. Those before a show the first of the two.
func (t *timeline) between(k int64, a, b *big.Rat) []slot {
	length := new(big.Rat).Sub(b, a)
	var slots []slot
	for end := t.from(b); k < end; k++ {
		slots = append(slots, t.slot(k, a, length))
	}
	return slots
}

// slot places frame k in an interval of that length from a on.
func (t *timeline) slot(k int64, a, length *big.Rat) slot {
	var phase warp.Phase
	if d := t.at(k); d.Sub(d, a).Sign() > 0 {
		phase = quantise(d.Quo(d, length))
	}
	return slot{index: k, phase: phase}
}

// divide returns, for a run of one speed, the frames from number k on for pictures
// shown at a and b that keep their times: as many, evenly spread over the time that
// the output takes from a to b, as the rate makes of it, rounded, at least one.
func (t *timeline) divide(k int64, a, b *big.Rat) []slot {
	from, length := t.run.Output(a), new(big.Rat)
	if d := new(big.Rat).Sub(t.run.From, a); d.Sign() > 0 { // a lies before the part
		from.Sub(from, d.Mul(d, t.slow))
	}
	length.Sub(t.run.Output(b), from)
	n := max(round(new(big.Rat).Quo(length, t.step)), 1)
	at := func(j int64) *big.Rat {
		v := new(big.Rat).Mul(length, big.NewRat(j, n))
		return v.Add(v, from)
	}
	var slots []slot
	for j := range n {
		s := slot{index: k, phase: quantise(big.NewRat(j, n)), from: at(j), to: at(j + 1)}
		if j == 0 {
			s.phase = 0
		}
		if s.from.Cmp(t.start) >= 0 && (t.end == nil || s.from.Cmp(t.end) < 0) {
			slots = append(slots, s)
			k++
		}
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

// round rounds v to nearest.
func round(v *big.Rat) int64 { return ceil(new(big.Rat).Sub(v, big.NewRat(1, 2))) }

// ceil rounds v up.
func ceil(v *big.Rat) int64 {
	n := new(big.Int).Add(v.Num(), v.Denom())
	n.Sub(n, big.NewInt(1))
	if n.Div(n, v.Denom()); !n.IsInt64() {
		return endless
	}
	return n.Int64()
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

// exact returns the time of pts in seconds as it stands, off the grid.
func (c *clock) exact(pts int64) *big.Rat {
	t := c.ticks(pts)
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
