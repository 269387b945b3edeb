package debug_test

import (
	"context"
	"fmt"
	"log"
	"math/big"
	"os"
	"path/filepath"

	"retime/pipeline"
	"retime/pipeline/debug"
	"retime/testdata/scene"
)

// A frame at 0.2 s of a clip of 24 frames per second lies between the clip's frames 4 and 5. Write
// draws how it is made; README.txt explains the pictures beside it.
func Example() {
	dir, err := os.MkdirTemp("", "retime")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	input := filepath.Join(dir, "clip.y4m")
	if err := scene.CreateY4M(input, 160, 96, 12, 24, 1); err != nil {
		log.Fatal(err)
	}

	d, err := debug.Dissect(context.Background(), pipeline.Options{
		Input: pipeline.Input{File: input},
	}, big.NewRat(1, 5))
	if err != nil {
		log.Fatal(err)
	}
	defer d.Release()
	if err := debug.Write(filepath.Join(dir, "frame"), d, false); err != nil {
		log.Fatal(err)
	}
	fmt.Println("between", d.First.At.RatString(), "s and", d.Second.At.RatString(), "s")
	_, err = os.Stat(filepath.Join(dir, "frame", "README.txt"))
	fmt.Println(err)
	// Output:
	// between 1/6 s and 5/24 s
	// <nil>
}
