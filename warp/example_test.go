package warp_test

import (
	"fmt"
	"log"
	"math"

	"retime/flow"
	"retime/frame"
	"retime/warp"
)

const width, height = 64, 48

// ball returns a gray picture of a soft ball whose centre lies at a column of the picture.
func ball(column int) *frame.Frame {
	f := frame.New(frame.Format{Name: "gray", Depth: 8, Planes: 1}, width, height)
	luma := frame.Samples[uint8](f.Planes[0])
	for y := range height {
		row := luma.Row(y)
		for x := range row {
			dx, dy := float64(x-column), float64(y-height/2)
			row[x] = uint8(20 + 200*math.Exp(-(dx*dx+dy*dy)/50))
		}
	}
	return f
}

// uniform returns a flow by which every pixel moves to the right by some pixels.
func uniform(pixels int32) flow.Field {
	f := flow.NewField(width, height)
	for i := range f.Pix {
		f.Pix[i] = flow.Vec{X: pixels * flow.One}
	}
	return f
}

// The ball is at column 20 in one frame and at column 32 in the next. A quarter of the way
// between them it is at column 23.
func Example() {
	a, b := ball(20), ball(32)
	defer a.Release()
	defer b.Release()

	s, err := warp.NewSynthesizer(warp.Params{Mode: warp.Project, Order: 3})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	p, err := s.Prepare(warp.Interval{
		A: a, B: b,
		GuideA: warp.Luma(a), GuideB: warp.Luma(b),
		Flows: []warp.FlowPair{{Forward: uniform(12), Backward: uniform(-12)}}, // flow/opencv estimates these
	})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()

	made := frame.New(a.Format, width, height)
	defer made.Release()
	if _, err := p.Make(made, warp.PhaseOne/4); err != nil {
		log.Fatal(err)
	}
	brightest, at := uint8(0), 0
	for x, v := range frame.Samples[uint8](made.Planes[0]).Row(height / 2) {
		if v > brightest {
			brightest, at = v, x
		}
	}
	fmt.Println("column", at)
	// Output: column 23
}

// Forward splatting moves each pixel along its flow. What no pixel reaches is a hole.
func ExampleSplatPlane() {
	src, dst, holes := frame.NewImage[uint8](8, 1), frame.NewImage[uint8](8, 1), frame.NewImage[uint8](8, 1)
	field := flow.NewField(8, 1)
	for x := range 8 {
		src.Row(0)[x] = uint8(10 * (x + 1))
		if x >= 4 {
			field.Row(0)[x] = flow.Vec{X: 4 * flow.One} // the right half moves by 4 pixels
		}
	}

	var s warp.Splatter
	half := warp.Motion{Flow: field, Phase: warp.PhaseOne / 2}
	warp.SplatPlane(&s, dst, holes, src, half, warp.SplatOne/2)
	fmt.Printf("%d\n", dst.Row(0))
	fmt.Printf("%d\n", holes.Row(0))
	// Output:
	// [10 20 30 40 0 0 50 60]
	// [0 0 0 0 255 255 0 0]
}
