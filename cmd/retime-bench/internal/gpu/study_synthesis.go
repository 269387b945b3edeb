package gpu

import (
	"fmt"
	"math/rand/v2"
	"time"

	"retime/cuda"
	"retime/flow"
	"retime/frame"
	"retime/inpaint"
	"retime/warp"
)

// synthesis times the kernels of one made frame, 4:2:0 of 8 bits, with the settings of
// the preset balanced. Flows, samples and coefficients are on the device before.
func synthesis(b *Bench) error {
	for _, size := range []struct{ width, height, level int }{{1920, 1080, 1}, {3840, 2160, 2}} {
		in := interval(frame.Format{Name: "yuv420p", Depth: 8, Planes: 3, ChromaX: 1, ChromaY: 1}, size.width, size.height, size.level)
		outer := func(g frame.Image[uint8], f flow.Field) *warp.Outer { return &warp.Outer{Guide: g, Flow: f} }
		in.Before, in.After = outer(in.GuideB, in.Flows[0].Backward), outer(in.GuideA, in.Flows[0].Forward)
		s, err := cuda.NewSynthesizer(b.Device.Device, warp.Params{Mode: warp.Project, Order: 3, Acceleration: true, Overlays: true})
		if err != nil {
			return err
		}
		defer s.Close()
		if err := s.Begin(in); err != nil {
			return err
		}
		t := b.NewTable(fmt.Sprintf("a made frame of %dx%d", size.width, size.height), 30)
		least := 0 // bytes
		err = s.Profile(warp.PhaseOne/2, func(name string, bytes int, stream *cuda.Stream, queue func() error) error {
			seconds, err := b.timeOn(stream, queue)
			t.Row(name, seconds, int64(bytes))
			least = bytes
			return err
		})
		if err != nil {
			return err
		}
		for _, frames := range []int{4, 1} {
			seconds, err := b.atOnce(s, in, frames)
			if err != nil {
				return err
			}
			t.Row(fmt.Sprintf("frame of %d in an interval", frames), seconds, int64(least))
		}
		b.Printf("\n")
	}
	return nil
}

// atOnce returns the time for a frame if the device makes several at once, of intervals that
// have so many frames each. The time includes a frame's share of the work on its interval.
func (b *Bench) atOnce(s *cuda.Synthesizer, in warp.Interval, frames int) (float64, error) {
	const intervals = 64
	clip, phases := make([]warp.Interval, intervals), make([][]warp.Phase, intervals)
	for i := range clip {
		clip[i] = in
		for k := range frames {
			phases[i] = append(phases[i], warp.Phase((k+1)*warp.PhaseOne/(frames+1)))
		}
	}
	times := make([]float64, b.Repeat)
	for i := range times {
		took, err := s.TimeKernels(clip, phases)
		if err != nil {
			return 0, err
		}
		times[i] = took.Seconds() / float64(intervals*frames)
	}
	return median(times), nil
}

// timeOn returns the result of Time for another stream.
func (b *Bench) timeOn(s *cuda.Stream, queue func() error) (float64, error) {
	own := b.Stream
	b.Stream = s
	defer func() { b.Stream = own }()
	return b.Time(queue)
}

// interval returns a picture and a disc that moves in front of it, by the same motion
// from either frame. So the disc leaves the same holes in both, about 1.4 % of the
// pixels.
func interval(format frame.Format, width, height, level int) warp.Interval {
	rng := rand.New(rand.NewPCG(1, 2))
	picture := func() *frame.Frame {
		f := frame.New(format, width, height)
		for _, p := range f.Planes {
			for y := range p.Height {
				for x := range p.Width {
					p.Pix[y*p.Stride+x] = byte(x/3+y/2) + byte(rng.IntN(16))
				}
			}
		}
		return f
	}
	in := warp.Interval{A: picture(), B: picture(), Level: level}
	guide := func(f *frame.Frame) frame.Image[uint8] {
		g := warp.Luma(f)
		for range level {
			g = warp.Halve(g)
		}
		return g
	}
	in.GuideA, in.GuideB = guide(in.A), guide(in.B)
	w, h := in.GuideA.Width, in.GuideA.Height
	f := flow.NewField(w, h)
	for y := range h {
		for x := range w {
			// The disc moves in front of a zoom of 1 in 64.
			v := flow.Vec{X: int32(x-w/2) * 4, Y: int32(y-h/2) * 4}
			if dx, dy := x-w/3, y-h/2; dx*dx+dy*dy < h*h/16 {
				v = flow.Vec{X: int32(w * flow.One / 19), Y: int32(dx)}
			}
			f.Row(y)[x] = v
		}
	}
	in.Flows = []warp.FlowPair{{Forward: f, Backward: f}}
	return in
}

// rosner times warping and inpainting as in section 7 of J. Rosner, H. Fassold, P.
// Schallauer and W. Bailer, "Fast GPU-based image warping and inpainting for frame
// interpolation", GravisMa workshop, 2010: pictures of three channels of 8 bits, of
// which it inpaints about 1.4 % along 16 directions. It warps both neighbours.
func rosner(b *Bench) error {
	t := b.NewTable("warping and inpainting, three channels", 30, "CPU ms", "speed-up", "holes")
	for _, size := range []struct {
		name          string
		width, height int
	}{{"SD", 720, 576}, {"HD", 1920, 1080}} {
		in := interval(frame.Format{Name: "gbrp", Depth: 8, Planes: 3, RGB: true}, size.width, size.height, 0)
		cpu := newReference(in)
		times := []float64{b.wall(cpu.warp), b.wall(cpu.inpaint)}
		s, err := cuda.NewSynthesizer(b.Device.Device, warp.Params{Mode: warp.Splat})
		if err != nil {
			return err
		}
		defer s.Close()
		if err := s.Begin(in); err != nil {
			return err
		}
		n := 0
		err = s.Profile(warp.PhaseOne/2, func(name string, bytes int, stream *cuda.Stream, queue func() error) error {
			seconds, err := b.timeOn(stream, queue)
			if name == "errors along the flows" || name == "frame" {
				return err
			}
			t.Row(size.name+" "+name, seconds, int64(bytes), fmt.Sprintf("%.3f", 1e3*times[n]), fmt.Sprintf("%.1f", times[n]/seconds),
				fmt.Sprintf("%.2f %%", 100*cpu.share()))
			n++
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// wall returns the median time of f on the host's clock.
func (b *Bench) wall(f func()) float64 {
	f()
	times := make([]float64, b.Repeat)
	for i := range times {
		start := time.Now()
		f()
		times[i] = time.Since(start).Seconds()
	}
	return median(times)
}

// reference does the same work on all processors.
type reference struct {
	in       warp.Interval
	splatter warp.Splatter
	weights  frame.Image[uint16]
	moved    [2][3]frame.Image[uint8]
	holes    [2]frame.Image[uint8]
	mask     frame.Image[uint8]
	painter  *inpaint.Inpainter
}

func newReference(in warp.Interval) *reference {
	r := &reference{in: in}
	w, h := in.A.Width, in.A.Height
	r.weights.Resize(w, h)
	for i := range r.weights.Pix {
		r.weights.Pix[i] = 4096
	}
	for k := range r.moved {
		r.holes[k].Resize(w, h)
		for i := range r.moved[k] {
			r.moved[k][i].Resize(w, h)
		}
	}
	r.mask.Resize(w, h)
	r.painter, _ = inpaint.New(inpaint.DefaultDirections)
	return r
}

func (r *reference) warp() {
	for k, side := range []struct {
		f    *frame.Frame
		flow flow.Field
	}{{r.in.A, r.in.Flows[0].Forward}, {r.in.B, r.in.Flows[0].Backward}} {
		m := warp.Motion{Flow: side.flow, Phase: warp.PhaseOne / 2, Weight: r.weights}
		for i, p := range side.f.Planes {
			warp.SplatPlane(&r.splatter, r.moved[k][i], r.holes[k], frame.Samples[uint8](p), m, 1)
		}
	}
	// The two warped pictures meet.
	frame.Workers{}.Rows(r.mask.Height, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			mask, a, b := r.mask.Row(y), r.holes[0].Row(y), r.holes[1].Row(y)
			for x := range mask {
				mask[x] = a[x] & b[x]
			}
			for i := range r.moved[0] {
				p, q := r.moved[0][i].Row(y), r.moved[1][i].Row(y)
				for x := range p {
					switch {
					case a[x] != 0:
						p[x] = q[x]
					case b[x] == 0:
						p[x] = uint8((uint32(p[x]) + uint32(q[x]) + 1) >> 1)
					}
				}
			}
		}
	})
}

func (r *reference) inpaint() {
	r.painter.SetMask(r.mask)
	for _, p := range r.moved[0] {
		// Fill cannot fail: there is a border, and all sizes agree.
		_ = inpaint.Fill(r.painter, p)
	}
}

// share returns the inpainted part of the picture.
func (r *reference) share() float64 {
	n := 0
	for _, v := range r.mask.Pix {
		n += int(v) / 255
	}
	return float64(n) / float64(len(r.mask.Pix))
}
