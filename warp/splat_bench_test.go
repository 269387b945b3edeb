package warp

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"retime/flow"
	"retime/frame"
)

// realistic returns the motion of a slow zoom with a faster disc in front of it, and
// random photometric weights.
func realistic(width, height int) Motion {
	r := rand.New(rand.NewPCG(1, 0))
	f := flow.NewField(width, height)
	weights := frame.NewImage[uint16](width, height)
	for y := range height {
		row, weight := f.Row(y), weights.Row(y)
		for x := range row {
			row[x] = flow.Vec{X: int32(x-width/2) * 8, Y: int32(y-height/2) * 8}
			if dx, dy := x-width/3, y-height/2; dx*dx+dy*dy < height*height/16 {
				row[x] = flow.Vec{X: 5000 + int32(dy), Y: -3000 + int32(dx)}
			}
			weight[x] = uint16(1 + r.IntN(4096))
		}
	}
	return Motion{Flow: f, Phase: PhaseOne / 2, Weight: weights}
}

func BenchmarkSplatFlow(b *testing.B) {
	m := realistic(1920, 1080)
	dst, holes := flow.NewField(1920, 1080), frame.NewImage[uint8](1920, 1080)
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			s := &Splatter{Workers: frame.Workers{N: workers}}
			for b.Loop() {
				s.Flow(dst, holes, m.Flow, m, SplatOne)
			}
		})
	}
}

func BenchmarkSplatPlane(b *testing.B) {
	m := realistic(1920, 1080)
	m.Weight = frame.Image[uint16]{}
	src, dst := frame.NewImage[uint8](1920, 1080), frame.NewImage[uint8](1920, 1080)
	holes := frame.NewImage[uint8](1920, 1080)
	s := &Splatter{Workers: frame.Workers{N: 1}}
	for b.Loop() {
		SplatPlane(s, dst, holes, src, m, SplatOne/16)
	}
}

func BenchmarkFlowFiller(b *testing.B) {
	m := realistic(1920, 1080)
	dst, holes := flow.NewField(1920, 1080), frame.NewImage[uint8](1920, 1080)
	s := &Splatter{Workers: frame.Workers{N: 1}}
	s.Flow(dst, holes, m.Flow, m, SplatOne)
	fill := FlowFiller{Workers: frame.Workers{N: 1}}
	for b.Loop() {
		fill.Nearest(dst, holes)
	}
}

func BenchmarkResampleFlow(b *testing.B) {
	src, dst := realistic(1920, 1080).Flow, flow.NewField(960, 540)
	for b.Loop() {
		ResampleFlow(frame.Workers{N: 1}, dst, src, 1, 1)
	}
}
