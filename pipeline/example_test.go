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
)

// The first quarter of a second of a clip of 24 frames per second becomes a clip of 60. Leave
// out To to convert all of it.
func ExampleRun() {
	dir, err := os.MkdirTemp("", "retime")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	report, err := pipeline.Run(context.Background(), pipeline.Options{
		Input: pipeline.Input{File: "../testdata/demo.mp4"},
		Timing: pipeline.Timing{
			Rate: pipeline.Rate{Value: big.NewRat(60, 1)},
			To:   big.NewRat(1, 4),
		},
		Output: pipeline.Output{File: filepath.Join(dir, "demo.mp4")},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d x %d, %s frames per second\n", report.Width, report.Height, report.Rate.RatString())
	fmt.Printf("%d frames, %d of them made\n", report.Frames, report.Made)
	// Output:
	// 640 x 360, 60 frames per second
	// 15 frames, 12 of them made
}

// The clip starts as it was shot, slows down to a quarter of its speed and stays there.
func ExampleRun_curve() {
	dir, err := os.MkdirTemp("", "retime")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	keys, err := timeline.ParseKeyframes(strings.NewReader(`
source  speed
0       100%   smooth
0.125   25%
0.25    25%
`))
	if err != nil {
		log.Fatal(err)
	}
	report, err := pipeline.Run(context.Background(), pipeline.Options{
		Input:  pipeline.Input{File: "../testdata/demo.mp4"},
		Timing: pipeline.Timing{Curve: keys},
		Output: pipeline.Output{File: filepath.Join(dir, "ramp.mkv")},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d frames from %d\n", report.Frames, report.Sources)
	// Output: 17 frames from 7
}

// A run that is cancelled leaves no file behind.
func ExampleRun_cancel() {
	dir, err := os.MkdirTemp("", "retime")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	output := filepath.Join(dir, "demo.mp4")

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	_, err = pipeline.Run(ctx, pipeline.Options{
		Input:  pipeline.Input{File: "../testdata/demo.mp4"},
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
	for _, o := range []pipeline.Options{
		{Input: pipeline.Input{File: "missing.mp4"}, Output: pipeline.Output{File: "out.mp4"}},
		{Input: pipeline.Input{File: "example_test.go"}, Output: pipeline.Output{File: "out.mp4"}},
		{
			Input:  pipeline.Input{File: "../testdata/demo.mp4"},
			Output: pipeline.Output{File: "out.mp4", CRF: new(-1)},
		},
	} {
		_, err := pipeline.Run(context.Background(), o)
		switch fault.KindOf(err) {
		case fault.NoInput:
			fmt.Println(o.Input.File, "is not there")
		case fault.BadData:
			fmt.Println(o.Input.File, "is no video, or damaged")
		case fault.Usage:
			fmt.Println("the options are wrong:", err)
		case fault.CannotWrite:
			fmt.Println("the output cannot be written:", err)
		default:
			log.Fatal(err)
		}
	}
	// Output:
	// missing.mp4 is not there
	// example_test.go is no video, or damaged
	// the options are wrong: Output.CRF -1: must not be negative
}
