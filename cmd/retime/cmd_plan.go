package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/big"

	"github.com/spf13/cobra"

	"retime/pipeline/fault"
	"retime/pipeline/segment"
	"retime/pipeline/timeline"
)

func newPlanCommand() *cobra.Command {
	var o ConvertOptions
	var even bool
	cmd := &cobra.Command{
		Use:   "plan INPUT -o PLAN [--fps RATE] [--slow N] [--segment-seconds TIME]",
		Short: "Cut a conversion into parts that can be made anywhere",
		Long: `plan writes what retime segment, status, verify and join need to make a conversion
in parts, on one machine or many: the settings, the ranges of frames and the hash
of the input. Ranges begin with scenes where that is near, which are looked for
unless --scenes lists them or --even is given. It takes the flags of a conversion.
The segments go into a directory beside the plan: docs/clusters.md.`,
		Example: `  retime plan in.mp4 -o plan.json --fps 60
  retime segment --plan plan.json --index 0
  retime join --plan plan.json -o out.mp4`,
		Args: convertArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runPlan(cmd.Context(), o, even, args[0], cmd.Flags().Changed("crf"), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.AddFlags(cmd.Flags())
	cmd.Flags().BoolVar(&even, "even", false, "ranges of one length; leave scene cuts unlooked for")
	for _, none := range []string{"resume", "no-verify", "overwrite"} {
		_ = cmd.Flags().MarkHidden(none) // they are about an output
	}
	cmd.Flags().Lookup("output").Usage = "write the plan to `FILE`"
	cmd.Flags().Lookup("format").Usage = "container `NAME` of the joined output, or of one like it"
	cmd.Flags().Lookup("format").DefValue = "matroska"
	return cmd
}

func runPlan(ctx context.Context, o ConvertOptions, even bool, input string, crfGiven bool, stdout, stderr io.Writer) error {
	if o.output == "" || o.output == "-" {
		return fault.New(fault.Usage, "no file for the plan; name one with -o")
	}
	if err := o.checkParts(); err != nil {
		return err
	}
	length, err := o.segmentLength()
	if err != nil {
		return err
	}
	p, err := o.options(input, crfGiven)
	if err != nil {
		return err
	}
	p.Output.File = ""
	if p.Output.Format == "" {
		p.Output.Format = "matroska"
	}
	p.Hooks.Log = slog.New(newLogHandler(stderr, o.logLevel()))
	progress, err := newProgress(o.progress, o.quiet, stderr)
	if err != nil {
		return err
	}
	p.Hooks.Progress = progress.update
	plan, err := segment.New(ctx, p, length, even, version())
	progress.done()
	if err != nil {
		return err
	}
	if err := plan.Write(o.output); err != nil {
		return err
	}
	if !o.quiet {
		fmt.Fprintf(stdout, "%s: %d frames in %d segments, 0 to %d\n", o.output, plan.Whole.Frames, len(plan.Ranges), len(plan.Ranges)-1)
	}
	return nil
}

// segmentLength is how long parts are, in seconds.
func (o *ConvertOptions) segmentLength() (*big.Rat, error) {
	length, err := timeline.ParseTime(o.segmentSeconds)
	if err != nil {
		return nil, fault.New(fault.Usage, "--segment-seconds: %w", err)
	}
	return length, nil
}

// checkParts refuses what is not written for a conversion in parts.
func (o *ConvertOptions) checkParts() error {
	for _, f := range []struct{ name, value string }{
		{"--sidecar", o.sidecar}, {"--write-scenes", o.writeScenes}, {"--confidence-maps", o.confidenceMaps},
	} {
		if f.value != "" {
			return fault.New(fault.Usage, "%s is written by a conversion in one run only", f.name)
		}
	}
	return nil
}
