package stages

import (
	"context"
	"math/big"
	"sync"

	"retime/frame"
	"retime/pipeline/decision"
	"retime/pipeline/fault"
	"retime/pipeline/motion"
	"retime/pipeline/synth"
	"retime/pipeline/timeline"
	"retime/pipeline/timeline/rational"
	"retime/warp"
)

// Single makes frames of an output in any order, each from the pictures around it, with the
// samples that a Line makes. Its source has a constant rate and is read by the numbers of its
// pictures. Any number of goroutines may use it at once. It describes frames as a Line does, but the
// record of a source's frame does not tell how much changes after it.
//
// It keeps the pictures and the intervals that were used last. Decisions, DropRepeats,
// Open and the Hooks but Log and Rate do not count: a repeat is known only by the pictures before it.
type Single struct {
	run      *run
	layout   timeline.Layout
	rate     *big.Rat // of the source
	pictures int64
	cut      cuts

	frames    recent[*frame.Frame]
	intervals recent[*between]

	mu         sync.Mutex
	estimators []*motion.Estimator // that nobody uses
}

// between is an interval from picture n to the next, and what is known of it.
type between struct {
	*Interval
	n                   int64
	estimated, prepared once
}

// once does something once, and gives everybody its error.
type once struct {
	sync.Once
	err error
}

func (o *once) do(f func() error) error {
	o.Do(func() { o.err = f() })
	return o.err
}

// Pictures gives a picture of a source by its number, with a reference that the caller releases.
type Pictures func(n int64) (*frame.Frame, error)

// NewSingle returns a Single of a layout over a source of a constant rate, of which a number of
// pictures is known, and which makes frames by s, on the CPU; the caller closes both. Up to room
// intervals and four more pictures are kept.
func NewSingle(p Params, layout timeline.Layout, v timeline.Video, pictures int64, room int, s synth.Synthesizer) (*Single, error) {
	if layout.Subframes() > 1 || v.Rate == nil {
		return nil, fault.New(fault.Usage, "single frames need a source of a constant rate, and have no shutter")
	}
	line := NewLine(p, nil, nil, s)
	pass := &timeline.Pass{Layout: layout}
	ways, err := decision.NewWays(p.Way, nil)
	if err != nil {
		return nil, err
	}
	r, err := line.newRun(p.Way.Preset, pass, Whole(), v)
	if err != nil {
		return nil, err
	}
	r.ways, r.synth = ways, s
	return &Single{
		run: r, layout: layout, rate: v.Rate, pictures: pictures, cut: newCuts(&p),
		frames:    recent[*frame.Frame]{room: room + 4, retain: func(f *frame.Frame) { f.Retain() }},
		intervals: recent[*between]{room: room, retain: func(b *between) { b.retain() }},
	}, nil
}

// Close frees what is kept. Nothing may be in use.
func (s *Single) Close() {
	s.intervals.clear()
	s.frames.clear()
	for _, e := range s.estimators {
		e.Close()
	}
	s.estimators = nil
}

// at returns the time of picture n.
func (s *Single) at(n int64) *big.Rat { return new(big.Rat).Quo(big.NewRat(n, 1), s.rate) }

// Frames returns how many frames there are.
func (s *Single) Frames() int64 { return s.layout.FirstFrom(s.at(s.pictures)) }

// before returns the number of the last picture at or before frame k's moment, or of the first one.
func (s *Single) before(k int64) int64 {
	m := s.layout.Moment(k)
	return min(max(rational.Floor(m.Mul(m, s.rate)), 0), s.pictures-1)
}

// slots returns the frames between picture n and the next one.
func (s *Single) slots(n int64) []timeline.Slot {
	a, b := s.at(n), s.at(n+1)
	k := s.layout.First()
	if n > 0 {
		k = s.layout.FirstFrom(a)
	}
	if n == s.pictures-1 {
		return s.layout.After(k, 0, a, b)
	}
	return s.layout.Between(k, 0, a, b)
}

// makes reports whether a frame may be made between picture n and the next one.
func (s *Single) makes(n int64) bool {
	if n < 0 || n+1 >= s.pictures {
		return false
	}
	a, b := s.at(n), s.at(n+1)
	k, end := s.layout.FirstFrom(a), s.layout.FirstFrom(b)
	for k < end && s.layout.Moment(k).Cmp(a) == 0 {
		k++
	}
	return k < end
}

// Needs returns the numbers of the first and the last of the pictures that frame k is made from: one,
// or two to four.
func (s *Single) Needs(k int64) (first, last int64) {
	n := s.before(k)
	if n == s.pictures-1 || s.at(n).Cmp(s.layout.Moment(k)) >= 0 {
		return n, n
	}
	first, last = n, n+1
	if s.run.params.Mode.UsesFlow() {
		if s.makes(n - 1) {
			first--
		}
		if s.makes(n + 1) {
			last++
		}
	}
	return first, last
}

// Make fills dst with frame k, and returns its record.
func (s *Single) Make(ctx context.Context, dst *frame.Frame, k int64, pictures Pictures) (Record, error) {
	n := s.before(k)
	b, err := s.around(k, n, pictures)
	if err != nil {
		return Record{}, err
	}
	defer b.Release()
	var t *Target
	for _, v := range b.Targets {
		if v.Index == k {
			t = &Target{Slot: v.Slot}
		}
	}
	if t == nil {
		return Record{}, fault.New(fault.Usage, "there is no frame %d, or too many lie between two pictures", k)
	}
	if b.B != nil {
		ready := s.estimate(ctx, b)
		if ready == nil && t.Phase != 0 {
			ready = s.prepare(ctx, b, pictures)
		}
		if ready != nil {
			s.intervals.drop(b) // the next call tries again
			return Record{}, ready
		}
	}
	t.method = s.run.method(b.Interval, t)
	to := func(*frame.Frame) (*frame.Frame, error) { return dst.Retain(), nil }
	if err := s.run.startTarget(ctx, b.Interval, t, to); err != nil {
		return Record{}, err
	}
	defer t.frame.Release()
	if err := t.complete(); err != nil {
		return Record{}, err
	}
	if t.frame != dst {
		frame.Copy(dst, t.frame)
	}
	return t.record, nil
}

// around returns the interval of frame k, which lies at or after picture n, with a reference. Its
// second picture is left out if it does not matter.
func (s *Single) around(k, n int64, pictures Pictures) (*between, error) {
	if first, last := s.Needs(k); first != last {
		return s.get(n, pictures)
	}
	a, err := s.picture(n, pictures)
	if err != nil {
		return nil, err
	}
	defer a.Release()
	v := NewInterval(a, nil, targets(s.slots(n)))
	v.Rest()
	return &between{Interval: v, n: n}, nil
}

// get returns the interval from picture n, with a reference.
func (s *Single) get(n int64, pictures Pictures) (*between, error) {
	if b, ok := s.intervals.find(n); ok {
		return b, nil
	}
	a, err := s.picture(n, pictures)
	if err != nil {
		return nil, err
	}
	defer a.Release()
	v := NewInterval(a, nil, targets(s.slots(n)))
	if n+1 < s.pictures {
		b, err := s.picture(n+1, pictures)
		if err != nil {
			v.Release()
			return nil, err
		}
		defer b.Release()
		v.B = v.Keep(b)
		v.Hold = v.Turn()
	} else {
		v.Rest()
	}
	s.run.settleMotion(v)
	return s.intervals.keep(n, &between{Interval: v, n: n}), nil
}

func (s *Single) picture(n int64, pictures Pictures) (*Picture, error) {
	f, ok := s.frames.find(n)
	if !ok {
		made, err := pictures(n)
		if err != nil {
			return nil, err
		}
		f = s.frames.keep(n, made)
	}
	at := s.at(n)
	return &Picture{Frame: f, Number: n, Guide: motion.NewGuide(f, s.run.scale), At: at, Last: at}, nil
}

// estimate estimates b's flow, and finds whether there is a cut in it.
func (s *Single) estimate(ctx context.Context, b *between) error {
	return b.estimated.do(func() error {
		if b.moves {
			e, err := s.estimator(ctx)
			if err != nil {
				return err
			}
			err = estimateInterval(e, b.Interval, &s.run.params)
			s.mu.Lock()
			s.estimators = append(s.estimators, e)
			s.mu.Unlock()
			if err != nil {
				return err
			}
		}
		b.cut = b.B != nil && s.cut.within(b.Interval, false)
		return nil
	})
}

// estimator returns one that nobody uses.
func (s *Single) estimator(ctx context.Context) (*motion.Estimator, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.estimators); n > 0 {
		e := s.estimators[n-1]
		s.estimators = s.estimators[:n-1]
		return e, nil
	}
	return s.run.params.Flow.Estimator(context.WithoutCancel(ctx))
}

// prepare announces b, whose flow is known, to the synthesizer, with the flow of its neighbours,
// unless no frame is made in it.
func (s *Single) prepare(ctx context.Context, b *between, pictures Pictures) error {
	return b.prepared.do(func() error {
		ctx := context.WithoutCancel(ctx) // others wait for it, too
		if s.run.method(b.Interval, &Target{Slot: timeline.Slot{Phase: 1}}) != decision.Interpolated {
			return nil
		}
		w := window{now: b.Interval}
		for _, side := range []struct {
			n  int64
			to **Interval
		}{{b.n - 1, &w.before}, {b.n + 1, &w.after}} {
			if !s.run.params.Mode.UsesFlow() || !s.makes(side.n) {
				continue
			}
			o, err := s.get(side.n, pictures)
			if err != nil {
				return err
			}
			defer o.Release()
			if err := s.estimate(ctx, o); err != nil {
				s.intervals.drop(o)
				return err
			}
			*side.to = o.Interval
		}
		var err error
		b.work, err = s.run.begin(ctx, &w, warp.PhaseOne)
		return err
	})
}
