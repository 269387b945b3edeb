//go:build unix

package cuda_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"retime/cuda"
	"retime/flow"
	"retime/frame"
	"retime/warp"
)

// BenchmarkFrame times the kernels of one made frame, 4:2:0 with 8 bits, with the settings of the
// preset balanced: step by step, all together, and with several frames in progress at once. Flows,
// samples and coefficients are already on the device. It needs a GPU.
func BenchmarkFrame(b *testing.B) {
	if list, err := cuda.Devices(); err != nil || len(list) == 0 {
		b.Skip("no GPU: ", err)
	}
	d, err := cuda.Open(0)
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	for _, size := range []struct{ width, height, level int }{{1920, 1080, 1}, {3840, 2160, 2}} {
		b.Run(fmt.Sprintf("%dx%d", size.width, size.height), func(b *testing.B) {
			s, err := cuda.NewSynthesizer(d, warp.Params{Mode: warp.Project, Order: 3, Acceleration: true, Overlays: true})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			in := disc(size.width, size.height, size.level)
			steps(b, d, s, in)
			for _, frames := range []int{4, 1} {
				b.Run(fmt.Sprintf("frame of %d in an interval", frames), func(b *testing.B) { atOnce(b, s, in, frames) })
			}
		})
	}
}

// steps times each step of making a frame of the interval, and the frame.
func steps(b *testing.B, d *cuda.Device, s *cuda.Synthesizer, in warp.Interval) {
	if err := s.Begin(in); err != nil {
		b.Fatal(err)
	}
	err := s.Profile(warp.PhaseOne/2, func(name string, bytes int, stream *cuda.Stream, queue func() error) error {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(bytes))
			// The benchmark runs on another thread than its parent.
			err := d.Do(func() error {
				for range b.N {
					if err := queue(); err != nil {
						return err
					}
				}
				return stream.Synchronize()
			})
			if err != nil {
				b.Fatal(err)
			}
		})
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

// atOnce reports the milliseconds per frame when the device makes several at once, from intervals
// with the given number of frames each. They include a frame's share of the work on its interval.
func atOnce(b *testing.B, s *cuda.Synthesizer, in warp.Interval, frames int) {
	const intervals = 64
	clip, phases := make([]warp.Interval, intervals), make([][]warp.Phase, intervals)
	for i := range clip {
		clip[i] = in
		for k := range frames {
			phases[i] = append(phases[i], warp.Phase((k+1)*warp.PhaseOne/(frames+1)))
		}
	}
	var total time.Duration
	for range b.N {
		took, err := s.TimeKernels(clip, phases)
		if err != nil {
			b.Fatal(err)
		}
		total += took
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(1000*total.Seconds()/float64(b.N*intervals*frames), "ms/frame")
}

// disc returns a picture and a disc in front of it that moves by the same motion from either frame,
// so that it leaves the same holes in both, about 1.4 % of the pixels.
func disc(width, height, level int) warp.Interval {
	rng := rand.New(rand.NewPCG(1, 2))
	picture := func() *frame.Frame {
		f := frame.New(frame.Format{Name: "yuv420p", Depth: 8, Planes: 3, ChromaX: 1, ChromaY: 1}, width, height)
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
	in.GuideA, in.GuideB = guide(in.A, level), guide(in.B, level)
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
	in.Before, in.After = &warp.Outer{Guide: in.GuideB, Flow: f}, &warp.Outer{Guide: in.GuideA, Flow: f}
	return in
}
