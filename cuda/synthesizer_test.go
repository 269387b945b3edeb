//go:build unix

package cuda_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"retime/cuda"
	"retime/cuda/kernels"
	"retime/flow"
	"retime/frame"
	"retime/warp"
	"retime/warp/bspline"
)

var formats = []frame.Format{
	{Name: "gray", Depth: 8, Planes: 1},
	{Name: "yuv420p", Depth: 8, Planes: 3, ChromaX: 1, ChromaY: 1},
	{Name: "yuv422p10", Depth: 10, Planes: 3, ChromaX: 1},
	{Name: "yuv440p", Depth: 8, Planes: 3, ChromaY: 1},
	{Name: "yuv411p", Depth: 8, Planes: 3, ChromaX: 2},
	{Name: "yuv410p", Depth: 8, Planes: 3, ChromaX: 2, ChromaY: 2},
	{Name: "yuva420p", Depth: 8, Planes: 4, ChromaX: 1, ChromaY: 1},
	{Name: "yuva444p16", Depth: 16, Planes: 4},
	{Name: "ya8", Depth: 8, Planes: 2},
	{Name: "gbrp12", Depth: 12, Planes: 3, RGB: true},
}

// scene returns a picture of waves and noise.
func scene(rng *rand.Rand, format frame.Format, width, height int) *frame.Frame {
	f := frame.New(format, width, height)
	limit := format.Max()
	for i, p := range f.Planes {
		step := 1 + rng.IntN(7)
		for y := range p.Height {
			for x := range p.Width {
				v := (x*step + y*(i+2) + x*y/5) * limit / 64 % (limit + 1)
				if rng.IntN(8) == 0 {
					v = rng.IntN(limit + 1)
				}
				if format.Bytes() == 1 {
					frame.Samples[uint8](p).Row(y)[x] = uint8(v)
				} else {
					frame.Samples[uint16](p).Row(y)[x] = uint16(v)
				}
			}
		}
	}
	return f
}

func guide(f *frame.Frame, level int) frame.Image[uint8] {
	g := warp.Luma(f)
	for range level {
		g = warp.Halve(g)
	}
	return g
}

// motion is a kind of flow for tests.
type motion struct {
	name string
	at   func(rng *rand.Rand, x, y int, limit int32) flow.Vec
}

var motions = []motion{
	{"still", func(*rand.Rand, int, int, int32) flow.Vec { return flow.Vec{} }},
	{"shift", func(*rand.Rand, int, int, int32) flow.Vec { return flow.Vec{X: 700, Y: -300} }},
	{"zoom", func(_ *rand.Rand, x, y int, _ int32) flow.Vec {
		return flow.Vec{X: int32(x-20) * 60, Y: int32(y-15) * 40}
	}},
	{"shrink", func(_ *rand.Rand, x, y int, _ int32) flow.Vec {
		return flow.Vec{X: int32(20-x) * 200, Y: int32(15-y) * 220}
	}},
	{"rough", func(rng *rand.Rand, _, _ int, _ int32) flow.Vec {
		return flow.Vec{X: int32(rng.IntN(4001) - 2000), Y: int32(rng.IntN(4001) - 2000)}
	}},
	{"layers", func(_ *rand.Rand, x, y int, _ int32) flow.Vec {
		if (x/9+y/7)%2 == 0 {
			return flow.Vec{X: 2500, Y: 100}
		}
		return flow.Vec{X: -900, Y: 600}
	}},
	{"huge", func(rng *rand.Rand, x, y int, limit int32) flow.Vec {
		return flow.Vec{X: limit * int32(rng.IntN(3)-1), Y: -limit + int32(x+y)}
	}},
	{"point", func(_ *rand.Rand, x, y int, _ int32) flow.Vec {
		return flow.Vec{X: int32(3-x) * 512, Y: int32(2-y) * 512}
	}},
}

func (m motion) field(rng *rand.Rand, width, height int, sign int32) flow.Field {
	f := flow.NewField(width, height)
	for y := range height {
		for x := range width {
			v := m.at(rng, x, y, f.Limit())
			f.Row(y)[x] = canonical(f, flow.Vec{X: sign * v.X, Y: sign * v.Y})
		}
	}
	return f
}

// canonical clamps a vector, because the kernels rely on the limit.
func canonical(f flow.Field, v flow.Vec) flow.Vec {
	l := f.Limit()
	return flow.Vec{X: min(max(v.X, -l), l), Y: min(max(v.Y, -l), l)}
}

// interval returns two frames with motion between them and, if outer is set, outer
// frames.
func interval(rng *rand.Rand, format frame.Format, width, height, level int, m motion, outer bool) warp.Interval {
	a, b := scene(rng, format, width, height), scene(rng, format, width, height)
	in := warp.Interval{A: a, B: b, GuideA: guide(a, level), GuideB: guide(b, level), Level: level}
	w, h := in.GuideA.Width, in.GuideA.Height
	for range 1 + rng.IntN(2) {
		in.Flows = append(in.Flows, warp.FlowPair{Forward: m.field(rng, w, h, 1), Backward: m.field(rng, w, h, -1)})
	}
	if outer {
		before, after := m.field(rng, w, h, -1), m.field(rng, w, h, 1)
		for i, v := range before.Pix {
			before.Pix[i] = canonical(before, flow.Vec{X: v.X + int32(rng.IntN(300)), Y: v.Y})
			v = after.Pix[i]
			after.Pix[i] = canonical(after, flow.Vec{X: v.X, Y: v.Y - int32(rng.IntN(200))})
		}
		in.Before = &warp.Outer{Guide: guide(scene(rng, format, width, height), level), Flow: before}
		in.After = &warp.Outer{Guide: guide(a, level), Flow: after}
		if rng.IntN(2) > 0 { // frames were lost between A and B
			in.Before.Span, in.After.Span = 1+warp.Phase(rng.IntN(warp.PhaseOne-1)), 1+warp.Phase(rng.IntN(warp.PhaseOne-1))
		}
		in.Static = frame.NewImage[uint8](w, h)
		for i := range in.Static.Pix {
			in.Static.Pix[i] = uint8(rng.IntN(256)*rng.IntN(2) | rng.IntN(8)/7*255)
		}
	}
	return in
}

// Covers every mode, order, format, level and kind of motion, at sizes from one sample to several
// tiles. Exact.
func TestSynthesizer(t *testing.T) {
	const seed = 5
	t.Logf("seed %d", seed)
	sizes := [][2]int{{53, 37}, {1, 1}, {2, 3}, {17, 5}, {70, 41}}
	onDevices(t, func(t *testing.T, d *cuda.Device) {
		n := 0
		for _, mode := range []warp.Mode{warp.Project, warp.Splat, warp.Blend} {
			for _, format := range formats {
				for level := range warp.MaxLevel + 1 {
					if mode == warp.Blend && level > 0 {
						continue
					}
					// Sizes and orders rotate, so that all pairs of them occur.
					n++
					order := []bspline.Order{3, 1, 0}[n%3]
					p := warp.Params{Mode: mode, Order: order, Acceleration: n%2 == 0, Overlays: n%3 != 0}
					t.Run(fmt.Sprintf("%s/%s/level %d", mode, format.Name, level), func(t *testing.T) {
						cpu, gpu := backends(t, d, p)
						defer gpu.Close()
						for i := range 3 {
							size := sizes[(n+i)%len(sizes)]
							rng := rand.New(rand.NewPCG(seed, uint64(n)))
							m := motions[(n+i)%len(motions)]
							in := interval(rng, format, size[0], size[1], level, m, i%2 == 0)
							compare(t, cpu, gpu, in, phases[(n+i)%4:][:1])
						}
					})
				}
			}
		}
	})
}

// The guides of every level have several strips of energies, next to and below each other. Exact.
func TestSynthesizerStrips(t *testing.T) {
	onDevices(t, func(t *testing.T, d *cuda.Device) {
		cpu, gpu := backends(t, d, warp.Params{Mode: warp.Project, Order: 1, Acceleration: true})
		defer gpu.Close()
		for level := range warp.MaxLevel + 1 {
			rng := rand.New(rand.NewPCG(10, uint64(level)))
			in := interval(rng, formats[0], 51<<level, 75<<level, level, motions[5], true)
			in.Before.Span, in.After.Span = 0, 0
			compare(t, cpu, gpu, in, phases[1:2])
		}
	})
}

// Covers every kind of motion with the settings that matter most. Exact.
func TestSynthesizerMotions(t *testing.T) {
	const seed = 6
	t.Logf("seed %d", seed)
	onDevices(t, func(t *testing.T, d *cuda.Device) {
		for _, mode := range []warp.Mode{warp.Project, warp.Splat} {
			cpu, gpu := backends(t, d, warp.Params{Mode: mode, Order: 3, Acceleration: true, Overlays: true})
			for _, m := range motions {
				t.Run(fmt.Sprintf("%s/%s", mode, m.name), func(t *testing.T) {
					rng := rand.New(rand.NewPCG(seed, 0))
					compare(t, cpu, gpu, interval(rng, formats[1], 83, 61, 1, m, true), phases[1:3])
				})
			}
			gpu.Close()
		}
	})
}

// On flat guides all accelerations have full credit, but for those that flows back contradict. Exact.
func TestSynthesizerBends(t *testing.T) {
	onDevices(t, func(t *testing.T, d *cuda.Device) {
		cpu, gpu := backends(t, d, warp.Params{Mode: warp.Project, Order: 3, Acceleration: true})
		defer gpu.Close()
		for i, span := range []warp.Phase{0, warp.PhaseOne / 3} {
			in := interval(rand.New(rand.NewPCG(11, 11)), formats[0], 83, 61, i, motions[5], true)
			in.Static = frame.Image[uint8]{}
			flat := frame.NewImage[uint8](in.GuideA.Width, in.GuideA.Height)
			in.GuideA, in.GuideB, in.Before.Guide, in.After.Guide = flat, flat, flat, flat
			in.Before.Span, in.After.Span = span, span
			compare(t, cpu, gpu, in, phases[1:3])
		}
	})
}

// Frames in progress do not disturb each other, and the next interval does not disturb the previous
// one's frames.
func TestSynthesizerUnderWay(t *testing.T) {
	inAnyOrder(t, func(t *testing.T, d *cuda.Device) {
		cpu, gpu := backends(t, d, warp.Params{Mode: warp.Project, Order: 3, Acceleration: true, Overlays: true})
		s := gpu.(*cuda.Synthesizer)
		defer s.Close()
		type result struct {
			want, got *frame.Frame
			made      warp.Made
			finish    func() (warp.Made, error)
		}
		var list []result
		rng := rand.New(rand.NewPCG(7, 7))
		for i := range 2 {
			in := interval(rng, formats[1], 61, 43, 1, motions[1+i], true)
			must(t, cpu.Begin(in))
			must(t, s.Begin(in))
			for _, phase := range phases[:2] {
				r := result{want: frame.New(in.A.Format, 61, 43), got: frame.New(in.A.Format, 61, 43)}
				var err error
				r.made, err = cpu.Make(r.want, phase)
				must(t, err)
				r.finish, err = s.Start(r.got, phase)
				must(t, err)
				list = append(list, r)
			}
		}
		done := make(chan error)
		go func() {
			defer close(done)
			for i, r := range list {
				made, err := r.finish()
				switch {
				case err != nil:
					done <- err
				case made != r.made || !frame.Equal(r.got, r.want):
					done <- fmt.Errorf("frame %d differs: made %+v, want %+v", i, made, r.made)
				}
			}
		}()
		for err := range done {
			t.Error(err)
		}
	})
}

// After a change of size, format or level in the middle, frames are the same as from a new
// synthesizer. Exact.
func TestSynthesizerChangesSize(t *testing.T) {
	inAnyOrder(t, func(t *testing.T, d *cuda.Device) {
		for _, mode := range []warp.Mode{warp.Project, warp.Splat} {
			cpu, gpu := backends(t, d, warp.Params{Mode: mode, Order: 3, Acceleration: true})
			rng := rand.New(rand.NewPCG(8, 8))
			for i, size := range [][2]int{{20, 30}, {41, 33}, {9, 9}, {41, 33}} {
				compare(t, cpu, gpu, interval(rng, formats[i], size[0], size[1], i%3, motions[i], true), phases[1:2])
			}
			gpu.Close()
		}
	})
}

func TestSynthesizerModes(t *testing.T) {
	run(t, cuda.NewDevice(kernels.NewEmulator()), func(t *testing.T, d *cuda.Device) {
		if _, err := cuda.NewSynthesizer(d, warp.Params{Mode: warp.Nearest}); !errors.Is(err, errors.ErrUnsupported) {
			t.Error("nearest:", err)
		}
		if _, err := cuda.NewSynthesizer(d, warp.Params{Mode: warp.Splat, Directions: 5}); err == nil {
			t.Error("5 directions are taken")
		}
		s, err := cuda.NewSynthesizer(d, warp.Params{Mode: warp.Project, Order: 1})
		must(t, err)
		defer s.Close()
		in := interval(rand.New(rand.NewPCG(1, 1)), formats[0], 8, 8, 0, motions[0], false)
		pair := in.Flows[:1]
		for _, n := range []int{0, 3} {
			in.Flows = slices.Repeat(pair, n)
			must(t, s.Begin(in))
			if _, err := s.Make(frame.New(in.A.Format, 8, 8), 1); err == nil {
				t.Errorf("%d estimates of the motion are taken", n)
			}
		}
	})
}

// Everything lands on one spot with full trust, so that sums are wide: on a GPU, more than 64 bits.
// Exact.
func TestSynthesizerOneSpot(t *testing.T) {
	onDevices(t, func(t *testing.T, d *cuda.Device) {
		width, height := 61, 47
		if d.Info().Name != "emulator" {
			width, height = 1009, 701
		}
		for _, mode := range []warp.Mode{warp.Project, warp.Splat} {
			for _, format := range []frame.Format{formats[0], {Name: "gray16", Depth: 16, Planes: 1}, {Name: "ya16", Depth: 16, Planes: 2},
				{Name: "gbrp16", Depth: 16, Planes: 3, RGB: true}, {Name: "gbrap16", Depth: 16, Planes: 4, RGB: true}} {
				rng := rand.New(rand.NewPCG(3, 4))
				in := interval(rng, format, width, height, 0, motions[0], false)
				in.GuideA, in.GuideB = frame.NewImage[uint8](width, height), frame.NewImage[uint8](width, height)
				for y := range height {
					for x := range width {
						v := flow.Vec{X: int32(40-x) * 512, Y: int32(30-y) * 512}
						for _, f := range in.Flows {
							f.Forward.Row(y)[x], f.Backward.Row(y)[x] = v, v
						}
					}
				}
				cpu, gpu := backends(t, d, warp.Params{Mode: mode, Order: 1})
				compare(t, cpu, gpu, in, phases[2:3])
				gpu.Close()
			}
		}
	})
}

// A caller may queue steps repeatedly; frames made afterwards are the same as before. Exact.
func TestProfile(t *testing.T) {
	onDevices(t, func(t *testing.T, d *cuda.Device) {
		for _, mode := range []warp.Mode{warp.Project, warp.Splat, warp.Blend} {
			cpu, gpu := backends(t, d, warp.Params{Mode: mode, Order: 3, Acceleration: true})
			in := interval(rand.New(rand.NewPCG(2, 2)), formats[1], 40, 30, 1, motions[4], true)
			must(t, gpu.Begin(in))
			names := map[string]bool{}
			err := gpu.(*cuda.Synthesizer).Profile(phases[0], func(name string, bytes int, _ *cuda.Stream, queue func() error) error {
				if names[name] || bytes < 0 {
					t.Errorf("%s: step %q moves %d bytes, seen before: %v", mode, name, bytes, names[name])
				}
				names[name] = true
				return errors.Join(queue(), queue(), queue())
			})
			must(t, err)
			if !names["frame"] {
				t.Errorf("%s: steps are %v, without the frame", mode, names)
			}
			compare(t, cpu, gpu, in, phases[1:2])
			gpu.Close()
		}
	})
}
