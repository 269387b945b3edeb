package restore

import (
	"cmp"
	"errors"
	"slices"

	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/media"
	"retime/pipeline/restore/fields"
)

// interlaced describes the frames of an interlaced input.
type interlaced struct {
	order       Field  // that comes first in each frame; empty to go by the frames' marks
	marked      Field  // that comes first in the first frame that is marked as interlaced; empty if none is
	bottomFirst []bool // by the frame's number
	looks       []look // of all frames but the last
	probe       *media.FieldProbe
}

// look is how a frame looks among its neighbours.
type look uint8

const (
	stands look = iota // too little moves to tell
	oneMoment
	twoMoments
)

// add takes the next frame. One that is not marked, among others, has the order of the one before.
func (s *interlaced) add(f *frame.Frame) error {
	top, marked := media.TopFieldFirst(f)
	bottom := !top
	if marked && s.marked == BothFields {
		if s.marked = TopField; bottom {
			s.marked = BottomField
		}
	}
	if n := len(s.bottomFirst); s.order != BothFields {
		bottom = s.order == BottomField
	} else if !marked {
		bottom = n > 0 && s.bottomFirst[n-1]
	}
	s.bottomFirst = append(s.bottomFirst, bottom)
	l := stands
	if s.probe == nil { // so small a picture
		l = twoMoments
	} else if moves, combed := s.probe.Look(f); combed {
		l = twoMoments
	} else if moves {
		l = oneMoment
	}
	if len(s.bottomFirst) > 1 {
		s.looks = append(s.looks, l)
	}
	return nil
}

func (*interlaced) warn(*pipeline.Options)                    {}
func (s *interlaced) detection(o *Options) (detection, error) { return newFieldDetector(o, s) }
func (*interlaced) check(Place) error                         { return nil }
func (*interlaced) parts() int64                              { return 2 }

func (s *interlaced) topFirst(n int64) bool { return !s.bottomFirst[n] }

// field returns which field the n-th of the stream is.
func (s *interlaced) field(n int64) Field {
	if s.topFirst(n/2) == (n%2 == 0) {
		return TopField
	}
	return BottomField
}

// beside is how many frames on either side of damage come as two pictures: more than the schedule
// makes others from.
const beside = 3

func (s *interlaced) deliver(d *damage, stamps []int64) (delivery, []picture) {
	w := s.weave(d, stamps)
	pictures := make([]picture, 0, len(stamps)+len(w.Split))
	for n := range int64(len(stamps)) {
		q := picture{frame: n, stamp: 2 * stamps[n], from: 2 * n, to: 2*n + 2}
		if second, split := w.Split[n]; split {
			q.field, q.to = s.field(2*n), 2*n+1
			pictures = append(pictures, q)
			q = picture{frame: n, field: s.field(2*n + 1), stamp: second, from: 2*n + 1, to: 2*n + 2}
		}
		pictures = append(pictures, q)
	}
	return woven{w, s}, pictures
}

// weave returns which fields come as pictures of their own for the repair of d.
func (s *interlaced) weave(d *damage, stamps []int64) *fields.Weave {
	w := &fields.Weave{Split: map[int64]int64{}, Lost: map[int64]fields.Set{}, Insert: map[int64]int{}, TopFirst: s.topFirst}
	var touched []int64 // frames
	for n := range d.bad {
		set := fields.Top
		if s.field(n) == BottomField {
			set = fields.Bottom
		}
		w.Lost[n/2] |= set
		touched = append(touched, n/2)
	}
	for n, f := range d.inserts {
		w.Insert[n/2] = f.Insert
		touched = append(touched, n/2, n/2+1)
	}
	slices.Sort(touched)
	usual := usualStep(stamps)
	for i := 0; i < len(touched); {
		j := i + 1
		for j < len(touched) && touched[j]-touched[j-1] <= 2*beside {
			j++
		}
		if first, last := touched[i], touched[j-1]; !s.standsForFrames(w, first, last) {
			for n := max(first-beside, 0); n <= min(last+beside, int64(len(stamps))-1); n++ {
				step := usual
				if n+1 < int64(len(stamps)) {
					step = min(step, stamps[n+1]-stamps[n])
				}
				w.Split[n] = 2*stamps[n] + step
			}
		}
		i = j
	}
	return w
}

// usualStep returns the median of the steps between timestamps.
func usualStep(stamps []int64) int64 {
	var steps []int64
	for i := 1; i < len(stamps); i++ {
		steps = append(steps, stamps[i]-stamps[i-1])
	}
	if len(steps) == 0 {
		return 1
	}
	slices.Sort(steps)
	return steps[len(steps)/2]
}

// How many frames that move are asked on either side of damage whether they show one moment or two, and
// how far away they may be.
const (
	asked   = 3
	askedIn = 25
)

// standsForFrames reports whether the frames around damage from first to last show one moment each, although
// their stream is interlaced: all that are asked must agree.
func (s *interlaced) standsForFrames(w *fields.Weave, first, last int64) bool {
	var one, two int
	ask := func(n, step int64) {
		found := 0
		for range askedIn {
			if n < 0 || n >= int64(len(s.looks)) || found == asked {
				return
			}
			// A frame is judged by its neighbours, too.
			if w.Lost[n-1]|w.Lost[n]|w.Lost[n+1] == 0 && s.looks[n] != stands {
				found++
				if s.looks[n] == oneMoment {
					one++
				} else {
					two++
				}
			}
			n += step
		}
	}
	ask(first-1, -1)
	ask(last+1, 1)
	return one > 0 && two == 0
}

// fieldDetector finds damage in the fields of frames: one detector sees the top fields, and another the
// bottom fields.
type fieldDetector struct {
	top, bottom *detector
	fields      *interlaced        // has seen the frame that comes next
	last        frame.Image[uint8] // the luma of the field shown last; empty before the first
	lastSeen    *signature         // of that field
}

func newFieldDetector(o *Options, fields *interlaced) (*fieldDetector, error) {
	top, err := newDetector(o)
	if err != nil {
		return nil, err
	}
	bottom, err := newDetector(o)
	if err != nil {
		top.close()
		return nil, err
	}
	// The heads of a tape switch in the last row of cells.
	top.rows, bottom.rows = cellsY-1, cellsY-1
	return &fieldDetector{top: top, bottom: bottom, fields: fields}, nil
}

func (d *fieldDetector) close() {
	d.top.close()
	d.bottom.close()
}

func (d *fieldDetector) add(f *frame.Frame) error {
	first, second, sets := d.top, d.bottom, [2]fields.Set{fields.Top, fields.Bottom}
	if !d.fields.topFirst(int64(len(d.fields.bottomFirst) - 1)) {
		first, second, sets = d.bottom, d.top, [2]fields.Set{fields.Bottom, fields.Top}
	}
	a, b := fields.View(f, sets[0]), fields.View(f, sets[1])
	lumaA, lumaB := first.luma(a), second.luma(b)
	measured := make(chan *signature, 1)
	go func() { measured <- newSignature(b, lumaB) }()
	nextA := numbered{signature: newSignature(a, lumaA), beside: d.lastSeen}
	nextB := numbered{signature: <-measured}
	if n := len(second.window); n > 0 {
		second.window[n-1].beside, second.window[n-1].after = nextA.signature, true
	}
	before, done := d.last, make(chan error, 1)
	d.last, d.lastSeen = lumaB, nextB.signature
	go func() { done <- second.see(b, nextB, lumaB, lumaA) }()
	return errors.Join(first.see(a, nextA, lumaA, before), <-done)
}

// finish returns the findings of both detectors: damage to a frame if both have found it, else to a field,
// gaps, and the jumps that both have found.
func (d *fieldDetector) finish(stamps []int64) []Finding {
	top, bottom := d.top.finish(stamps), d.bottom.finish(stamps)
	found := append(partsOf(top, TopField), partsOf(bottom, BottomField)...)
	first := len(found)
	verdicts := [2]map[int64]Finding{spoiltFrames(top), spoiltFrames(bottom)}
	for n := range int64(len(stamps)) {
		t, inTop := verdicts[0][n]
		b, inBottom := verdicts[1][n]
		place := Place{Number: n}
		switch {
		case inTop && inBottom:
			if b.Score > t.Score {
				t = b
			}
		case inTop:
			place.Field = TopField
		case inBottom:
			t, place.Field = b, BottomField
		default:
			continue
		}
		t.First, t.Last = place, place
		if k := len(found) - 1; k >= first && found[k].Kind == t.Kind && found[k].Last == (Place{Number: n - 1, Field: place.Field}) {
			found[k].Last, found[k].Score = place, min(found[k].Score, t.Score)
			continue
		}
		found = append(found, t)
	}
	for _, f := range top {
		same := func(g Finding) bool { return g.Kind == f.Kind && g.First == f.First }
		if f.Kind == Gap || f.Kind == Jump && slices.ContainsFunc(bottom, same) {
			found = append(found, f)
		}
	}
	slices.SortStableFunc(found, func(a, b Finding) int { return cmp.Compare(a.First.Number, b.First.Number) })
	return found
}

// partsOf returns the damage to parts of one of the fields, in lines of frames.
func partsOf(found []Finding, field Field) (parts []Finding) {
	for _, f := range found {
		if !slices.Contains(partKinds, f.Kind) {
			continue
		}
		f.First.Field, f.Last.Field = field, field
		of := f.Regions
		f.Regions = nil
		for _, r := range of {
			f.Regions = append(f.Regions, &Region{X: r.X, Y: 2 * r.Y, Width: r.Width, Height: 2 * r.Height})
		}
		parts = append(parts, f)
	}
	return parts
}

// spoiltFrames returns the findings of whole frames that are not missing, by the number of each frame.
func spoiltFrames(found []Finding) map[int64]Finding {
	of := map[int64]Finding{}
	for _, f := range found {
		if f.Kind == Gap || f.Kind == Jump || slices.Contains(partKinds, f.Kind) {
			continue
		}
		for n := f.First.Number; n <= f.Last.Number; n++ {
			of[n] = f
		}
	}
	return of
}
