package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/segment"
)

// WorkOptions are the flags of those who work on a plan.
type WorkOptions struct {
	plan, dir           string
	threads             int
	backend, device     string
	gpuFault, flowCache string
	progress            string
	quiet, verbose      bool
	index, stride       int
}

// AddFlags declares them.
func (o *WorkOptions) AddFlags(f *pflag.FlagSet) {
	f.SortFlags = false
	o.addPlan(f)
	f.IntVar(&o.threads, "threads", 0, "worker threads (default all processors)")
	f.StringVar(&o.backend, "backend", "auto", "where frames are made: auto, cpu, cuda")
	f.StringVar(&o.device, "device", "0", "CUDA devices to use, as `NUMBERS`: 0,1")
	f.StringVar(&o.gpuFault, "gpu-fault", "cpu", "a frame that a device fails to make: on the cpu again, or fail")
	f.StringVar(&o.flowCache, "flow-cache", "", "keep optical flow in `DIR`, and read what is there")
	f.StringVar(&o.progress, "progress", "auto", "progress display: auto, bar, json, none")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "only errors")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "details")
}

// addPlan declares what every command about a plan has.
func (o *WorkOptions) addPlan(f *pflag.FlagSet) {
	f.StringVar(&o.plan, "plan", "", "the plan's `FILE`")
	f.StringVar(&o.dir, "dir", "", "`DIR` of the segments (default beside the plan, plan.segments for plan.json)")
}

// read returns the plan and the segments' directory.
func (o *WorkOptions) read() (*segment.Plan, string, error) {
	if o.plan == "" {
		return nil, "", fault.New(fault.Usage, "no plan; name one with --plan")
	}
	p, err := segment.ReadPlan(o.plan, version())
	if o.dir == "" {
		o.dir = segment.Dir(o.plan)
	}
	return p, o.dir, err
}

// local are the options of this machine. Where the backend asks for it the program
// is replaced by the one with CUDA.
func (o *WorkOptions) local(stderr io.Writer) (p pipeline.Options, show *progress, err error) {
	p = pipeline.Options{
		Compute:   pipeline.Compute{Threads: o.threads, Backend: pipeline.Backend(o.backend), FaultPolicy: pipeline.FaultPolicy(o.gpuFault)},
		Synthesis: pipeline.Synthesis{FlowCache: o.flowCache},
	}
	if p.Compute.Devices, err = parseDevices(o.device); err != nil {
		return p, nil, err
	}
	if _, err := chooseProgram(p.Compute.Backend); err != nil {
		return p, nil, err
	}
	level := ConvertOptions{quiet: o.quiet, verbose: o.verbose}
	p.Hooks.Log = slog.New(newLogHandler(stderr, level.logLevel()))
	if show, err = newProgress(o.progress, o.quiet, stderr); err != nil {
		return p, nil, err
	}
	p.Hooks.Progress = show.update
	return p, show, nil
}

func newSegmentCommand() *cobra.Command {
	var o WorkOptions
	cmd := &cobra.Command{
		Use:   "segment --plan PLAN --index K [--stride N]",
		Short: "Make one part of a planned conversion",
		Long: `segment makes range K of a plan, or with --stride N ranges K, K+N, K+2N and so on.
What is done already is left alone, so it may be run again at any time, by several
at once. Exit code 65 means that trying again is of no use, 75 that it may help.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("index") {
				return fault.New(fault.Usage, "no --index; the plan's ranges count from 0")
			}
			return runSegment(cmd.Context(), o, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.AddFlags(cmd.Flags())
	cmd.Flags().IntVar(&o.index, "index", 0, "number of the range, from 0")
	cmd.Flags().IntVar(&o.stride, "stride", 0, "go on with every `N`th range behind it")
	return cmd
}

func noArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fault.New(fault.Usage, "arguments %q are too many; see --help", args)
	}
	return nil
}

func runSegment(ctx context.Context, o WorkOptions, stdout, stderr io.Writer) error {
	plan, dir, err := o.read()
	if err != nil {
		return err
	}
	if o.stride < 0 {
		return fault.New(fault.Usage, "--stride %d: must not be negative", o.stride)
	}
	local, show, err := o.local(stderr)
	if err != nil {
		return err
	}
	defer show.done()
	for i := o.index; ; i += o.stride {
		m, made, err := plan.Make(ctx, dir, i, local)
		if err != nil {
			return err
		}
		if !o.quiet {
			what := "done already"
			if made {
				what = "made"
			}
			fmt.Fprintf(stdout, "segment %d of %d, frames %d to %d: %s\n", i, len(plan.Ranges), m.First, m.First+m.Frames, what)
		}
		if o.stride == 0 || i+o.stride >= len(plan.Ranges) {
			return nil
		}
	}
}
