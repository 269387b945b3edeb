package fields

import (
	"math/big"

	"retime/frame"
	"retime/pipeline/stages"
	"retime/pipeline/timeline"
)

// Source delivers another source's frames, and pictures of their fields where a Weave asks for
// them. Its timestamps count half the other's unit.
type Source struct {
	from    stages.Source
	weave   *Weave
	workers frame.Workers
	video   timeline.Video

	near   []*frame.Frame // frames around the next one, ascending
	first  int64          // number of the first of them
	next   int64          // number of the frame that is delivered next
	second bool           // the first of its pictures has been delivered
	end    error          // the error that came after the last frame
}

// Reach is how many frames before and after a frame its fields' pictures are made from.
const Reach = 2

// NewSource returns a source of the pictures of from that w asks for. Call Close after use.
func NewSource(from stages.Source, w *Weave, workers frame.Workers) *Source {
	return &Source{from: from, weave: w, workers: workers, video: Video(from.Video())}
}

// Video describes the pictures of the fields of v: their timestamps count half its unit.
func Video(v timeline.Video) timeline.Video {
	half, twice := big.NewRat(1, 2), big.NewRat(2, 1)
	v.TimeBase = new(big.Rat).Mul(v.TimeBase, half)
	v.FirstPTS, v.StreamPTS = 2*v.FirstPTS, 2*v.StreamPTS
	for _, r := range []**big.Rat{&v.Rate, &v.Average} {
		if *r != nil {
			*r = new(big.Rat).Mul(*r, twice)
		}
	}
	if v.Grid != nil {
		g := *v.Grid
		g.Rate, g.Mean = new(big.Rat).Mul(g.Rate, twice), new(big.Rat).Mul(g.Mean, twice)
		v.Grid = &g
	}
	return v
}

// CountFrom makes n the number, in the Weave, of the frame that is read next. It comes before the first Read.
func (s *Source) CountFrom(n int64) { s.first, s.next = n, n }

// Video describes the pictures.
func (s *Source) Video() timeline.Video { return s.video }

// Frames returns the number of the frame that is delivered next.
func (s *Source) Frames() int64 { return s.next }

// Read returns the next picture; see stages.Source.
func (s *Source) Read() (*frame.Frame, error) {
	stamp, split := s.weave.Split[s.next]
	ahead := s.next
	if split {
		ahead += Reach
	}
	if err := s.fill(ahead); err != nil {
		return nil, err
	}
	f := s.frame(s.next)
	if !split {
		s.pass(f)
		return f.Retain(), nil
	}
	if !s.second {
		s.second = true
		return s.picture(0, f.PTS), nil
	}
	p := s.picture(1, stamp)
	s.second = false
	s.pass(f)
	return p, nil
}

// pass goes on to the frame after f.
func (s *Source) pass(f *frame.Frame) {
	if s.weave.needs(s.next) {
		s.weave.put(s.next, f)
	}
	s.next++
}

// fill reads as far as frame n, if there is one, and lets go of frames that nothing needs any more.
// It returns the source's error if the next frame is not there.
func (s *Source) fill(n int64) error {
	for ; len(s.near) > 0 && s.first < s.next-Reach; s.first++ {
		s.near[0].Release()
		s.near = s.near[1:]
	}
	for s.end == nil && s.first+int64(len(s.near)) <= n {
		f, err := s.from.Read()
		if err != nil {
			s.end = err
			break
		}
		f.PTS, f.Duration = 2*f.PTS, 2*f.Duration
		s.near = append(s.near, f)
	}
	if s.frame(s.next) == nil {
		return s.end
	}
	return nil
}

// frame returns frame n, nil if it is not at hand.
func (s *Source) frame(n int64) *frame.Frame {
	if i := n - s.first; i >= 0 && i < int64(len(s.near)) {
		return s.near[i]
	}
	return nil
}

// picture returns the picture of field k, in the order of time, of the next frame.
func (s *Source) picture(k int, stamp int64) *frame.Frame {
	like := s.frame(s.next)
	out := frame.New(like.Format, like.Width, like.Height)
	out.PTS, out.Duration, out.Damaged = stamp, like.Duration/2, like.Damaged
	out.ShowLightAs(like)
	fillLines(s.workers, out, s.neighbourhood(k))
	return out
}

// neighbourhood returns the fields around field k of the next frame.
func (s *Source) neighbourhood(k int) *neighbourhood {
	var h neighbourhood
	for i := range h {
		u := 2*s.next + int64(k+i-here)
		if u < 0 {
			continue
		}
		n := u / 2
		f := s.frame(n)
		if f == nil {
			continue
		}
		if field := s.weave.Field(n, int(u%2)); i == here || s.weave.Lost[n]&field == 0 {
			h[i] = moment{f, field}
		}
	}
	return &h
}

// Close releases the frames at hand.
func (s *Source) Close() {
	for _, f := range s.near {
		f.Release()
	}
	s.near = nil
	s.weave.drop()
}
