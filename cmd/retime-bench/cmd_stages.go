package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/pprof"
	"runtime/trace"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"retime/cmd/internal/values"
	"retime/cmd/retime-bench/internal/stages"
	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/timeline"
)

// StagesOptions holds the flags of stages.
type StagesOptions struct {
	fps, to, flowCache, preset, backend, device string
	cpuProfile, trace                           string
	threads                                     int
}

// AddFlags declares the flags of stages.
func (o *StagesOptions) AddFlags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringVar(&o.fps, "fps", "5x", "output `RATE`, as for a conversion")
	f.StringVar(&o.to, "to", "", "`TIME` at which the measured part ends")
	f.StringVar(&o.flowCache, "flow-cache", "", "keep optical flow in this `DIR` (default one that is removed)")
	f.StringVar(&o.preset, "preset", string(pipeline.Balanced), "fast, balanced or best")
	f.StringVar(&o.backend, "backend", string(pipeline.Auto), "cpu, cuda or auto")
	f.StringVar(&o.device, "device", "", "CUDA devices, `NUMBERS` such as 0,1 (default the first)")
	f.IntVar(&o.threads, "threads", 0, "worker threads, `N` (default all processors)")
	f.StringVar(&o.cpuProfile, "cpu-profile", "", "write a profile of the last run of all stages to `FILE`, for go tool pprof")
	f.StringVar(&o.trace, "trace", "", "write a trace of the last run of all stages to `FILE`, for go tool trace")
}

func newStagesCommand() *cobra.Command {
	var o StagesOptions
	cmd := &cobra.Command{
		Use:   "stages INPUT",
		Short: "Measure the stages of a conversion, each alone and all together",
		Long: `stages converts a clip to another rate, drops the frames, and measures the
whole conversion and each of its stages alone, once everything has started: decoding,
optical flow read from files with the pictures that it is estimated on, and the
synthesis. The ratio of the slowest stage to the whole says how well the stages
overlap.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fault.New(fault.Usage, "%d inputs; name one", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return runStages(cmd.Context(), o, args[0], cmd.OutOrStdout())
		},
	}
	o.AddFlags(cmd.Flags())
	return cmd
}

func runStages(ctx context.Context, o StagesOptions, input string, stdout io.Writer) (err error) {
	p := pipeline.Options{
		Input:     pipeline.Input{File: input},
		Synthesis: pipeline.Synthesis{Preset: pipeline.Preset(o.preset), FlowCache: o.flowCache},
		Compute:   pipeline.Compute{Backend: pipeline.Backend(o.backend), Threads: o.threads},
	}
	if p.Timing.Rate, err = timeline.ParseRate(o.fps); err != nil {
		return err
	}
	if o.to != "" {
		if p.Timing.To, err = timeline.ParseTime(o.to); err != nil {
			return err
		}
	}
	if o.device != "" {
		if p.Compute.Devices, err = values.Devices(o.device); err != nil {
			return err
		}
	}
	if p.Synthesis.FlowCache == "" {
		if p.Synthesis.FlowCache, err = os.MkdirTemp("", "retime-flow-*"); err != nil {
			return fault.New(fault.CannotWrite, "%w", err)
		}
		defer os.RemoveAll(p.Synthesis.FlowCache)
	}
	s, err := stages.Measure(ctx, p, o.watch)
	if err != nil {
		return err
	}
	printStages(stdout, s)
	return nil
}

// watch starts the profiles that the flags ask for; stop ends them.
func (o *StagesOptions) watch() (stop func() error, err error) {
	var stops []func() error
	stop = func() (err error) {
		for _, f := range stops {
			err = errors.Join(err, f())
		}
		return err
	}
	for _, w := range []struct {
		name  string
		start func(io.Writer) error
		stop  func()
	}{{o.cpuProfile, pprof.StartCPUProfile, pprof.StopCPUProfile}, {o.trace, trace.Start, trace.Stop}} {
		if w.name == "" {
			continue
		}
		file, err := os.Create(w.name)
		if err == nil {
			if err = w.start(file); err != nil {
				file.Close()
			}
		}
		if err != nil {
			return nil, errors.Join(fault.New(fault.CannotWrite, "profiling: %w", err), stop())
		}
		stops = append(stops, func() error {
			w.stop()
			return file.Close()
		})
	}
	return stop, nil
}

func printStages(w io.Writer, s *stages.Report) {
	fmt.Fprintf(w, "%d frames, %d of them made, %s; the flow takes %.2f s to estimate, over all workers\n",
		s.Frames, s.Made, where(s), s.Flow.Seconds())
	fmt.Fprintf(w, "%-12s %10s %10s\n", "alone", "seconds", "frames/s")
	row := func(name string, d time.Duration) {
		fmt.Fprintf(w, "%-12s %10.3f %10.0f\n", name, d.Seconds(), float64(s.Frames)/d.Seconds())
	}
	for _, t := range s.Alone {
		row(t.Name, t.Elapsed)
	}
	row("together", s.Whole)
	slowest := s.Slowest()
	fmt.Fprintf(w, "together: %.0f %% of the slowest alone, %s\n", 100*slowest.Elapsed.Seconds()/s.Whole.Seconds(), slowest.Name)
}

// where names the backend that made the frames.
func where(s *stages.Report) string {
	if s.Backend == pipeline.CUDA {
		return "on " + strings.Join(s.Devices, " and ")
	}
	return "on the CPU"
}
