//go:build unix

package cuda_test

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"retime/cuda"
	"retime/frame"
	"retime/warp"
)

// clip returns consecutive intervals that share frames, guides and flows with their neighbours, as
// in the pipeline. released counts the frames that have been released.
func clip(rng *rand.Rand, format frame.Format, width, height, level, n int) (list []warp.Interval, released *atomic.Int32) {
	var frames []*frame.Frame
	var guides []frame.Image[uint8]
	released = new(atomic.Int32)
	for range n + 1 {
		f := frame.Wrap(format, width, height, scene(rng, format, width, height).Planes, func(*frame.Frame) { released.Add(1) })
		frames, guides = append(frames, f), append(guides, guide(f, level))
	}
	list = make([]warp.Interval, n)
	for i := range list {
		m := motions[rng.IntN(len(motions))]
		w, h := guides[i].Width, guides[i].Height
		list[i] = warp.Interval{
			A: frames[i], B: frames[i+1], GuideA: guides[i], GuideB: guides[i+1], Level: level,
			Flows: []warp.FlowPair{{Forward: m.field(rng, w, h, 1), Backward: m.field(rng, w, h, -1)}},
		}
		if i%3 == 1 {
			list[i].Static = frame.NewImage[uint8](w, h)
			for j := range list[i].Static.Pix {
				list[i].Static.Pix[j] = uint8(rng.IntN(256))
			}
		}
	}
	for i := 1; i+1 < n; i++ {
		list[i].Before = &warp.Outer{Guide: guides[i-1], Flow: list[i-1].Flows[0].Backward, Frame: frames[i-1]}
		list[i].After = &warp.Outer{Guide: guides[i+2], Flow: list[i+1].Flows[0].Forward, Frame: frames[i+2]}
	}
	return list, released
}

// release releases the frames of a clip and checks that nothing else holds them.
func release(t *testing.T, list []warp.Interval, released *atomic.Int32) {
	t.Helper()
	for _, in := range list {
		in.A.Release()
	}
	list[len(list)-1].B.Release()
	if n := int(released.Load()); n != len(list)+1 {
		t.Errorf("%d of %d frames are held", len(list)+1-n, len(list)+1)
	}
}

// Whether another goroutine loads the intervals one ahead, not at all, or in vain, the frames equal
// the CPU's. Exact. Memory does not grow with the length of the clip, and nothing holds a frame in
// the end.
func TestSynthesizerLoad(t *testing.T) {
	const seed = 11
	t.Logf("seed %d", seed)
	params := warp.Params{Mode: warp.Project, Order: 3, Acceleration: true, Overlays: true}
	inAnyOrder(t, func(t *testing.T, d *cuda.Device) {
		for _, c := range []struct {
			name  string
			loads func(i int) []int // which intervals to load before interval i begins
		}{
			{"one ahead", func(i int) []int { return []int{i} }},
			{"two ahead", func(i int) []int { return []int{i + 1} }},
			{"never", func(int) []int { return nil }},
			{"now and then", func(i int) []int { return []int{i}[:i%2] }},
			{"others", func(i int) []int { return []int{7 - i} }},
		} {
			for level := range 2 {
				subtest(t, d, fmt.Sprint(c.name, " level ", level), func(t *testing.T) {
					rng := rand.New(rand.NewPCG(seed, uint64(level)))
					list, released := clip(rng, formats[1], 37, 29, level, 8)
					cpu, gpu := backends(t, d, params)
					s := gpu.(*cuda.Synthesizer)
					taken := make([]int64, len(list))
					for i, in := range list {
						var loaded chan error
						for _, j := range c.loads(i) {
							if j < 0 || j >= len(list) {
								continue
							}
							loaded = make(chan error, 1)
							go func() { loaded <- s.Load(list[j]) }()
						}
						compare(t, cpu, gpu, in, phases[i%2:][:1])
						if loaded != nil {
							must(t, <-loaded)
						}
						_, taken[i] = d.MemoryHeld()
					}
					if taken[7] > taken[3]*3/2 { // the amount loaded at these points varies
						t.Errorf("%d bytes of device memory after 4 intervals, %d after 8", taken[3], taken[7])
					}
					s.Close()
					cpu.Close()
					release(t, list, released)
				})
			}
		}
	})
}
