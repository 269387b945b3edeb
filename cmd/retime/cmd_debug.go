package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"retime/pipeline"
	"retime/pipeline/debug"
	"retime/pipeline/fault"
	"retime/pipeline/timeline"
)

// DebugOptions are the flags of debug, as given.
type DebugOptions struct {
	at, dir, inputFormat string
	preset, flow         string
	order, threads       int
	static, staticMask   string
	overwrite            bool
	quiet, verbose       bool
}

// AddFlags declares the flags.
func (o *DebugOptions) AddFlags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringVar(&o.at, "at", "", "make the frame at `TIME` of the input: seconds, mm:ss.frac or hh:mm:ss.frac")
	f.StringVarP(&o.dir, "output", "o", "", "write pictures, README.txt and numbers.json into `DIR`")
	f.StringVar(&o.preset, "preset", "balanced", "cost against quality: fast, balanced, best")
	f.StringVar(&o.flow, "flow", "dis", "optical flow: dis, farneback")
	f.IntVar(&o.order, "order", 3, "B-spline order of the sampling: 0, 1, 3")
	f.StringVar(&o.static, "static", "auto", "overlays that lie still over the moving picture: auto, off")
	f.StringVar(&o.staticMask, "static-mask", "", "keep still what is white in the picture `FILE`")
	f.StringVar(&o.inputFormat, "input-format", "", "input container `NAME` (default probed)")
	f.IntVar(&o.threads, "threads", 0, "worker threads (default all processors)")
	f.BoolVarP(&o.overwrite, "overwrite", "y", false, "overwrite what is in DIR")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "only errors")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "details")
}

func newDebugCommand() *cobra.Command {
	var o DebugOptions
	cmd := &cobra.Command{
		Use:   "debug INPUT --at TIME -o DIR",
		Short: "Show how one frame is made: motion, holes, visibility, hypotheses, confidence",
		Long: `debug makes the frame at one moment of the input and writes pictures of how it
came about, with a text that explains them: the two source frames and the made
one, the optical flow, what the flow does not reach, which source frame shows
what, which motion wins, its error and share, confidence, still overlays.`,
		Example: `  retime debug in.mp4 --at 12.52 -o why
  retime debug in.mp4 --at 1:02.18 -o why --preset best`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fault.New(fault.Usage, "%d inputs: want one; see retime debug --help", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return runDebug(cmd.Context(), o, args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.AddFlags(cmd.Flags())
	return cmd
}

func runDebug(ctx context.Context, o DebugOptions, input string, stdout, stderr io.Writer) error {
	if o.at == "" || o.dir == "" {
		return fault.New(fault.Usage, "want --at TIME and -o DIR; see retime debug --help")
	}
	at, err := timeline.ParseTime(o.at)
	if err != nil {
		return err
	}
	p := pipeline.Options{
		Input:     pipeline.Input{File: input, Format: o.inputFormat},
		Synthesis: pipeline.Synthesis{Preset: pipeline.Preset(o.preset), Flow: pipeline.FlowMethod(o.flow), Order: &o.order, Static: pipeline.Static(o.static)},
		Compute:   pipeline.Compute{Threads: o.threads, Backend: pipeline.CPU},
		Hooks:     pipeline.Hooks{Log: slog.New(newLogHandler(stderr, (&ConvertOptions{quiet: o.quiet, verbose: o.verbose}).logLevel()))},
	}
	if o.staticMask != "" {
		if p.Synthesis.StaticMask, err = readMask("--static-mask", o.staticMask); err != nil {
			return err
		}
	}
	d, err := debug.Dissect(ctx, p, at)
	if err != nil {
		return err
	}
	defer d.Release()
	if err := debug.Write(o.dir, d, o.overwrite); err != nil {
		return err
	}
	if !o.quiet {
		fmt.Fprintf(stdout, "confidence %.3f, %s; see %s/README.txt\n", d.Record.Confidence, d.Record.Method, o.dir)
	}
	return nil
}
