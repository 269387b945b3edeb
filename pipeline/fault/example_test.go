package fault_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"retime/pipeline/fault"
)

// The kind says what a program can do about an error; the chain keeps its cause.
func ExampleKindOf() {
	err := fault.New(fault.NoInput, "open %q: %w", "clip.mp4", fs.ErrNotExist)
	err = fmt.Errorf("scene 12: %w", err)

	fmt.Println(err)
	fmt.Println(fault.KindOf(err) == fault.NoInput, errors.Is(err, fs.ErrNotExist))
	// Output:
	// scene 12: open "clip.mp4": file does not exist
	// true true
}

func ExampleCancel() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := fault.Cancel(ctx, "stopped behind frame %d", 120)

	fmt.Println(err)
	fmt.Println(fault.KindOf(err) == fault.Cancelled, errors.Is(err, context.Canceled))
	// Output:
	// stopped behind frame 120
	// true true
}
