package main

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"retime/cmd/retime-bench/internal/gpu"
	"retime/cuda"
	"retime/pipeline/fault"
)

// CUDAOptions holds the flags of cuda.
type CUDAOptions struct {
	device, repeat int
	studies        map[string]*bool
}

// AddFlags declares the flags of cuda, one for each study.
func (o *CUDAOptions) AddFlags(f *pflag.FlagSet) {
	f.SortFlags = false
	o.studies = map[string]*bool{}
	for _, s := range gpu.Studies {
		o.studies[s.Name] = f.Bool(s.Name, false, s.About)
	}
	f.IntVar(&o.device, "device", 0, "`NUMBER` of the device, from 0")
	f.IntVar(&o.repeat, "repeat", 20, "measure `N` times and take the median")
}

func newCUDACommand() *cobra.Command {
	return newStudy("cuda", "Measure the kernels on an NVIDIA GPU", `cuda times the kernels with the device's own clock. Each figure stands
beside its throughput and the ratio of that to the bandwidth of a copy, which is
measured first. Without a choice of studies it runs all of them.`, runCUDA)
}

func runCUDA(ctx context.Context, o CUDAOptions, stdout io.Writer) error {
	if o.repeat < 1 {
		return fault.New(fault.Usage, "--repeat %d: want 1 or more", o.repeat)
	}
	var chosen []gpu.Study
	for _, s := range gpu.Studies {
		if *o.studies[s.Name] {
			chosen = append(chosen, s)
		}
	}
	if len(chosen) == 0 {
		chosen = gpu.Studies
	}
	d, err := gpu.Open(o.device)
	if errors.Is(err, cuda.ErrNotBuilt) {
		return fault.New(fault.TryAgain, "%w; make bench-cuda builds bin/retime-bench-cuda and runs it", err)
	}
	if err != nil {
		return fault.New(fault.TryAgain, "%w", err)
	}
	defer d.Close()
	return gpu.Run(ctx, d, stdout, o.repeat, chosen)
}
