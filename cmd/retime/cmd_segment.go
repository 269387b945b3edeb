package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/segment"
)

// WorkOptions holds the flags of the verbs that work on a plan, some of which it
// shares with the conversion.
type WorkOptions struct {
	ConvertOptions
	plan, dir     string
	index, stride int
	count         int // ranges to make at most; 0 for no limit
}

// AddFlags declares the flags that segment and verify share.
func (o *WorkOptions) AddFlags(f *pflag.FlagSet) {
	o.addPlan(f)
	o.addFlags(f, workVerb)
}

// addPlan declares the flags that all verbs about a plan share.
func (o *WorkOptions) addPlan(f *pflag.FlagSet) { declare(f, o.own()) }

// own defines the flags about a plan.
func (o *WorkOptions) own() []flag {
	return []flag{
		{name: "plan", arg: "FILE", usage: "the plan", heading: planHeading, use: readsFile, path: &o.plan, Value: word(&o.plan)},
		{name: "dir", arg: "DIR", usage: "the segments (default next to the plan, plan.segments for plan.json)", heading: planHeading, use: readsFile, path: &o.dir,
			files: o.segments, Value: word(&o.dir)},
	}
}

// segments returns the names of the files in the directory of the segments.
func (o *WorkOptions) segments() []string {
	list, _ := filepath.Glob(filepath.Join(o.dir, "*")) // no name is a wrong pattern
	return list
}

// read returns the plan and the directory of its segments.
func (o *WorkOptions) read() (*segment.Plan, string, error) {
	if o.plan == "" {
		return nil, "", fault.New(fault.Usage, "no plan; name one with --plan")
	}
	if o.dir == "" {
		o.dir = segment.Dir(o.plan)
	}
	in, err := o.confinement()
	if err != nil {
		return nil, "", err
	}
	for _, f := range []struct{ flag, name string }{{"--plan", o.plan}, {"--dir", o.dir}, {"-o", o.Output.File}} {
		if err := in.Check(f.name); f.name != "" && f.name != "-" && err != nil {
			return nil, "", fault.New(fault.Usage, "%s: --confine: %w", f.flag, err)
		}
	}
	p, err := segment.ReadPlan(o.plan, version())
	if fault.KindOf(err) == fault.NoInput && errors.Is(err, fs.ErrNotExist) {
		err = fault.New(fault.NoInput, "%w; retime plan makes it", err)
	}
	return p, o.dir, err
}

// local returns the options that this machine chooses. If the backend asks for it, the
// build with CUDA replaces this program.
func (o *WorkOptions) local(stderr io.Writer) (p pipeline.Options, show *progress, err error) {
	p = o.Options
	if _, err := chooseProgram(p.Compute.Backend); err != nil {
		return p, nil, err
	}
	p.Hooks.Log = slog.New(o.logTo(stderr))
	if show, err = newProgress(o.progress, o.quiet, stderr); err != nil {
		return p, nil, err
	}
	p.Hooks.Progress = show.update
	return p, show, nil
}

func newSegmentCommand() *cobra.Command {
	var o WorkOptions
	cmd := &cobra.Command{
		Use:   "segment --plan PLAN --index K [--stride N] [--count M]",
		Short: "Make one part of a planned conversion",
		Long: `segment makes range K of a plan, or with --stride N ranges K, K+N, K+2N and so on,
M of them at most with --count M. Neighbouring ranges, which --stride 1 gives, share
the reading and the motion at their borders, so they take less time than each alone.
Finished ranges are left alone, so any number of workers may run it at any time.
Exit code 65 means that trying again is useless, 75 that it may help.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("index") {
				return fault.New(fault.Usage, "no --index; the plan's ranges count from 0")
			}
			return runSegment(cmd.Context(), o, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.AddFlags(cmd.Flags())
	declare(cmd.Flags(), []flag{
		{name: "index", arg: "K", usage: "number of the range, from 0", heading: planHeading, Value: integer(&o.index)},
		{name: "stride", arg: "N", usage: "then make every N-th range after it", heading: planHeading, Value: integer(&o.stride)},
		{name: "dry-run", usage: "make nothing; report which ranges would be made, and roughly how long that takes", heading: displayHeading, role: roleProgram, Value: boolean(&o.dryRun)},
		{name: "count", arg: "M", usage: "with --stride, stop after M ranges", heading: planHeading, Value: integer(&o.count)},
	})
	return cmd
}

// ranges returns the numbers of the ranges to make, out of all that a plan has.
func (o *WorkOptions) ranges(planned int) (list []int) {
	for i := o.index; i < planned; i += o.stride {
		if list = append(list, i); o.stride == 0 || len(list) == o.count {
			break
		}
	}
	return list
}

func runSegment(ctx context.Context, o WorkOptions, stdout, stderr io.Writer) error {
	plan, dir, err := o.read()
	if err != nil {
		return err
	}
	if o.index < 0 || o.index >= len(plan.Ranges) {
		return fault.New(fault.Usage, "--index %d: the plan has ranges 0 to %d", o.index, len(plan.Ranges)-1)
	}
	if o.stride < 0 {
		return fault.New(fault.Usage, "--stride %d: must not be negative", o.stride)
	}
	if o.count < 0 || o.count > 0 && o.stride == 0 {
		return fault.New(fault.Usage, "--count %d: must not be negative, and needs --stride", o.count)
	}
	local, show, err := o.local(stderr)
	if err != nil {
		return err
	}
	if o.dryRun {
		return dryRunSegments(ctx, stdout, plan, dir, o.ranges(len(plan.Ranges)), local)
	}
	defer show.done()
	report := func(m *segment.Manifest, made bool) {
		if !o.quiet {
			what := "done already"
			if made {
				what = "made"
			}
			fmt.Fprintf(stdout, "segment %d of %d, frames %d to %d: %s\n", m.Index, len(plan.Ranges), m.First, m.First+m.Frames, what)
		}
	}
	ranges := o.ranges(len(plan.Ranges))
	if o.stride == 1 {
		return plan.MakeRun(ctx, dir, o.index, o.index+len(ranges), local, report)
	}
	for _, i := range ranges {
		if err := plan.MakeRun(ctx, dir, i, i+1, local, report); err != nil {
			return err
		}
	}
	return nil
}
