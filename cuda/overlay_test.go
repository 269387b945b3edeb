//go:build unix

package cuda_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"retime/cuda"
	"retime/flow"
	"retime/frame"
	"retime/warp"
)

// covered returns an interval of noise with still patches on top.
func covered(rng *rand.Rand, width, height, level int, before, after bool) warp.Interval {
	format := formats[rng.IntN(len(formats))]
	in := interval(rng, format, width, height, level, motions[1], false)
	w, h := in.GuideA.Width, in.GuideA.Height
	in.Flows = in.Flows[:1]
	still := frame.NewImage[uint8](w, h)
	for i := range still.Pix {
		still.Pix[i] = uint8(rng.IntN(256))
	}
	picture := func() frame.Image[uint8] {
		g := frame.NewImage[uint8](w, h)
		for y := range h {
			for x := range w {
				v := still.Row(y)[x]
				if (x/13+y/9)%2 == 0 {
					v = uint8(rng.IntN(256))
				} else if rng.IntN(9) == 0 { // like coding noise
					v = uint8(min(255, int(v)+rng.IntN(12)))
				}
				g.Row(y)[x] = v
			}
		}
		return g
	}
	in.GuideA, in.GuideB = picture(), picture()
	if before {
		in.Before = &warp.Outer{Guide: picture(), Flow: motions[1].field(rng, w, h, -1)}
	}
	if after {
		in.After = &warp.Outer{Guide: picture(), Flow: motions[1].field(rng, w, h, 1)}
	}
	// Some of the surroundings do not move, there or beyond, and some move out of the picture.
	for _, o := range []*warp.Outer{in.Before, in.After} {
		for i := 0; o != nil && i < len(o.Flow.Pix); i += 1 + rng.IntN(4) {
			o.Flow.Pix[i] = flow.Vec{}
		}
	}
	f := in.Flows[0].Forward
	for i := range f.Pix {
		switch rng.IntN(8) {
		case 0:
			f.Pix[i] = flow.Vec{X: int32(rng.IntN(300) - 150), Y: int32(rng.IntN(300) - 150)}
		case 1:
			f.Pix[i].X = f.Limit() * int32(rng.IntN(3)-1)
		}
	}
	return in
}

// Both backends find the same overlays, with either or both of the outer frames, with
// or without a given mask. Exact.
func TestSynthesizerOverlays(t *testing.T) {
	const seed = 23
	t.Logf("seed %d", seed)
	onDevices(t, func(t *testing.T, d *cuda.Device) {
		for level := range warp.MaxLevel + 1 {
			for i, size := range [][2]int{{1, 1}, {5, 3}, {67, 35}, {130, 98}} {
				t.Run(fmt.Sprintf("level %d/%dx%d", level, size[0], size[1]), func(t *testing.T) {
					rng := rand.New(rand.NewPCG(seed, uint64(level*10+i)))
					cpu, gpu := backends(t, d, warp.Params{Mode: warp.Project, Order: 1, Acceleration: i%2 == 0, Overlays: true})
					defer gpu.Close()
					for j := range 4 {
						before, after := j&1 == 0, j&2 == 0
						in := covered(rng, size[0]<<level, size[1]<<level, level, before, after)
						if rng.IntN(2) == 0 {
							in.Static = frame.NewImage[uint8](in.GuideA.Width, in.GuideA.Height)
							for i := range in.Static.Pix {
								in.Static.Pix[i] = uint8(rng.IntN(256) * (rng.IntN(4) / 3))
							}
						}
						compare(t, cpu, gpu, in, phases[j:j+1])
						_, inside, err := cpu.(*onCPU).interval.Inspect(frame.New(in.A.Format, in.A.Width, in.A.Height), phases[j])
						must(t, err)
						found := inside.Overlay
						added := found.Width > 0 && (in.Static.Width == 0 || !bytes.Equal(found.Pix, in.Static.Pix))
						if size[0] > 60 && added != (before || after) {
							t.Errorf("before %v, after %v: overlays found: %v", before, after, added)
						}
					}
				})
			}
		}
	})
}
