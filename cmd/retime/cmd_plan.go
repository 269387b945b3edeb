package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/segment"
)

func newPlanCommand() *cobra.Command {
	var o ConvertOptions
	var even bool
	cmd := &cobra.Command{
		Use:   "plan INPUT -o PLAN [--fps RATE] [--slow N] [--segment-seconds TIME]",
		Short: "Split a conversion into parts that any machine can make",
		Long: `plan writes what retime segment, status, verify and join need to make a conversion
in parts, on one machine or many: the settings, the ranges of frames and the hash
of the input. Ranges start at scene cuts where one is near. plan looks for cuts
unless --scenes lists them or --even is given. It takes the flags of a conversion.
The segments go into a directory beside the plan: docs/clusters.md.`,
		Example: `  retime plan in.mp4 -o plan.json --fps 60
  retime segment --plan plan.json --index 0
  retime join --plan plan.json -o out.mp4`,
		Args: convertArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runPlan(cmd.Context(), o, even, args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	o.addFlags(f, planVerb)
	declare(f, []flag{{name: "even", usage: "make ranges of one length, and do not look for scene cuts", heading: planHeading, Value: boolean(&even)}})
	f.Lookup("output").Usage = "write the plan"
	f.Lookup("overwrite").Usage = "overwrite the plan"
	f.Lookup("segment-seconds").Usage = "approximate length of the ranges"
	definition(f.Lookup("segment-seconds")).heading = planHeading
	f.Lookup("format").Usage = "container of the joined output, or of one like it"
	f.Lookup("format").DefValue = "matroska"
	return cmd
}

func runPlan(ctx context.Context, o ConvertOptions, even bool, input string, stdout, stderr io.Writer) error {
	if o.Output.File == "" || o.Output.File == "-" {
		return fault.New(fault.Usage, "no file for the plan; name one with -o")
	}
	if err := o.checkParts(); err != nil {
		return err
	}
	p, err := o.options(input)
	if err != nil {
		return err
	}
	plan := flag{name: "output", use: writesFile, path: &o.Output.File}
	if err := checkWritten(append(reading(o.flags()), plan), input, o.Output.Overwrite); err != nil {
		return err
	}
	p.Output.File = ""
	if p.Output.Format == "" {
		p.Output.Format = "matroska"
	}
	p.Hooks.Log = slog.New(o.logTo(stderr))
	progress, err := newProgress(o.progress, o.quiet, stderr)
	if err != nil {
		return err
	}
	if o.dryRun {
		preview, err := pipeline.NewPreview(ctx, p)
		if err != nil {
			return err
		}
		printPreview(stdout, "the joined output", preview)
		if preview.Frames > 0 {
			fmt.Fprintf(stdout, "%s: about %s\n", o.Output.File, counted(segment.Count(preview.Frames, preview.Rate, o.segmentLength), "segment"))
		}
		return nil
	}
	p.Hooks.Progress = progress.update
	made, err := segment.New(ctx, p, segment.Options{Length: o.segmentLength, Even: even, Program: version()})
	progress.done()
	if err != nil {
		return err
	}
	if err := made.Write(o.Output.File, o.Output.Overwrite); err != nil {
		return err
	}
	if !o.quiet {
		fmt.Fprintf(stdout, "%s: %d frames in %s, 0 to %d\n", o.Output.File, made.Whole.Frames, counted(int64(len(made.Ranges)), "segment"), len(made.Ranges)-1)
	}
	return nil
}

// checkParts refuses flags for files that a conversion in parts does not write.
func (o *ConvertOptions) checkParts() error {
	for _, d := range o.flags() {
		if d.use == writesFile && *d.path != "" {
			return fault.New(fault.Usage, "--%s is written by a conversion in one run only", d.name)
		}
	}
	return nil
}
