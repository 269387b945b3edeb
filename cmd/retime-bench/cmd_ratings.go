package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"retime/cmd/retime-bench/internal/ratings"
)

// RatingsOptions holds the flags of ratings.
type RatingsOptions struct{ ratings.Options }

// AddFlags declares the flags of ratings.
func (o *RatingsOptions) AddFlags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringVar(&o.Clips, "clips", "../shared/clips/d0[1-8]*", "the clips, as a `PATTERN` of file names")
	f.StringVar((*string)(&o.Preset), "preset", "balanced", "preset of the frames that are made")
	f.IntVar(&o.Skip, "skip", 0, "skip `N` frames of each clip: 1 leaves out the other half")
	f.IntVar(&o.Threads, "threads", 0, "worker `THREADS` (default all processors)")
	f.BoolVar(&o.Verbose, "verbose", false, "print the worst frames of each clip as well")
}

func newRatingsCommand() *cobra.Command {
	return newStudy("ratings", "Measure how well the ratings of made frames find those that are wrong", `ratings leaves every second frame of each clip out, remakes it, and compares its worst
square with the one that its rating names, as in the table of docs/review.md. It takes minutes.`, func(ctx context.Context, o RatingsOptions, stdout io.Writer) error {
		return ratings.Run(ctx, stdout, o.Options)
	})
}
