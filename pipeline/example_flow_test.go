package pipeline_test

import (
	"context"
	"fmt"
	"log"

	"retime/flow"
	"retime/frame"
	"retime/pipeline"
	"retime/testdata/scene"
)

// draw returns a frame of 160 x 96 pixels of a scene that moves, at a time in seconds.
func draw(at float64) *frame.Frame {
	p := scene.Draw(160, 96, at)
	f := frame.New(frame.Format{Name: "gray", Depth: 8, Planes: 1}, p.Width, p.Height)
	luma := frame.Samples[uint8](f.Planes[0])
	for y := range luma.Height {
		copy(luma.Row(y), p.Y[y*p.Width:])
	}
	return f
}

// A disc of the scene moves to the right, by about 4 pixels from one frame to the other.
func ExampleEstimateFlow() {
	a, b := draw(0), draw(0.12)
	defer a.Release()
	defer b.Release()
	forward, backward, err := pipeline.EstimateFlow(context.Background(), a, b, pipeline.Options{
		Synthesis: pipeline.Synthesis{Preset: pipeline.Best}, // at the size of frames as small as these
	})
	if err != nil {
		log.Fatal(err)
	}
	x, y := 34, 58 // the disc's centre
	fmt.Printf("%d x %d vectors\n", forward.Width, forward.Height)
	fmt.Printf("forward %+.0f pixels, backward %+.0f pixels\n",
		float64(forward.Row(y)[x].X)/flow.One, float64(backward.Row(y)[x].X)/flow.One)
	// Output:
	// 160 x 96 vectors
	// forward +4 pixels, backward -4 pixels
}

// The next frame shows the same scene. A minute and a half later the picture is another one, as
// it is behind a cut.
func ExampleCutScore() {
	now := draw(0)
	defer now.Release()
	for _, seconds := range []float64{1. / 24, 90} {
		next := draw(seconds)
		score, err := pipeline.CutScore(context.Background(), now, next, pipeline.Options{})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("a cut:", score >= pipeline.DefaultSceneThreshold)
		next.Release()
	}
	// Output:
	// a cut: false
	// a cut: true
}
