//go:build unix

package cuda_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"retime/cuda"
	"retime/flow"
	"retime/flow/dis"
	"retime/frame"
	"retime/warp"
)

// absentGuide represents f's guide, which the device makes.
func absentGuide(f *frame.Frame, level int) frame.Image[uint8] {
	up := 1<<level - 1
	return frame.Absent[uint8]((f.Width+up)>>level, (f.Height+up)>>level)
}

// The device makes the same guides as warp.Luma and warp.Halve. Exact.
func TestGuidesOnDevice(t *testing.T) {
	const seed = 41
	t.Logf("seed %d", seed)
	onDevices(t, func(t *testing.T, d *cuda.Device) {
		rng := rand.New(rand.NewPCG(seed, 0))
		s, err := cuda.NewSynthesizer(d, warp.Params{Mode: warp.Splat, Order: 1})
		must(t, err)
		defer s.Close()
		stream, err := d.NewStream()
		must(t, err)
		k := &copier{stream: stream}
		defer func() {
			k.a.Free()
			k.b.Free()
			k.field.Free()
			must(t, stream.Close())
		}()
		for _, format := range formats {
			for i, transfer := range []frame.Transfer{frame.SDR, frame.PQ, frame.HLG} {
				for n := range 2 * (warp.MaxLevel + 1) {
					level, size := n/2, [][2]int{{21 + i, 14 + n}, {1, 1}}[n%2]
					var frames [2]*frame.Frame
					for j := range frames {
						frames[j] = scene(rng, format, size[0], size[1])
						frames[j].Transfer, frames[j].FullRange = transfer, j > 0
						if format.RGB { // of 12 bits: a white pixel
							for _, p := range frames[j].Planes {
								binary.LittleEndian.PutUint16(p.Pix, uint16(format.Max()))
							}
						}
					}
					at := absentGuide(frames[0], level)
					w, h := at.Width, at.Height
					must(t, k.a.Resize(d, w, h))
					must(t, k.b.Resize(d, w, h))
					must(t, k.field.Resize(d, w, h))
					must(t, k.field.Clear(stream))
					must(t, s.EstimateFlow(k, warp.Guide{Image: at, Frame: frames[0], Level: level},
						warp.Guide{Image: absentGuide(frames[1], level), Frame: frames[1], Level: level}, flow.NewField(w, h), flow.NewField(w, h)))
					for j, m := range []cuda.Image[byte]{k.a, k.b} {
						got := frame.NewImage[uint8](w, h)
						must(t, m.Download(stream, got))
						must(t, stream.Synchronize())
						want := guide(frames[j], level)
						for y := range h {
							if !slices.Equal(got.Row(y), want.Row(y)) {
								t.Fatalf("%v, %v, level %d, full range %v: row %d of the guide differs", format, transfer, level, j > 0, y)
							}
						}
					}
				}
			}
		}
		f := scene(rng, formats[0], 21, 14)
		defer f.Release()
		wrong := warp.Guide{Image: frame.Absent[uint8](12, 7), Frame: f, Level: 1}
		if err := s.EstimateFlow(k, wrong, wrong, flow.NewField(12, 7), flow.NewField(12, 7)); err == nil {
			t.Error("a guide of the wrong size: no error")
		}
		none := warp.Guide{Image: frame.Absent[uint8](21, 14), Finer: frame.Absent[uint8](42, 28), Frame: f}
		if err := s.EstimateFlow(k, none, none, flow.NewField(21, 14), flow.NewField(21, 14)); err == nil {
			t.Error("a finer picture than the frame: no error")
		}
	})
}

// estimatedClip returns a clip whose flows the processor estimated, on the guides or on finer
// pictures.
func estimatedClip(t *testing.T, rng *rand.Rand, n int, finer bool) []warp.Interval {
	t.Helper()
	list, _ := clip(rng, formats[1], 37, 29, 1, n)
	cpu, err := dis.New(dis.Default(), frame.Workers{})
	must(t, err)
	defer cpu.Close()
	for i := range list {
		p := &list[i].Flows[0]
		if finer {
			must(t, cpu.Estimate(guide(list[i].A, 0), guide(list[i].B, 0), &p.Forward, &p.Backward, true))
		} else {
			must(t, cpu.Estimate(list[i].GuideA, list[i].GuideB, &p.Forward, &p.Backward, false))
		}
		must(t, flow.KeepStill(list[i].GuideA, list[i].GuideB, frame.Workers{}, p.Forward, p.Backward))
	}
	return list
}

// changeBetween returns the sums that Change describes.
func changeBetween(a, b frame.Image[uint8], f warp.FlowPair) (c flow.Comparison) {
	add := func(s *flow.Sums, a, b uint8) {
		va, vb := int64(a), int64(b)
		*s = flow.Sums{N: s.N + 1, A: s.A + va, B: s.B + vb, AA: s.AA + va*va, BB: s.BB + vb*vb, AB: s.AB + va*vb}
	}
	for y := 0; y < a.Height; y += 3 {
		for x := 0; x < a.Width; x += 3 {
			add(&c.Still, a.Row(y)[x], b.Row(y)[x])
			v := f.Forward.Row(y)[x]
			tx, ty := x+int(v.X+128)>>8, y+int(v.Y+128)>>8
			if tx < 0 || ty < 0 || tx >= a.Width || ty >= a.Height {
				continue
			}
			add(&c.Along, a.Row(y)[x], b.Row(ty)[tx])
			back := f.Backward.Row(ty)[tx]
			if dx, dy := v.X+back.X, v.Y+back.Y; max(dx, -dx, dy, -dy) > 256 {
				c.Lost++
			}
		}
	}
	return c
}

// Frames made with guides and flows that only the device has equal the processor's frames, and so
// do the flows and the sums of the change. Exact.
func TestEstimateResident(t *testing.T) { testEstimateResident(t, false) }

// The same for flows estimated on pictures finer than the guides.
func TestEstimateResidentFiner(t *testing.T) { testEstimateResident(t, true) }

func testEstimateResident(t *testing.T, finer bool) {
	const seed, n = 43, 6
	t.Logf("seed %d", seed)
	inAnyOrder(t, func(t *testing.T, d *cuda.Device) {
		rng := rand.New(rand.NewPCG(seed, 0))
		list := estimatedClip(t, rng, n, finer)
		cpu, gpu := backends(t, d, everything)
		s := gpu.(*cuda.Synthesizer)
		defer cpu.Close()
		defer s.Close()
		e, err := cuda.NewDIS(d, dis.Default())
		must(t, err)
		defer e.Close()

		// Guides belong to frames, and two or more intervals refer to each.
		guides := map[*frame.Frame]frame.Image[uint8]{}
		absent := func(f *frame.Frame) frame.Image[uint8] {
			if _, ok := guides[f]; !ok {
				guides[f] = absentGuide(f, 1)
			}
			return guides[f]
		}
		large := map[*frame.Frame]frame.Image[uint8]{}
		guideOf := func(f *frame.Frame) warp.Guide {
			g := warp.Guide{Image: absent(f), Frame: f, Level: 1}
			if finer {
				if _, ok := large[f]; !ok {
					large[f] = absentGuide(f, 0)
				}
				g.Finer = large[f]
			}
			return g
		}
		given := slices.Clone(list)
		flows := make([]*cuda.ResidentFlow, n)
		for i, in := range list {
			g := &given[i]
			g.GuideA, g.GuideB = absent(in.A), absent(in.B)
			flows[i], err = s.EstimateResident(e, guideOf(in.A), guideOf(in.B))
			must(t, err)
			if want := changeBetween(in.GuideA, in.GuideB, in.Flows[0]); flows[i].Comparison() != want {
				t.Errorf("interval %d: change %+v, want %+v", i, flows[i].Comparison(), want)
			}
			g.Flows = []warp.FlowPair{flows[i].Pair()}
			got := warp.FlowPair{Forward: flow.NewField(g.GuideA.Width, g.GuideA.Height), Backward: flow.NewField(g.GuideA.Width, g.GuideA.Height)}
			must(t, flows[i].Download(got))
			if !slices.Equal(got.Forward.Pix, in.Flows[0].Forward.Pix) || !slices.Equal(got.Backward.Pix, in.Flows[0].Backward.Pix) {
				t.Errorf("interval %d: the flows differ", i)
			}
		}
		for i := range list {
			in, g := &list[i], &given[i]
			if in.Before != nil {
				before, after := *in.Before, *in.After
				in.Before.Flow, in.After.Flow = list[i-1].Flows[0].Backward, list[i+1].Flows[0].Forward
				before.Guide, after.Guide = absent(before.Frame), absent(after.Frame)
				before.Flow, after.Flow = flows[i-1].Pair().Backward, flows[i+1].Pair().Forward
				g.Before, g.After = &before, &after
			}
		}
		for i := range list {
			must(t, s.Load(given[i]))
			compareAs(t, cpu, gpu, list[i], given[i], phases[1:2])
			if i > 0 {
				flows[i-1].Release()
			}
		}
		flows[n-1].Release()
		flows[n-1].Release()

		// A flow that never was on the device is an error, not a read beyond its memory.
		lost := given[2]
		lost.Flows = []warp.FlowPair{{Forward: flow.Field{Image: frame.Absent[flow.Vec](19, 15)}, Backward: flow.Field{Image: frame.Absent[flow.Vec](19, 15)}}}
		if err := s.Load(lost); !errors.Is(err, cuda.ErrAbsent) {
			t.Error(fmt.Errorf("an absent flow: error %w", err))
		}
	})
}
