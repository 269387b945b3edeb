package stages

import (
	"context"
	"errors"
	"log/slog"
	"math/big"
	"slices"

	"retime/frame"
	"retime/pipeline/timeline"
	"retime/warp"
)

// Schedule turns the pictures of a source into the intervals in which the output's
// frames lie. One goroutine calls it.
type Schedule interface {
	// Next takes over the source's next picture and returns the intervals that are
	// complete with it, in order, each with a target at least. The caller owns them.
	Next(p *Picture) []*Interval
	// End returns the intervals that waited for a further picture.
	End() []*Interval
	// More returns what is left of the intervals that Next or End returned last, if they
	// have too many targets to make all at once; none if that was all.
	More() []*Interval
	// Close releases the pictures that are still held.
	Close()
}

// pairing is the Schedule of frames that a layout places between neighbouring pictures.
type pairing struct {
	layout timeline.Layout
	clock  *timeline.Clock
	gap    *big.Rat // intervals that are longer are gaps; nil for none
	gaps   *gapWarning
	midway bool // the source is read from some picture on that is not its first
	last   *Picture
	next   int64    // number of the frame to be placed next
	from   *Picture // that begins an interval whose frames are not all placed; nil for none
	placed int64    // how many of them are
	ended  bool     // the interval is the one after the last picture
}

func (s *pairing) Next(p *Picture) []*Interval {
	a := s.last
	s.last = p
	if a == nil {
		if s.next = s.layout.First(); s.midway {
			s.next = s.layout.FirstFrom(p.At)
		}
		return nil
	}
	s.from, s.placed = a, 0
	return s.More()
}

func (s *pairing) End() []*Interval {
	if s.last == nil {
		return nil
	}
	s.from, s.placed, s.ended = s.last.Retain(), 0, true
	return s.More()
}

func (s *pairing) More() []*Interval {
	a := s.from
	if a == nil {
		return nil
	}
	var slots []timeline.Slot
	if s.ended {
		slots = s.layout.After(s.next, s.placed, a.At, s.clock.At(a.Frame.PTS+a.Frame.Duration))
	} else {
		slots = s.layout.Between(s.next, s.placed, a.At, s.last.At)
	}
	var list []*Interval
	if len(slots) > 0 {
		list = []*Interval{s.interval(slots)}
	}
	s.next, s.placed = s.next+int64(len(slots)), s.placed+int64(len(slots))
	if len(slots) < timeline.MaxSlots {
		s.from = nil
		a.Release()
	}
	return list
}

// interval returns the interval that begins with from.
func (s *pairing) interval(slots []timeline.Slot) *Interval {
	if s.ended {
		v := NewInterval(s.from, nil, targets(slots))
		v.Rest() // nothing follows: the last frame stays
		return v
	}
	v := NewInterval(s.from, s.last, targets(slots))
	v.again = s.placed > 0
	v.Hold = v.Turn()
	if s.gap != nil && v.length().Cmp(s.gap) > 0 {
		v.Gap, v.Hold = true, warp.PhaseOne
		if !v.again {
			s.gaps.warn(v)
		}
	}
	return v
}

func (s *pairing) Close() {
	if s.from != nil {
		s.from.Release()
	}
	if s.last != nil {
		s.last.Release()
	}
}

func targets(slots []timeline.Slot) []*Target {
	list := make([]*Target, len(slots))
	for i, s := range slots {
		list[i] = &Target{Slot: s}
	}
	return list
}

// Turn returns the phase at which the first picture gives way to the second if nothing is made
// between them: half-way between when the first was last shown and the second.
func (v *Interval) Turn() warp.Phase {
	t := new(big.Rat).Add(v.A.Last, v.B.At)
	return v.phase(t.Quo(t, big.NewRat(2, 1)))
}

// phase returns the phase of a moment between the two pictures.
func (v *Interval) phase(t *big.Rat) warp.Phase {
	t = new(big.Rat).Sub(t, v.A.At)
	return timeline.Quantise(t.Quo(t, v.length()))
}

// gapWarning warns of the first gap.
type gapWarning struct {
	log *slog.Logger
	n   int64
}

func (w *gapWarning) warn(v *Interval) {
	if w.n++; w.n == 1 {
		w.log.Warn("the source has gaps, in which the frame before stands", "first", v.A.At.FloatString(3)+" s", "length", v.length().FloatString(3)+" s")
	}
}

// ErrLate says that a source that is read midway begins too late for the first frame of a
// Range. Nothing has reached the sink then.
var ErrLate = errors.New("reading begins too late for the first frame")

// Range is frames of the output, from number First to before End, which consist of
// subframes or not.
type Range struct {
	First, End int64
	// Midway is set if the source is read from some picture on that is not its first.
	Midway bool
}

// Whole is the range of all frames.
func Whole() Range { return Range{End: timeline.Endless} }

// schedule turns pictures into intervals, and says of which the flow is wanted.
func (r *run) schedule(s Schedule, from <-chan *Picture) stage[*Interval] {
	return func(_ context.Context, emit func(*Interval) error) error {
		defer s.Close()
		part := func(list []*Interval) error {
			for i, v := range list {
				r.settleMotion(v)
				if err := emit(v); err != nil {
					for _, left := range list[i+1:] {
						left.Release()
					}
					return err
				}
			}
			return nil
		}
		pass := func(list []*Interval) error {
			for ; len(list) > 0; list = s.More() {
				if err := part(list); err != nil {
					return err
				}
			}
			return nil
		}
		for p := range from {
			if err := pass(s.Next(p)); err != nil {
				return err
			}
		}
		return pass(s.End())
	}
}

// settleMotion says whether v's flow is wanted: not between pictures that are the same.
func (r *run) settleMotion(v *Interval) {
	if v.B != nil && v.makes() && frame.Equal(v.A.Frame, v.B.Frame) {
		v.Rest()
	}
	v.moves = v.makes() && !v.Gap && r.params.Mode.UsesFlow()
}

// crop passes on the intervals in which frames of the run lie, and for each of them the one
// before and the one after, whose motion tells how the motion changes: prepare drops the
// targets that the run does not make. Behind its last frame the run wants no further picture.
func (r *run) crop(from <-chan *Interval) stage[*Interval] {
	end := r.end()
	return func(_ context.Context, emit func(*Interval) error) error {
		var lead *Interval // the last one that was not passed on
		defer func() {
			if lead != nil {
				lead.Release()
			}
		}()
		begun, trails, done := false, false, false // trails: the one before holds frames of the run
		for v := range from {
			if done {
				v.Release()
				continue
			}
			if v.Targets[0].Index >= end {
				done = true
				r.wanting.Add(-1)
			}
			holds := r.holdsAny(v)
			if !holds && !trails {
				if lead != nil {
					lead.Release()
				}
				lead = v
				continue
			}
			if lead == nil && !begun && r.want.Midway {
				v.Release()
				return ErrLate
			}
			if before := lead; before != nil {
				lead, before.again = nil, false // what it goes on with was not passed on
				if err := emit(before); err != nil {
					v.Release()
					return err
				}
			}
			begun, trails = true, holds
			if err := emit(v); err != nil {
				return err
			}
		}
		return nil
	}
}

// holdsAny reports whether the run makes any of v's targets.
func (r *run) holdsAny(v *Interval) bool {
	return slices.ContainsFunc(v.Targets, func(t *Target) bool { return r.holds(t.Index) })
}

// holds reports whether a slot lies in r.
func (r Range) holds(index int64) bool { return index >= r.First && index < r.End }
