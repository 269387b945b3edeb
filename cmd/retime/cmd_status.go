package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"retime/pipeline/fault"
	"retime/pipeline/segment"
)

func newStatusCommand() *cobra.Command {
	var o WorkOptions
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status --plan PLAN",
		Short: "List the finished parts of a planned conversion",
		Long: `status says which segments of a plan are done. Its exit code is 0 if all are, 75
if some are missing, 65 if some are damaged.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			plan, dir, err := o.read()
			if err != nil {
				return err
			}
			s := plan.Status(dir, false)
			if err := printStatus(cmd.OutOrStdout(), s, asJSON, false); err != nil {
				return err
			}
			return s.Err()
		},
	}
	o.addPlan(cmd.Flags())
	addJSON(cmd.Flags(), &asJSON)
	return cmd
}

// addJSON declares --json.
func addJSON(f *pflag.FlagSet, to *bool) {
	declare(f, []flag{{name: "json", usage: "print a JSON object", heading: displayHeading, Value: boolean(to)}})
}

func newVerifyCommand() *cobra.Command {
	var o WorkOptions
	var asJSON, all bool
	sample := 16
	cmd := &cobra.Command{
		Use:   "verify --plan PLAN [--all]",
		Short: "Make frames of a planned conversion again and compare",
		Long: `verify reads the segments through and makes a sample of their frames again, here
and now, to compare them by hash. Its exit code is 0 if all is done and right, 75
if segments are missing, 65 if something is wrong.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if all {
				sample = -1
			} else if sample < 0 {
				return fault.New(fault.Usage, "--sample %d: must not be negative", sample)
			}
			return runVerify(cmd.Context(), o, sample, asJSON, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.AddFlags(cmd.Flags())
	declare(cmd.Flags(), []flag{
		{name: "sample", arg: "N", usage: "how many frames are made again", heading: planHeading, Value: integer(&sample)},
		{name: "all", usage: "make all frames again", heading: planHeading, Value: boolean(&all)},
	})
	addJSON(cmd.Flags(), &asJSON)
	return cmd
}

func runVerify(ctx context.Context, o WorkOptions, sample int, asJSON bool, stdout, stderr io.Writer) error {
	plan, dir, err := o.read()
	if err != nil {
		return err
	}
	local, show, err := o.local(stderr)
	if err != nil {
		return err
	}
	s, err := plan.Verify(ctx, dir, sample, local)
	show.done()
	if s != nil {
		if e := printStatus(stdout, s, asJSON, o.quiet); err == nil {
			err = e
		}
	}
	return err
}

func printStatus(w io.Writer, s *segment.Status, asJSON, quiet bool) error {
	var err error
	switch {
	case asJSON:
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		err = e.Encode(s)
	case !quiet:
		_, err = fmt.Fprint(w, s)
	}
	if err != nil {
		return fault.New(fault.CannotWrite, "%w", err)
	}
	return nil
}
