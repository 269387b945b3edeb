package segment_test

import (
	"context"
	"fmt"
	"log"
	"math/big"
	"os"
	"path/filepath"

	"retime/pipeline"
	"retime/pipeline/segment"
	"retime/testdata/scene"
)

// One machine plans a conversion, any number of machines make its parts, and one of them joins
// the parts. The machines share the input and the plan's directory.
func Example() {
	dir, err := os.MkdirTemp("", "retime")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	input := filepath.Join(dir, "clip.y4m")
	if err := scene.CreateY4M(input, 160, 96, 24, 24, 1); err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()

	plan, err := segment.New(ctx, pipeline.Options{
		Input:  pipeline.Input{File: input},
		Timing: pipeline.Timing{Rate: pipeline.Rate{Value: big.NewRat(48, 1)}},
		Output: pipeline.Output{Format: "matroska"},
	}, segment.Options{Length: big.NewRat(1, 3), Even: true, Program: "example 1.0"})
	if err != nil {
		log.Fatal(err)
	}
	name := filepath.Join(dir, "plan.json")
	if err := plan.Write(name, true); err != nil {
		log.Fatal(err)
	}

	// On any machine, in any order:
	worker, err := segment.ReadPlan(name, "example 1.0")
	if err != nil {
		log.Fatal(err)
	}
	for i := range worker.Ranges {
		m, _, err := worker.Make(ctx, segment.Dir(name), i, pipeline.Options{})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("part %d: %d frames from number %d on\n", i, m.Frames, m.First)
	}

	report, err := plan.Join(ctx, segment.Dir(name), pipeline.Options{
		Output: pipeline.Output{File: filepath.Join(dir, "clip.mkv")},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("joined:", report.Frames, "frames")
	// Output:
	// part 0: 16 frames from number 0 on
	// part 1: 16 frames from number 16 on
	// part 2: 16 frames from number 32 on
	// joined: 48 frames
}
