package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"retime/pipeline"
	"retime/pipeline/fault"
)

func newJoinCommand() *cobra.Command {
	var o WorkOptions
	var wait bool
	cmd := &cobra.Command{
		Use:   "join --plan PLAN -o OUTPUT [--wait]",
		Short: "Join the parts of a planned conversion",
		Long: `join writes the output of a plan whose segments are all done: their pictures as
they were encoded, and everything else from the input, as a conversion in one run
does. With --wait, join begins at once, and waits for each segment that is not made
yet.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runJoin(cmd.Context(), o, wait, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	o.addPlan(f)
	o.addFlags(f, joinVerb)
	declare(f, []flag{{name: "wait", usage: "wait for segments that are missing or damaged", heading: planHeading, Value: boolean(&wait)}})
	f.Lookup("format").Usage = "container (default from the file's name)"
	return cmd
}

func runJoin(ctx context.Context, o WorkOptions, wait bool, stdout, stderr io.Writer) error {
	if o.Output.File == "" {
		return fault.New(fault.Usage, "no output; name one with -o")
	}
	plan, dir, err := o.read()
	if err != nil {
		return err
	}
	if err := checkWritten(append(o.flags(), o.own()...), plan.Input.Path, o.Output.Overwrite); err != nil {
		return err
	}
	if o.dryRun {
		s := plan.Status(dir, false)
		fmt.Fprintf(stdout, "%s: %d frames from %s, of which %d are done\n", o.Output.File, plan.Whole.Frames, counted(int64(len(plan.Ranges)), "segment"), s.Done)
		return nil
	}
	o.Compute.Backend = pipeline.CPU // a join makes no frame
	local, show, err := o.local(stderr)
	if err != nil {
		return err
	}
	join := plan.Join
	if wait {
		join = plan.JoinArriving
	}
	report, err := join(ctx, dir, local)
	show.done()
	if err != nil {
		return err
	}
	if !o.quiet {
		out := stdout
		if o.Output.File == "-" {
			out = stderr
		}
		fmt.Fprintf(out, "%s: %dx%d %s, %s fps, %d frames from %d segments\n",
			report.Output, report.Width, report.Height, report.Written, report.Rate.RatString(), report.Frames, len(plan.Ranges))
	}
	return nil
}
