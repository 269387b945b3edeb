package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"retime/cuda"
	cudabench "retime/cuda/bench"
	"retime/pipeline/fault"
)

// BenchCUDAOptions are the flags of bench cuda, as given.
type BenchCUDAOptions struct {
	device, repeat int
	studies        map[string]*bool
}

// AddFlags declares the flags, one for each study.
func (o *BenchCUDAOptions) AddFlags(f *pflag.FlagSet) {
	f.SortFlags = false
	o.studies = map[string]*bool{}
	for _, s := range cudabench.Studies {
		o.studies[s.Name] = f.Bool(s.Name, false, s.About)
	}
	f.IntVar(&o.device, "device", 0, "`NUMBER` of the device, from 0")
	f.IntVar(&o.repeat, "repeat", 20, "measure `N` times and take the median")
}

func newBenchCUDACommand() *cobra.Command {
	var o BenchCUDAOptions
	cmd := &cobra.Command{
		Use:   "cuda",
		Short: "Measure the kernels on an NVIDIA GPU",
		Long: `bench cuda times the kernels with the device's own clock. Each figure stands
beside its throughput and the ratio of that to the bandwidth of a copy, which is
measured first. Without a choice of studies it runs all of them.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fault.New(fault.Usage, "%q: bench cuda takes no arguments", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runBenchCUDA(cmd.Context(), o, cmd.OutOrStdout())
		},
	}
	o.AddFlags(cmd.Flags())
	return cmd
}

func runBenchCUDA(ctx context.Context, o BenchCUDAOptions, stdout io.Writer) error {
	if o.repeat < 1 {
		return fault.New(fault.Usage, "--repeat %d: want 1 or more", o.repeat)
	}
	if err := replaceByCUDA(); err != nil {
		return fault.New(fault.TryAgain, "%w", err)
	}
	var chosen []cudabench.Study
	for _, s := range cudabench.Studies {
		if *o.studies[s.Name] {
			chosen = append(chosen, s)
		}
	}
	if len(chosen) == 0 {
		chosen = cudabench.Studies
	}
	d, err := cuda.Open(o.device)
	if err != nil {
		return fault.New(fault.TryAgain, "%w", err)
	}
	defer d.Close()
	return cudabench.Run(ctx, d, stdout, o.repeat, chosen)
}
