package restore

import (
	"math/big"

	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/timeline"
	"retime/warp"
)

// repairs say which frames are made anew, from the nearest frames on either side that
// are not. At the clip's ends motion is continued from the two nearest. If a scene
// begins between the two, the nearer one is shown.
type repairs struct {
	// frames are the frames to replace, by their timestamps in the stream's time
	// base. The mask weighs what is replaced from 0 to 255 and is of the picture's
	// size; an empty one stands for the whole picture.
	frames map[int64]frame.Image[uint8]
	// insert is how many frames are put in between the one of that timestamp and
	// the next, evenly spread.
	insert map[int64]int
	// numbers are those of the output's frames, if it is an image sequence; nil to
	// count from 1.
	numbers []int
}

// bad says whether the frame at a timestamp is replaced.
func (r *repairs) bad(stamp int64) bool {
	_, bad := r.frames[stamp]
	return bad
}

// check refuses masks of another size than the picture's.
func (r *repairs) check(v media.Video) error {
	for _, m := range r.frames {
		if m.Width != 0 && (m.Width != v.Width || m.Height != v.Height) {
			return fault.New(fault.Usage, "a mask is %dx%d, the video %dx%d; make them one size", m.Width, m.Height, v.Width, v.Height)
		}
	}
	return nil
}

// schedule is a pipeline.Schedule in which all frames keep their times, and those of the
// repairs are made anew.
type schedule struct {
	repairs *repairs
	clock   *timeline.Clock
	workers frame.Workers
	motion  bool  // frames are made along motion
	bends   bool  // motion may bend
	next    int64 // number of the frame that is placed next

	// Of leaveOut: the last picture at all, of which only the time counts, the last one
	// that stays, and what is lost before the first that stays.
	began bool
	stamp int64
	at    *big.Rat
	held  *anchor
	early []lost
	// Of lookAround: the last anchor that went on, and those that wait.
	before *pipeline.Picture
	ahead  []*anchor
	// Of pair.
	last *anchor
}

// anchor is a picture that stays, with what is lost behind it.
type anchor struct {
	*pipeline.Picture
	lost    []lost
	leading bool // the picture stands for what comes before the first one that stays
	around  []pipeline.Context
	extend  *pipeline.Picture
}

func (a *anchor) release() {
	a.Release()
	for _, l := range a.lost {
		l.release()
	}
	for _, c := range a.around {
		c.Release()
	}
	if a.extend != nil {
		a.extend.Release()
	}
}

// lost is a frame that is made anew.
type lost struct {
	at, from *big.Rat           // when it is shown: for motion, and exactly as the source has it
	picture  *pipeline.Picture  // what is kept of it outside the mask; nil for nothing
	mask     frame.Image[uint8] // as in repairs
}

func (l *lost) release() {
	if l.picture != nil {
		l.picture.Release()
	}
}

func (s *schedule) Next(p *pipeline.Picture) []*pipeline.Interval {
	if a := s.leaveOut(p); a != nil {
		return s.pass(a)
	}
	return nil
}

func (s *schedule) End() (list []*pipeline.Interval) {
	if a := s.held; a != nil {
		s.held = nil
		list = s.pass(a)
	}
	for len(s.ahead) > 0 {
		list = append(list, s.pair(s.lookAround())...)
	}
	if s.last == nil {
		return list
	}
	end := s.clock.At(s.last.Frame.PTS + s.last.Frame.Duration)
	return append(list, s.interval(s.last, nil, end, end))
}

func (s *schedule) Close() {
	for _, a := range append(s.ahead, s.held, s.last) {
		if a != nil {
			a.release()
		}
	}
	for _, l := range s.early {
		l.release()
	}
	if s.before != nil {
		s.before.Release()
	}
}

// pass looks around a and returns the intervals that are complete then.
func (s *schedule) pass(a *anchor) (list []*pipeline.Interval) {
	if !s.motion {
		return s.pair(a)
	}
	s.ahead = append(s.ahead, a)
	for len(s.ahead) > 2 || len(s.ahead) > 0 && len(s.ahead[0].lost) == 0 {
		list = append(list, s.pair(s.lookAround())...)
	}
	return list
}

// leaveOut takes over p and returns the picture before it that stays, once what was lost
// behind that is known.
func (s *schedule) leaveOut(p *pipeline.Picture) *anchor {
	stamp := p.Frame.PTS
	if s.began {
		for _, l := range s.inserted(stamp, p.At) {
			s.lose(l)
		}
	}
	s.began, s.stamp, s.at = true, stamp, p.At
	if mask, bad := s.repairs.frames[stamp]; bad {
		l := lost{at: p.At, from: s.clock.Exact(stamp), mask: mask}
		if mask.Width > 0 {
			l.picture = p
		} else {
			p.Release()
		}
		s.lose(l)
		return nil
	}
	before := s.held
	s.held = &anchor{Picture: p}
	if before == nil && len(s.early) > 0 {
		lead := *p.Retain()
		lead.At, lead.Last = s.early[0].at, s.early[0].at
		before = &anchor{Picture: &lead, lost: s.early, leading: true}
		s.early = nil
	}
	return before
}

func (s *schedule) lose(l lost) {
	if s.held == nil {
		s.early = append(s.early, l)
	} else {
		s.held.lost = append(s.held.lost, l)
	}
}

// inserted are the frames that are put in between the last picture and the next.
func (s *schedule) inserted(next int64, at *big.Rat) (between []lost) {
	n := s.repairs.insert[s.stamp]
	from, to := s.clock.Exact(s.stamp), s.clock.Exact(next)
	for j := 1; j <= n; j++ {
		share := big.NewRat(int64(j), int64(n)+1)
		between = append(between, lost{at: mix(s.at, at, share), from: mix(from, to, share)})
	}
	return between
}

// mix is the time that lies at a share of the way from a to b.
func mix(a, b, share *big.Rat) *big.Rat {
	v := new(big.Rat).Sub(b, a)
	return v.Add(v.Mul(v, share), a)
}

// lookAround returns the first anchor that waits. If frames were lost behind it, it gets
// the pictures around the gap: the motion right before the gap and right behind it tells
// how it went on in there.
func (s *schedule) lookAround() *anchor {
	a := s.ahead[0]
	s.ahead = s.ahead[1:]
	switch {
	case len(a.lost) == 0:
	case a.leading && len(s.ahead) > 1:
		a.extend = s.ahead[1].Retain()
	case len(s.ahead) == 0 && s.before != nil:
		a.extend = s.before.Retain()
	case s.bends:
		s.surround(a)
	}
	if !a.leading {
		if s.before != nil {
			s.before.Release()
		}
		s.before = a.Retain()
	}
	return a
}

// surround gives a the pictures around the gap behind it, if both are there and no
// further off than the gap is long.
func (s *schedule) surround(a *anchor) {
	if a.leading || s.before == nil || len(s.ahead) < 2 {
		return
	}
	next, after := s.ahead[0], s.ahead[1]
	length := new(big.Rat).Sub(next.At, a.At)
	off := [2]*big.Rat{new(big.Rat).Sub(a.At, s.before.At), new(big.Rat).Sub(after.At, next.At)}
	for _, d := range off {
		if d.Cmp(length) > 0 {
			return
		}
	}
	for i, p := range []*pipeline.Picture{s.before, after.Picture} {
		a.around = append(a.around, pipeline.Context{Picture: p.Retain(), Span: timeline.Quantise(off[i].Quo(off[i], length))})
	}
}

// pair takes over the next anchor and returns the interval before it.
func (s *schedule) pair(b *anchor) []*pipeline.Interval {
	a := s.last
	s.last = b
	if a == nil {
		return nil
	}
	defer a.release()
	return []*pipeline.Interval{s.interval(a, b, b.At, s.clock.Exact(b.Frame.PTS))}
}

// interval holds the frames of a and of what was lost behind it, up to an end on the grid
// and exactly. b is nil behind the last anchor.
func (s *schedule) interval(a, b *anchor, end, exact *big.Rat) *pipeline.Interval {
	var second *pipeline.Picture
	if b != nil {
		second = b.Picture
	}
	v := pipeline.NewInterval(a.Picture, second, s.targets(a, end, exact))
	v.Leading = a.leading
	for _, c := range a.around {
		v.Keep(c.Picture)
		v.Around = append(v.Around, c)
	}
	if a.extend != nil {
		v.Extend = v.Keep(a.extend)
	}
	for _, l := range a.lost {
		if l.picture != nil {
			v.Keep(l.picture)
		}
	}
	if b == nil {
		v.Rest()
	} else {
		v.Hold = v.Turn()
	}
	return v
}

func (s *schedule) targets(a *anchor, end, exact *big.Rat) []*pipeline.Target {
	shown := make([]lost, 0, 1+len(a.lost))
	if !a.leading {
		shown = append(shown, lost{at: a.At, from: s.clock.Exact(a.Frame.PTS)})
	}
	shown = append(shown, a.lost...)
	length := new(big.Rat).Sub(end, a.At)
	targets := make([]*pipeline.Target, len(shown))
	for i, l := range shown {
		t := &pipeline.Target{Slot: timeline.Slot{Index: s.next, From: l.from, To: exact}, Lost: i > 0 || a.leading}
		s.next++
		if i+1 < len(shown) {
			t.To = shown[i+1].from
		}
		if d := new(big.Rat).Sub(l.at, a.At); d.Sign() > 0 {
			t.Phase = timeline.Quantise(d.Quo(d, length))
		}
		if t.Lost && a.extend != nil {
			near := a.At
			if a.leading {
				near = end
			}
			t.Beyond = beyond(a.extend.At, near, l.at)
		}
		if l.picture != nil {
			t.Compose = func(dst, made *frame.Frame) { compose(s.workers, dst, l.picture.Frame, made, l.mask) }
		}
		targets[i] = t
	}
	return targets
}

// farthest is how far motion is continued beyond a clip's ends, in distances of the
// two pictures that it is taken from; there it stops.
const farthest = 2 * warp.PhaseOne

// beyond is how far a moment lies off the picture near, in distances from the picture
// near to the one at far.
func beyond(far, near, at *big.Rat) warp.Phase {
	length := new(big.Rat).Sub(far, near)
	d := new(big.Rat).Sub(near, at)
	d.Mul(d.Quo(d, length), big.NewRat(warp.PhaseOne, 1))
	return warp.Phase(min(max(timeline.Ceil(d), 0), farthest))
}
