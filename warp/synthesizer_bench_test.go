package warp

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"retime/flow"
	"retime/frame"
	"retime/warp/bspline"
)

// BenchmarkWholeFrames makes frames of 1080p 4:2:0 from intervals, whose flow is given, as the
// presets do, on 1, 2, 4 and so on up to all processors: one frame at a time, and several at once.
func BenchmarkWholeFrames(b *testing.B) {
	format := frame.Format{Name: "yuv420p", Depth: 8, Planes: 3, ChromaX: 1, ChromaY: 1}
	picture := func(shift float64) *frame.Frame {
		return fillFrame(format, 1920, 1080, func(plane, x, y int) int {
			u, v := float64(x)+shift, float64(y)+shift/2
			return int(128 + 50*math.Sin(u/7+float64(plane)) + 40*math.Sin(v/5) + 30*math.Sin((u+v)/90))
		})
	}
	a, c := picture(0), picture(6)
	for i, name := range []string{"balanced", "fast"} {
		level := i + 1
		in := between(a, c, level, 6, 3)
		f := flow.NewField(in.GuideA.Width, in.GuideA.Height)
		for i := range f.Pix {
			f.Pix[i] = flow.Vec{X: int32(-6*flow.One>>level) + int32(i%7), Y: int32(-3*flow.One>>level) - int32(i%5)}
		}
		in.Flows[0].Forward = f
		in.Before, in.After = &Outer{Guide: in.GuideA, Flow: in.Flows[0].Backward}, &Outer{Guide: in.GuideB, Flow: f}
		for n := 1; n <= runtime.GOMAXPROCS(0); n *= 2 {
			for _, atOnce := range slices.Compact([]int{1, min(n, max(2, n*3/4))}) {
				b.Run(fmt.Sprintf("%s/workers=%d/frames=%d", name, n, atOnce), func(b *testing.B) {
					workers, begin := frame.Workers{N: n}.Shared()
					s, err := NewSynthesizer(Params{Mode: Project, Order: bspline.Cubic, Acceleration: level == 1, Overlays: true, Workers: workers})
					if err != nil {
						b.Fatal(err)
					}
					defer s.Close()
					var begun atomic.Int64
					var making sync.WaitGroup
					for range atOnce {
						making.Go(func() {
							defer begin()()
							dst := frame.New(format, 1920, 1080)
							for begun.Add(1) <= int64(b.N) {
								p, err := s.Prepare(in)
								if err == nil {
									_, err = p.Make(dst, PhaseOne/2)
									p.Close()
								}
								if err != nil {
									b.Error(err)
									return
								}
							}
						})
					}
					making.Wait()
				})
			}
		}
	}
}
