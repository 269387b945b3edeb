package fields

import (
	"math/big"

	"retime/frame"
	"retime/pipeline/stages"
)

// Sink takes the pictures of a Weave, in order, and gives another sink whole frames.
type Sink struct {
	to    stages.Sink
	weave *Weave
	next  int64 // number of the input's frame that is written next

	inserted int          // frames that are still to be inserted after the last one
	last     *frame.Frame // the frame that they are inserted after
	first    *frame.Frame // the first picture of a frame that has two
	from     *big.Rat     // its time
	frames   int64        // written
}

// NewSink returns a sink of the pictures of w, which a Source delivers and others are made
// from. Call Close after use.
func NewSink(to stages.Sink, w *Weave) *Sink { return &Sink{to: to, weave: w} }

// CountFrom makes n the number, in the Weave, of the frame that is written next. It comes before the first WriteFrame.
func (s *Sink) CountFrom(n int64) { s.next = n }

// NewFrame returns a frame for a picture; see stages.Sink.
func (s *Sink) NewFrame(like *frame.Frame) (*frame.Frame, error) { return s.to.NewFrame(like) }

// Frames returns how many frames have been written.
func (s *Sink) Frames() int64 { return s.frames }

// WriteFrame takes the next picture; see stages.Sink.
func (s *Sink) WriteFrame(f *frame.Frame, from, to *big.Rat) error {
	n, lost := s.next, Both
	if s.inserted > 0 {
		n-- // the frame that it comes after
	} else {
		lost = s.weave.Lost[n]
	}
	if _, split := s.weave.Split[n]; split && s.first == nil {
		s.first, s.from = f.Retain(), from
		return nil
	}
	pictures := map[Set]*frame.Frame{Top: f, Bottom: f}
	if s.first != nil {
		defer s.first.Release()
		pictures[s.weave.Field(n, 0)], from = s.first, s.from
		s.first = nil
	}
	defer s.pass()
	if s.inserted == 0 {
		if s.last != nil {
			s.last.Release()
		}
		if s.last = s.weave.take(n); s.last == nil {
			return s.write(f, from, to)
		}
	}
	return s.join(pictures, lost, from, to)
}

// pass goes on to the next frame.
func (s *Sink) pass() {
	if s.inserted > 0 {
		s.inserted--
		return
	}
	s.inserted = s.weave.Insert[s.next]
	s.next++
}

// join writes the last frame with some of its fields from pictures.
func (s *Sink) join(pictures map[Set]*frame.Frame, lost Set, from, to *big.Rat) error {
	if lost == 0 {
		return s.write(s.last, from, to)
	}
	// A picture may be a Source's, which no encoder takes.
	out, err := s.to.NewFrame(s.last)
	if err != nil {
		return err
	}
	defer out.Release()
	for _, field := range []Set{Top, Bottom} {
		if lost&field != 0 {
			copyField(out, pictures[field], field)
		} else {
			copyField(out, s.last, field)
		}
	}
	return s.write(out, from, to)
}

func (s *Sink) write(f *frame.Frame, from, to *big.Rat) error {
	s.frames++
	return s.to.WriteFrame(f, from, to)
}

// Close releases the frames at hand.
func (s *Sink) Close() {
	for _, f := range []*frame.Frame{s.first, s.last} {
		if f != nil {
			f.Release()
		}
	}
	s.first, s.last = nil, nil
}
