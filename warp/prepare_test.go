package warp

import (
	"slices"
	"sync"
	"testing"

	"retime/flow"
	"retime/frame"
)

// intervalsOf returns the intervals between frames of noise.
func intervalsOf(format frame.Format, frames int) (list []Interval) {
	var before *frame.Frame
	for i := range frames {
		f := noiseFrame(uint64(i+1), format, 53, 37)
		if before != nil {
			list = append(list, between(before, f, 1, i, -2))
		}
		before = f
	}
	return list
}

// Frames of several intervals that are made at once are those that are made one by one. Exact.
func TestFramesAtOnce(t *testing.T) {
	phases := []Phase{1, PhaseOne / 3, PhaseOne / 2}
	for _, format := range formats[1:3] {
		for _, mode := range []Mode{Project, Splat, Blend} {
			p := Params{Mode: mode, Order: 3, Overlays: true, Acceleration: true, Workers: frame.Workers{N: 2}}
			intervals := intervalsOf(format, 6)
			s, err := NewSynthesizer(p)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			made := make([][]*frame.Frame, len(intervals))
			var making sync.WaitGroup
			for i, in := range intervals {
				made[i] = make([]*frame.Frame, len(phases))
				making.Go(func() {
					prepared, err := s.Prepare(in)
					if err != nil {
						t.Error(err)
						return
					}
					var frames sync.WaitGroup
					for k, phase := range phases {
						frames.Go(func() {
							f := frame.New(format, in.A.Width, in.A.Height)
							if _, err := prepared.Make(f, phase); err != nil {
								t.Error(err)
							}
							made[i][k] = f
						})
					}
					frames.Wait()
					prepared.Close()
				})
			}
			making.Wait()
			for i, in := range intervals {
				for k, phase := range phases {
					if !frame.Equal(made[i][k], makeFrame(t, p, in, phase)) {
						t.Errorf("%s, %s: frame %d of interval %d differs", mode, format.Name, k, i)
					}
				}
			}
		}
	}
}

// Of intervals that follow each other, forward or backward, every frame is filtered once, and
// the memory of two frames and of one interval is enough for all of them.
func TestCoefficientsAreKept(t *testing.T) {
	forward := intervalsOf(formats[1], 5)
	var backward []Interval
	for i := range forward {
		backward = append(backward, forward[len(forward)-1-i])
	}
	for _, intervals := range [][]Interval{forward, backward} {
		s, err := NewSynthesizer(Params{Mode: Project, Order: 3})
		if err != nil {
			t.Fatal(err)
		}
		var before [2]*source
		for i, in := range intervals {
			p, err := s.Prepare(in)
			if err != nil {
				t.Fatal(err)
			}
			if i > 0 && p.open.sources[0] != before[1] && p.open.sources[1] != before[0] {
				t.Errorf("interval %d: the frame that both have is filtered again", i)
			}
			if len(s.sources) != 2 || len(s.closed.free) != 0 {
				t.Errorf("interval %d: there is memory of %d frames and %d further intervals", i, len(s.sources), len(s.closed.free))
			}
			before = p.open.sources
			if p.open.sources[0].of != in.A || p.open.sources[1].of != in.B {
				t.Errorf("interval %d: the coefficients are of other frames", i)
			}
			p.Close()
		}
		s.Close()
	}

	// Intervals that are open at the same time share a frame's coefficients.
	s, err := NewSynthesizer(Params{Mode: Project, Order: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var open []*Prepared
	for _, in := range forward {
		p, err := s.Prepare(in)
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, p)
	}
	if len(s.sources) != len(forward)+1 {
		t.Errorf("%d intervals hold the coefficients of %d frames", len(forward), len(s.sources))
	}
	for i, p := range open[1:] {
		if p.open.sources[0] != open[i].open.sources[1] {
			t.Errorf("interval %d does not share the coefficients of its first frame", i+1)
		}
	}
	same := forward[0]
	same.B = same.A
	p, err := s.Prepare(same)
	if err != nil {
		t.Fatal(err)
	}
	if p.open.sources[0] != p.open.sources[1] || p.open.sources[0].users != 3 {
		t.Errorf("a frame on both sides: %d users", p.open.sources[0].users)
	}
	for _, p := range append(open, p) {
		p.Close()
		p.Close() // has no effect
		if _, err := p.Make(frame.New(formats[1], 53, 37), 1); err == nil {
			t.Error("a closed interval makes a frame")
		}
	}
	if len(s.closed.free) != len(open)+1 {
		t.Errorf("%d of %d intervals gave their memory back", len(s.closed.free), len(open)+1)
	}
	for _, c := range s.sources {
		if c.users != 0 {
			t.Errorf("%d users of a frame after all intervals are closed", c.users)
		}
	}
}

// What flow leads back is in front: a row of 8 pixels of which 2 to 4 move by 2, and hide 5 and 6.
func TestPutBehind(t *testing.T) {
	f := FlowPair{flow.NewField(8, 1), flow.NewField(8, 1)}
	for x := 2; x < 7; x++ { // the flow of what is hidden is made up
		f.Forward.Pix[x].X = 2 * flow.One
	}
	for x := 4; x < 7; x++ {
		f.Backward.Pix[x].X = -2 * flow.One
	}
	f.Forward.Pix[0].X = -flow.One // out of the picture
	trust := frame.NewImage[uint16](8, 1)
	for x := range trust.Pix {
		trust.Pix[x] = 4096
	}
	trust.Pix[5] = 7
	var misses frame.Image[int32]
	measureMisses(frame.Workers{}, &misses, f)
	putBehind(frame.Workers{}, trust, misses)
	if want := []uint16{128, 4096, 4096, 4096, 4096, 1, 128, 4096}; !slices.Equal(trust.Pix, want) {
		t.Errorf("%d, want %d", trust.Pix, want)
	}
}
