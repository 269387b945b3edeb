package batch_test

import (
	"context"
	"fmt"
	"log"
	"math/big"
	"os"
	"path/filepath"

	"retime/pipeline"
	"retime/pipeline/batch"
	"retime/testdata/scene"
)

// A batch slows two clips down. Run again with a third clip, it skips the two that are done.
func ExampleRun() {
	dir, err := os.MkdirTemp("", "retime")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	job := func(name string) batch.Job {
		input, output := filepath.Join(dir, name+".y4m"), filepath.Join(dir, name+".mkv")
		if err := scene.CreateY4M(input, 160, 96, 6, 24, 1); err != nil {
			log.Fatal(err)
		}
		return batch.Job{
			Input: input, Output: output, Settings: "slow 2",
			Convert: func(ctx context.Context, r batch.Resources) (*pipeline.Report, error) {
				return pipeline.Run(ctx, pipeline.Options{
					Input:   pipeline.Input{File: input},
					Timing:  pipeline.Timing{Slow: big.NewRat(2, 1)},
					Output:  pipeline.Output{File: output, Overwrite: r.Overwrite},
					Compute: pipeline.Compute{Threads: r.Threads},
					Hooks:   pipeline.Hooks{Progress: r.Progress},
				})
			},
		}
	}
	o := batch.Options{Dir: filepath.Join(dir, "state"), Jobs: []batch.Job{job("one"), job("two")}}
	first, err := batch.Run(context.Background(), o)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d done, %d failed\n", first.Done, first.Failed)

	o.Jobs = append(o.Jobs, job("three"))
	o.Resume = true
	second, err := batch.Run(context.Background(), o)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d done, %d skipped, %d failed\n", second.Done, second.Skipped, second.Failed)
	// Output:
	// 2 done, 0 failed
	// 1 done, 2 skipped, 0 failed
}
