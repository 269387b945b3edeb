package restore

import (
	"cmp"
	"math/big"
	"slices"

	"retime/frame"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/stages"
	"retime/pipeline/timeline"
	"retime/warp"
)

// repairs names the frames to synthesize from the nearest sound frames on either side. At the
// clip's ends, motion continues from the two nearest. If a scene begins between those two, the
// nearer one is shown.
type repairs struct {
	delivery
	pictures []picture // the input's, ascending
	// numbers are the numbers of the output's files, if the output is an image
	// sequence; nil to count from 1.
	numbers []int
}

// picture is a frame of the input as it is delivered, or one of its fields.
type picture struct {
	frame int64
	field Field
	stamp int64 // as it is delivered
	from  int64 // number of its first part
	to    int64 // number of the part after its last
	lost  bool  // it is replaced
	// mask has the picture's size and weighs each pixel from 0, which stays, to 255, which is
	// replaced; nil if all are.
	mask   *frame.Image[uint8]
	insert int // how many pictures to insert, evenly spaced, before the next
}

// at returns the picture at a timestamp, or one that stays if there is none.
func (r *repairs) at(stamp int64) picture {
	i, ok := slices.BinarySearchFunc(r.pictures, stamp, func(q picture, stamp int64) int { return cmp.Compare(q.stamp, stamp) })
	if !ok {
		return picture{}
	}
	return r.pictures[i]
}

// of returns the pictures that frame n is delivered as, and the number of the first.
func (r *repairs) of(n int64) ([]picture, int) {
	byFrame := func(q picture, n int64) int { return cmp.Compare(q.frame, n) }
	from, _ := slices.BinarySearchFunc(r.pictures, n, byFrame)
	to, _ := slices.BinarySearchFunc(r.pictures, n+1, byFrame)
	return r.pictures[from:to], from
}

// bad reports whether a part of frame n is replaced.
func (r *repairs) bad(n int) bool {
	pictures, _ := r.of(int64(n))
	return slices.ContainsFunc(pictures, func(q picture) bool { return q.lost })
}

// inserted returns how many frames come after frame n.
func (r *repairs) inserted(n int) int {
	pictures, _ := r.of(int64(n))
	return pictures[len(pictures)-1].insert / len(pictures)
}

// check refuses masks whose size differs from the video's.
func (r *repairs) check(v media.Video) error {
	for _, q := range r.pictures {
		if m := q.mask; m != nil && (m.Width != v.Width || m.Height != v.Height) {
			return fault.New(fault.Usage, "a mask is %dx%d, the video %dx%d; make them one size", m.Width, m.Height, v.Width, v.Height)
		}
	}
	return nil
}

// schedule is a stages.Schedule in which all frames keep their times and the frames
// of the repairs are synthesized.
type schedule struct {
	repairs *repairs
	clock   *timeline.Clock
	workers frame.Workers
	motion  bool  // frames are made along motion
	bends   bool  // motion may bend
	next    int64 // number of the next frame of the output

	// For dropDamaged: the last picture's times, the last sound picture, and the frames lost before
	// the first sound one.
	began bool
	stamp int64
	at    *big.Rat
	held  *anchor
	early []lost
	// For addContext: the last anchor that it returned, and the waiting anchors.
	before *stages.Picture
	ahead  []*anchor
	// For pair.
	last *anchor
}

// anchor is a sound picture with the frames lost after it.
type anchor struct {
	*stages.Picture
	lost    []lost
	leading bool // the picture also covers the time before the first sound one
	around  []stages.ContextPicture
	extend  *stages.Picture
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

// lost is a frame to synthesize.
type lost struct {
	at, from *big.Rat         // when it is shown: on the clock's grid, for motion, and exactly
	picture  *stages.Picture  // the damaged frame if part of it stays, else nil
	replaced *stages.Replaced // nil for an inserted frame; Mask is empty if all is replaced
}

func (l *lost) release() {
	if l.picture != nil {
		l.picture.Release()
	}
}

func (s *schedule) Next(p *stages.Picture) []*stages.Interval {
	if a := s.dropDamaged(p); a != nil {
		return s.pass(a)
	}
	return nil
}

func (s *schedule) End() (list []*stages.Interval) {
	if a := s.held; a != nil {
		s.held = nil
		list = s.pass(a)
	}
	for len(s.ahead) > 0 {
		list = append(list, s.pair(s.addContext())...)
	}
	if s.last == nil {
		return list
	}
	end := s.clock.At(s.last.Frame.PTS + s.last.Frame.Duration)
	return append(list, s.interval(s.last, nil, end, end))
}

// More returns nothing: the intervals of a restoration are short.
func (s *schedule) More() []*stages.Interval { return nil }

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

// pass queues a and returns the intervals that this completes.
func (s *schedule) pass(a *anchor) (list []*stages.Interval) {
	if !s.motion {
		return s.pair(a)
	}
	s.ahead = append(s.ahead, a)
	for len(s.ahead) > 2 || len(s.ahead) > 0 && len(s.ahead[0].lost) == 0 {
		list = append(list, s.pair(s.addContext())...)
	}
	return list
}

// dropDamaged takes over p. Once all that was lost between p and the sound picture before it is
// known, it returns that picture.
func (s *schedule) dropDamaged(p *stages.Picture) *anchor {
	stamp := p.Frame.PTS
	if s.began {
		for _, l := range s.inserted(stamp, p.At) {
			s.lose(l)
		}
	}
	s.began, s.stamp, s.at = true, stamp, p.At
	if q := s.repairs.at(stamp); q.lost {
		l := lost{at: p.At, from: s.clock.Exact(stamp), replaced: &stages.Replaced{Number: p.Guide.Number()}}
		if q.mask != nil {
			l.picture, l.replaced.Mask = p, *q.mask
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

// inserted returns the frames to insert between the last picture and the next.
func (s *schedule) inserted(next int64, at *big.Rat) (between []lost) {
	n := s.repairs.at(s.stamp).insert
	from, to := s.clock.Exact(s.stamp), s.clock.Exact(next)
	for j := 1; j <= n; j++ {
		share := big.NewRat(int64(j), int64(n)+1)
		between = append(between, lost{at: interpolate(s.at, at, share), from: interpolate(from, to, share)})
	}
	return between
}

// interpolate returns the time share of the way from a to b.
func interpolate(a, b, share *big.Rat) *big.Rat {
	v := new(big.Rat).Sub(b, a)
	return v.Add(v.Mul(v, share), a)
}

// addContext returns the first waiting anchor. If frames were lost after it, the anchor gets the
// pictures around the gap: the motion just before and just after the gap shows how the motion bends
// inside.
func (s *schedule) addContext() *anchor {
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

// surround adds the pictures on either side of the gap after a, if both exist and are no further
// away than the gap is long.
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
	for i, p := range []*stages.Picture{s.before, after.Picture} {
		a.around = append(a.around, stages.ContextPicture{Picture: p.Retain(), Span: timeline.Quantise(off[i].Quo(off[i], length))})
	}
}

// pair takes over the next anchor and returns the interval before it, if there is one.
func (s *schedule) pair(b *anchor) []*stages.Interval {
	a := s.last
	s.last = b
	if a == nil {
		return nil
	}
	defer a.release()
	return []*stages.Interval{s.interval(a, b, b.At, s.clock.Exact(b.Frame.PTS))}
}

// interval returns the interval from a with the frames lost after it. It ends at end on the clock's
// grid, and at exact in the source. b is nil after the last anchor.
func (s *schedule) interval(a, b *anchor, end, exact *big.Rat) *stages.Interval {
	var second *stages.Picture
	if b != nil {
		second = b.Picture
	}
	v := stages.NewInterval(a.Picture, second, s.targets(a, second, end, exact))
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

func (s *schedule) targets(a *anchor, second *stages.Picture, end, exact *big.Rat) []*stages.Target {
	shown := make([]lost, 0, 1+len(a.lost))
	if !a.leading {
		shown = append(shown, lost{at: a.At, from: s.clock.Exact(a.Frame.PTS)})
	}
	shown = append(shown, a.lost...)
	length := new(big.Rat).Sub(end, a.At)
	targets := make([]*stages.Target, len(shown))
	for i, l := range shown {
		t := &stages.Target{Slot: timeline.Slot{Index: s.next, From: l.from, To: exact}, Lost: i > 0 || a.leading, Replaced: l.replaced}
		s.next++
		if i+1 < len(shown) {
			t.To = shown[i+1].from
		}
		if d := new(big.Rat).Sub(l.at, a.At); d.Sign() > 0 && length.Sign() > 0 {
			t.Phase = timeline.Quantise(d.Quo(d, length))
		}
		if l.picture != nil && t.Phase > 0 && second != nil {
			t.Phase = ownSide(t.Phase, a.Frame, l.picture.Frame, second.Frame, l.replaced.Mask)
		}
		if t.Lost && a.extend != nil {
			near := a.At
			if a.leading {
				near = end
			}
			t.Beyond = extrapolation(a.extend.At, near, l.at)
		}
		if l.picture != nil {
			t.Compose = func(dst, made *frame.Frame) error {
				compose(s.workers, dst, l.picture.Frame, made, l.replaced.Mask)
				return nil
			}
		}
		targets[i] = t
	}
	return targets
}

// maxExtrapolation bounds how far motion continues beyond a clip's ends, in distances between the
// two pictures that the motion comes from; there it stops.
const maxExtrapolation = 2 * warp.PhaseOne

// extrapolation returns how far at is beyond the picture at near, in distances from near to the
// picture at far.
func extrapolation(far, near, at *big.Rat) warp.Phase {
	length := new(big.Rat).Sub(far, near)
	d := new(big.Rat).Sub(near, at)
	d.Mul(d.Quo(d, length), big.NewRat(warp.PhaseOne, 1))
	return warp.Phase(min(max(timeline.Ceil(d), 0), maxExtrapolation))
}
