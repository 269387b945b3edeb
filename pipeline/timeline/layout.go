// Package timeline lays the frames of an output on the clock of a source, exactly: times
// are rational numbers of seconds, and no time depends on the ones before it.
package timeline

import (
	"math/big"
	"slices"
	"sort"

	"retime/pipeline/timeline/curve"
	"retime/pipeline/timeline/rational"
	"retime/warp"
)

// Slot is the place of one output frame between two source pictures.
type Slot struct {
	Index    int64      // number in the output, counted in subframes if frames consist of several
	Phase    warp.Phase // 0 at the first of the two pictures
	From, To *big.Rat   // when the frame is shown in the output, in seconds; nil if the index tells
}

// Layout places output frames between pictures. Moments are times on the source's clock
// in seconds, negated while a curve plays backward, so that they rise with the frames'
// numbers.
type Layout interface {
	// First is the number of the first frame.
	First() int64
	// Moment returns the moment that frame k shows.
	Moment(k int64) *big.Rat
	// Middle returns the moment in the middle of an exposure: of frame k, counted in frames
	// though they consist of subframes.
	Middle(k int64) *big.Rat
	// FirstFrom returns the number of the first frame that shows moment m or a later one.
	FirstFrom(m *big.Rat) int64
	// Between returns the frames from number k on for pictures shown at a and b, a < b.
	// Frames before a show the first of the two. If there are more than MaxSlots, Between
	// and After return the first MaxSlots of them; placed is how many earlier calls for the
	// same pictures have returned.
	Between(k, placed int64, a, b *big.Rat) []Slot
	// After returns the frames from number k on that show the last picture, which is
	// shown from a until end.
	After(k, placed int64, a, end *big.Rat) []Slot
	// Subframes is how many consecutive slots make up one frame.
	Subframes() int64
	// Shown is the time in seconds at which the frame of a slot is shown.
	Shown(s Slot) *big.Rat
	// Count returns how many frames begin before the source's time t is shown.
	Count(t *big.Rat) int64
}

// MaxSlots bounds the frames that a Layout places at a time.
const MaxSlots = 1 << 16

// Endless is more frames than any output has.
const Endless = 1<<62 - 1

// Constant lays frames at a constant rate: frame k stands at start + k*step in the
// output, and shows what the run of a curve shows then.
type Constant struct {
	run         curve.Run
	start, step *big.Rat // seconds in the output
	first       int64
	frames      int64    // frames before this number only; Endless if that is not known
	end         *big.Rat // of the part in the output, nil if that is not known
}

// First is the number of the first frame.
func (c *Constant) First() int64 { return c.first }

// End is the number after the last frame's; Endless if that is not known.
func (c *Constant) End() int64 { return c.frames }

// Middle is the moment of the frame itself.
func (c *Constant) Middle(k int64) *big.Rat { return c.Moment(k) }

// Subframes is 1.
func (c *Constant) Subframes() int64 { return 1 }

// Shown is the time since the output's first frame.
func (c *Constant) Shown(s Slot) *big.Rat { return c.offset(s.Index) }

// offset is the time of frame k since frame 0.
func (c *Constant) offset(k int64) *big.Rat {
	return new(big.Rat).Mul(c.step, new(big.Rat).SetInt64(k))
}

// Moment returns the moment that frame k shows.
func (c *Constant) Moment(k int64) *big.Rat { return c.moment(c.time(k)) }

// time returns the time of frame k on the curve.
func (c *Constant) time(k int64) *big.Rat {
	v := c.offset(k)
	return v.Add(v, c.start)
}

// moment is what the run shows at a time of the output.
func (c *Constant) moment(t *big.Rat) *big.Rat {
	v := c.run.Source(t)
	if c.run.Backward {
		v.Neg(v)
	}
	return v
}

// FirstFrom returns the number of the first frame that shows moment m or a later one.
func (c *Constant) FirstFrom(m *big.Rat) int64 { return c.firstFrom(m, 1, 1, c.Moment) }

// firstFrom looks for the first frame, of so many subframes, that shows m. Moments are
// less than some frames off, and the inverse of a curve is a little early.
func (c *Constant) firstFrom(m *big.Rat, subframes, off int64, moment func(int64) *big.Rat) int64 {
	source := m
	if c.run.Backward {
		source = new(big.Rat).Neg(m)
	}
	k := min(max((c.Count(source)-off)*subframes, c.first), c.frames)
	n := min((2*off+1)*subframes+1, c.frames-k)
	return k + int64(sort.Search(int(n), func(i int) bool { return moment(k+int64(i)).Cmp(m) >= 0 }))
}

// Count is how many frames begin before the run shows the source's time t.
func (c *Constant) Count(t *big.Rat) int64 {
	v := c.run.Output(t)
	return Ceil(v.Quo(v.Sub(v, c.start), c.step))
}

// Between returns the frames from number k on that lie before b.
func (c *Constant) Between(k, _ int64, a, b *big.Rat) []Slot {
	return between(k, c.FirstFrom(b), a, b, c.Moment)
}

// After returns the frames until end, or until the run ends if it has an end.
func (c *Constant) After(k, placed int64, a, end *big.Rat) []Slot {
	if c.run.End == nil {
		return c.Between(k, placed, a, end)
	}
	return standing(k, c.frames)
}

// between places frames from number k to end in the interval from a to b.
func between(k, end int64, a, b *big.Rat, moment func(int64) *big.Rat) []Slot {
	length := new(big.Rat).Sub(b, a)
	var slots []Slot
	for end = min(end, k+MaxSlots); k < end; k++ {
		s := Slot{Index: k}
		if d := moment(k); d.Sub(d, a).Sign() > 0 {
			s.Phase = Quantise(d.Quo(d, length))
		}
		slots = append(slots, s)
	}
	return slots
}

// standing are frames from number k to end that show one picture.
func standing(k, end int64) []Slot {
	var slots []Slot
	for end = min(end, k+MaxSlots); k < end; k++ {
		slots = append(slots, Slot{Index: k})
	}
	return slots
}

// Exposed lays frames at a constant rate of which each consists of subframes evenly
// spread over the time for which a shutter is open.
type Exposed struct {
	Constant
	open  *big.Rat // seconds of the output
	shift *big.Rat // from the frame's time to the middle of that time, in seconds of the output
	each  int64    // subframes of a frame
}

// Shutter describes the exposures of frames.
type Shutter struct {
	// Open is the share of a frame's time for which the shutter is open, from 0 to 1; nil or 0 for
	// frames of one moment.
	Open *big.Rat
	// Phase is when it opens, as a share of a frame's time after the frame's, from -1 to 1; nil for half
	// of Open before it, so that the frame's time is the middle.
	Phase *big.Rat
	// Samples is how many subframes a frame is the mean of; 0 for Subframes of the source.
	Samples int64
}

// MaxSamples is the largest number of subframes.
const MaxSamples = 256

// MaxAngle is a shutter that never closes, in degrees.
const MaxAngle = 360

// Subframes returns how many a frame is the mean of, for a shutter that is open for some
// seconds of a source of that rate: four a source frame, so that what moves by 4 pixels
// between two leaves no gaps.
func Subframes(open, rate *big.Rat) int64 {
	n := new(big.Rat).Mul(open, rate)
	return min(max(Ceil(n.Mul(n, big.NewRat(4, 1))), 8), 64)
}

// First is the number of the first subframe.
func (e *Exposed) First() int64 { return e.first * e.each }

// Subframes is how many make up a frame.
func (e *Exposed) Subframes() int64 { return e.each }

// Shown is the time of the subframe's frame since the output's first frame.
func (e *Exposed) Shown(s Slot) *big.Rat { return e.offset(s.Index / e.each) }

// Moment returns the moment that subframe k shows.
func (e *Exposed) Moment(k int64) *big.Rat {
	v := e.time(k / e.each)
	v.Add(v, e.shift)
	// (2j + 1 - n) / 2n of the exposure, j of n.
	v.Add(v, new(big.Rat).Mul(e.open, big.NewRat(2*(k%e.each)+1-e.each, 2*e.each)))
	if begin := Later(e.start, e.run.Begin); v.Cmp(begin) < 0 {
		v.Set(begin)
	}
	if e.end != nil && v.Cmp(e.end) > 0 {
		v.Set(e.end)
	}
	return e.moment(v)
}

// Middle is the moment in the middle of frame k's exposure.
func (e *Exposed) Middle(k int64) *big.Rat {
	v := e.time(k)
	return e.moment(v.Add(v, e.shift))
}

// subframeRange is the Constant whose numbers count subframes.
func (e *Exposed) subframeRange() *Constant {
	c := e.Constant
	c.first *= e.each
	if c.frames != Endless {
		c.frames *= e.each
	}
	return &c
}

// FirstFrom returns the number of the first subframe that shows moment m or a later one.
func (e *Exposed) FirstFrom(m *big.Rat) int64 {
	return e.subframeRange().firstFrom(m, e.each, 2, e.Moment)
}

// Between returns the subframes from number k on that lie before b.
func (e *Exposed) Between(k, _ int64, a, b *big.Rat) []Slot {
	return between(k, e.FirstFrom(b), a, b, e.Moment)
}

// After returns the subframes of the frames that begin before end, or of a run that has
// an end.
func (e *Exposed) After(k, _ int64, _, end *big.Rat) []Slot {
	frames := e.subframeRange().frames
	if e.run.End == nil {
		frames = min(frames, e.Count(end)*e.each)
	}
	return standing(k, frames)
}

// Kept keeps the times of the source's pictures, scaled by a constant speed.
type Kept struct {
	Constant
	slow *big.Rat
}

// Shown is the time from which the frame is shown.
func (t *Kept) Shown(s Slot) *big.Rat { return s.From }

// Between returns frames from number k on: as many, evenly spread over the time that
// the output takes from a to b, as the rate makes of it, rounded, at least one.
func (t *Kept) Between(k, placed int64, a, b *big.Rat) []Slot {
	from, length := t.run.Output(a), new(big.Rat)
	if d := new(big.Rat).Sub(t.run.From, a); d.Sign() > 0 { // a lies before the part
		from.Sub(from, d.Mul(d, t.slow))
	}
	length.Sub(t.run.Output(b), from)
	n := max(Round(new(big.Rat).Quo(length, t.step)), 1)
	at := func(j int64) *big.Rat {
		v := new(big.Rat).Mul(length, big.NewRat(j, n))
		return v.Add(v, from)
	}
	j := placed
	if early := new(big.Rat).Sub(t.start, from); early.Sign() > 0 && length.Sign() > 0 { // until the part begins
		early.Mul(early, big.NewRat(n, 1))
		j += Ceil(early.Quo(early, length))
	}
	var slots []Slot
	for ; j < n && len(slots) < MaxSlots; j++ {
		s := Slot{Index: k, Phase: Quantise(big.NewRat(j, n)), From: at(j), To: at(j + 1)}
		if j == 0 {
			s.Phase = 0
		}
		if t.end != nil && s.From.Cmp(t.end) >= 0 {
			break
		}
		slots = append(slots, s)
		k++
	}
	return slots
}

// After returns the frames until end.
func (t *Kept) After(k, placed int64, a, end *big.Rat) []Slot { return t.Between(k, placed, a, end) }

// Given lays one frame at each of some moments, which ascend.
type Given []*big.Rat

// First is 0.
func (Given) First() int64 { return 0 }

// Moment returns the moment of frame k.
func (g Given) Moment(k int64) *big.Rat { return new(big.Rat).Set(g[k]) }

// Middle is the moment itself.
func (g Given) Middle(k int64) *big.Rat { return g.Moment(k) }

// Subframes is 1.
func (Given) Subframes() int64 { return 1 }

// Shown is the moment itself.
func (g Given) Shown(s Slot) *big.Rat { return g[s.Index] }

// FirstFrom returns the number of the first moment that is m or later.
func (g Given) FirstFrom(m *big.Rat) int64 {
	i, _ := slices.BinarySearchFunc(g, m, (*big.Rat).Cmp)
	return int64(i)
}

// Count returns how many moments lie before t.
func (g Given) Count(t *big.Rat) int64 { return g.FirstFrom(t) }

// Between returns the frames from number k on that lie before b.
func (g Given) Between(k, _ int64, a, b *big.Rat) []Slot {
	return between(k, g.FirstFrom(b), a, b, g.Moment)
}

// After returns the frames from number k on that lie before end.
func (g Given) After(k, placed int64, a, end *big.Rat) []Slot { return g.Between(k, placed, a, end) }

// Quantise rounds x, in (0, 1), to a Phase that is neither end. It overwrites x.
func Quantise(x *big.Rat) warp.Phase {
	v := x.Mul(x, big.NewRat(warp.PhaseOne, 1))
	v.Add(v, big.NewRat(1, 2))
	p := rational.Floor(v)
	return warp.Phase(min(max(p, 1), warp.PhaseOne-1))
}

// Round rounds v to nearest.
func Round(v *big.Rat) int64 { return Ceil(new(big.Rat).Sub(v, big.NewRat(1, 2))) }

// Ceil rounds v up, to Endless if it is larger than an int64.
func Ceil(v *big.Rat) int64 {
	n := new(big.Int).Add(v.Num(), v.Denom())
	n.Sub(n, big.NewInt(1))
	if n.Div(n, v.Denom()); !n.IsInt64() {
		return Endless
	}
	return n.Int64()
}

// Later returns the later of two times.
func Later(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) > 0 {
		return a
	}
	return b
}
