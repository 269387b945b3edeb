// Command convert converts a video to 60 frames per second: convert IN OUT.
package main

import (
	"context"
	"fmt"
	"log"
	"math/big"
	"os"

	"retime/pipeline"
)

func main() {
	report, err := pipeline.Run(context.Background(), pipeline.Options{
		Input:  pipeline.Input{File: os.Args[1]},
		Timing: pipeline.Timing{Rate: pipeline.Rate{Value: big.NewRat(60, 1)}},
		Output: pipeline.Output{File: os.Args[2]},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d frames read, %d written\n", report.Sources, report.Frames)
}
