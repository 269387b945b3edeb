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

// DebugOptions holds the flags of debug, some of which it shares with the conversion.
type DebugOptions struct {
	ConvertOptions
	at, dir string
}

// AddFlags declares the flags of debug.
func (o *DebugOptions) AddFlags(f *pflag.FlagSet) {
	declare(f, o.own())
	o.addFlags(f, debugVerb)
	f.Lookup("overwrite").Usage = "overwrite the contents of DIR"
}

// own defines the flags that a conversion does not have.
func (o *DebugOptions) own() []flag {
	return []flag{
		{name: "at", arg: "TIME", usage: "time in the input to look at: seconds, mm:ss.frac or hh:mm:ss.frac", heading: commonHeading, Value: word(&o.at)},
		{name: "output", short: "o", arg: "DIR", usage: "write pictures, README.txt and numbers.json", heading: commonHeading, use: writesFile, path: &o.dir,
			files: func() []string { return below(o.dir, debug.Files...) }, Value: word(&o.dir)},
	}
}

func newDebugCommand() *cobra.Command {
	var o DebugOptions
	cmd := &cobra.Command{
		Use:   "debug INPUT --at TIME -o DIR",
		Short: "Show how one frame is made: motion, holes, visibility, hypotheses, confidence",
		Long: `debug makes the frame at one moment of the input and writes pictures of how it
came about, with a text that explains them: the two source frames and the made one,
the optical flow and its holes, which source frame shows each pixel, which motion
wins with its error and share, confidence, still overlays.`,
		Example: `  retime debug in.mp4 --at 12.52 -o why
  retime debug in.mp4 --at 1:02.18 -o why --preset best`,
		Args: oneInput,
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
	p, err := o.options(input)
	if err != nil {
		return err
	}
	if err := checkWritten(append(o.flags(), o.own()...), input, o.Output.Overwrite); err != nil {
		return err
	}
	p.Compute.Backend, p.Hooks.Log = pipeline.CPU, slog.New(o.logTo(stderr))
	d, err := debug.Dissect(ctx, p, at)
	if err != nil {
		return err
	}
	defer d.Release()
	if o.dryRun {
		fmt.Fprintf(stdout, "%s: %s about a frame of confidence %.3f, %s\n", o.dir, counted(int64(len(debug.Files)), "file"), d.Record.Confidence, d.Record.Method)
		return nil
	}
	if err := debug.Write(o.dir, d, o.Output.Overwrite); err != nil {
		return err
	}
	if !o.quiet {
		fmt.Fprintf(stdout, "confidence %.3f, %s; see %s/README.txt\n", d.Record.Confidence, d.Record.Method, o.dir)
	}
	return nil
}
