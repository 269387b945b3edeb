package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"math/big"
	"os"
	"path/filepath"
	"strings"

	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/timeline"
	"retime/testdata/scene"
)

// newDirectory makes a directory for an example. In it is in.y4m, 12 frames of 160 x 96
// pixels at 24 frames per second.
func newDirectory() string {
	dir, err := os.MkdirTemp("", "retime")
	if err != nil {
		log.Fatal(err)
	}
	if err := scene.CreateY4M(filepath.Join(dir, "in.y4m"), 160, 96, 12, 24, 1); err != nil {
		log.Fatal(err)
	}
	return dir
}

// A clip of 24 frames per second becomes one of 60. Of each five frames one is the clip's own,
// and four are made. Nothing can be made behind the clip's last frame, which stays until the
// end.
func ExampleRun() {
	dir := newDirectory()
	defer os.RemoveAll(dir)

	report, err := pipeline.Run(context.Background(), pipeline.Options{
		Input:  pipeline.Input{File: filepath.Join(dir, "in.y4m")},
		Timing: pipeline.Timing{Rate: pipeline.Rate{Value: big.NewRat(60, 1)}},
		Output: pipeline.Output{File: filepath.Join(dir, "out.mp4")},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d x %d, %s frames per second\n", report.Width, report.Height, report.Rate.RatString())
	fmt.Printf("%d frames, %d of them made\n", report.Frames, report.Made)
	// Output:
	// 160 x 96, 60 frames per second
	// 30 frames, 22 of them made
}

// The clip starts as it was shot, slows down to a quarter of its speed and stays there.
func ExampleRun_curve() {
	dir := newDirectory()
	defer os.RemoveAll(dir)

	keys, err := timeline.ParseKeyframes(strings.NewReader(`
source  speed
0       100%   smooth
0.25    25%
0.5     25%
`))
	if err != nil {
		log.Fatal(err)
	}
	report, err := pipeline.Run(context.Background(), pipeline.Options{
		Input:  pipeline.Input{File: filepath.Join(dir, "in.y4m")},
		Timing: pipeline.Timing{Curve: keys},
		Output: pipeline.Output{File: filepath.Join(dir, "out.mkv")},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d frames from %d\n", report.Frames, report.Sources)
	// Output: 34 frames from 12
}

// A run that is cancelled leaves no file behind.
func ExampleRun_cancel() {
	dir := newDirectory()
	defer os.RemoveAll(dir)
	output := filepath.Join(dir, "out.mp4")

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	_, err := pipeline.Run(ctx, pipeline.Options{
		Input:  pipeline.Input{File: filepath.Join(dir, "in.y4m")},
		Timing: pipeline.Timing{Slow: big.NewRat(4, 1)},
		Output: pipeline.Output{File: output},
		Hooks: pipeline.Hooks{Progress: func(p pipeline.Progress) {
			if p.Frames == 3 {
				cancel()
			}
		}},
	})
	fmt.Println(err)
	fmt.Println(errors.Is(err, context.Canceled), fault.KindOf(err) == fault.Cancelled)
	_, err = os.Stat(output)
	fmt.Println("nothing there:", errors.Is(err, fs.ErrNotExist))
	// Output:
	// cancelled; nothing was written
	// true true
	// nothing there: true
}

// The kind of an error says who can do something about it.
func ExampleRun_errors() {
	dir := newDirectory()
	defer os.RemoveAll(dir)
	input, output := filepath.Join(dir, "in.y4m"), filepath.Join(dir, "out.mp4")

	for _, o := range []pipeline.Options{
		{Input: pipeline.Input{File: "missing.mp4"}, Output: pipeline.Output{File: output}},
		{Input: pipeline.Input{File: "example_test.go"}, Output: pipeline.Output{File: output}},
		{Input: pipeline.Input{File: input}, Output: pipeline.Output{File: output, CRF: new(-1)}},
		{Input: pipeline.Input{File: input}, Output: pipeline.Output{File: filepath.Join(dir, "missing", "out.mp4")}},
	} {
		_, err := pipeline.Run(context.Background(), o)
		switch fault.KindOf(err) {
		case fault.Usage:
			fmt.Println("the options are wrong:", err)
		case fault.NoInput:
			fmt.Println(o.Input.File, "is not there")
		case fault.BadData:
			fmt.Println(o.Input.File, "is damaged, or is no video")
		case fault.CannotWrite:
			fmt.Println("the output cannot be written")
		default:
			log.Fatal(err)
		}
	}
	// Output:
	// missing.mp4 is not there
	// example_test.go is damaged, or is no video
	// the options are wrong: Output.CRF -1: must not be negative
	// the output cannot be written
}
