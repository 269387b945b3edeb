package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"retime/cmd/retime-bench/internal/restoration"
)

// RestoreOptions holds the flags of restore.
type RestoreOptions struct{ restoration.Options }

// AddFlags declares the flags of restore.
func (o *RestoreOptions) AddFlags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringVar(&o.Clips, "clips", "../shared/clips/d0[1-7]*", "the clips, as a `PATTERN` of file names")
	f.StringVar(&o.Keep, "keep", "", "keep damaged clips and minterpolate's figures in `DIR`, and reuse them")
	f.Uint64Var(&o.Seed, "seed", 1, "`NUMBER` that decides which frames are damaged, and how")
	f.StringVar(&o.Rival, "minterpolate", "", "more `OPTIONS` for minterpolate, such as :scd=none")
	f.StringVar((*string)(&o.Preset), "preset", "", "preset of the restoration (default best)")
	f.BoolVar(&o.Fields, "fields", false, "weave the clips' pictures to fields, and print how well lost fields are made")
	f.BoolVar(&o.Kinds, "kinds", false, "draw damage of each kind, and print how much of it is found, and what in sound clips")
	f.StringVar(&o.Find, "find", "whole,parts", "`KINDS` that --kinds draws and looks for, as restore --find")
	f.IntVar(&o.Rounds, "rounds", 3, "how many `TIMES` --kinds draws damage into each clip")
	f.IntVar(&o.Width, "width", 720, "`PIXELS` that clips are at most wide for --kinds")
	f.BoolVar(&o.Verbose, "verbose", false, "print each damaged frame as well")
}

func newRestoreCommand() *cobra.Command {
	return newStudy("restore", "Compare the restoration of clips with FFmpeg's minterpolate", `restore spoils one frame in ten of each clip, lets them be found and restored, and
prints the table of docs/restoration.md: recall, precision, and PSNR in dB beside
minterpolate's. Then it leaves frames out and counts how many of the gaps are found.
It takes minutes, and fails if the figures are worse than they should be.`, func(ctx context.Context, o RestoreOptions, stdout io.Writer) error {
		return restoration.Run(ctx, stdout, o.Options)
	})
}
