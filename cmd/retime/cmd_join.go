package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"retime/pipeline/fault"
)

func newJoinCommand() *cobra.Command {
	var o WorkOptions
	var output, format string
	var overwrite bool
	cmd := &cobra.Command{
		Use:   "join --plan PLAN -o OUTPUT",
		Short: "Put the parts of a planned conversion together",
		Long: `join writes the output of a plan whose segments are all done: their pictures as
they were encoded, and everything else from the input, as a conversion in one run
does.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runJoin(cmd.Context(), o, output, format, overwrite, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVarP(&output, "output", "o", "", "output `FILE`, - for standard output")
	o.addPlan(f)
	f.StringVarP(&format, "format", "f", "", "output container `NAME` (default from the file name)")
	f.StringVar(&o.progress, "progress", "auto", "progress display: auto, bar, json, none")
	f.BoolVarP(&overwrite, "overwrite", "y", false, "overwrite the output")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "only errors")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "details")
	return cmd
}

func runJoin(ctx context.Context, o WorkOptions, output, format string, overwrite bool, stdout, stderr io.Writer) error {
	if output == "" {
		return fault.New(fault.Usage, "no output; name one with -o")
	}
	plan, dir, err := o.read()
	if err != nil {
		return err
	}
	o.backend, o.device = "cpu", "0" // no frame is made
	local, show, err := o.local(stderr)
	if err != nil {
		return err
	}
	local.Output.File, local.Output.Format, local.Output.Overwrite = output, format, overwrite
	report, err := plan.Join(ctx, dir, local)
	show.done()
	if err != nil {
		return err
	}
	if !o.quiet {
		out := stdout
		if output == "-" {
			out = stderr
		}
		fmt.Fprintf(out, "%s: %dx%d %s, %s fps, %d frames from %d segments\n",
			report.Output, report.Width, report.Height, report.Format, report.Rate.RatString(), report.Frames, len(plan.Ranges))
	}
	return nil
}
