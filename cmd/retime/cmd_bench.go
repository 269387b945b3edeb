package main

import (
	"context"

	"github.com/spf13/cobra"

	"retime/pipeline/fault"
)

func newBenchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure parts of retime on this machine",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fault.New(fault.Usage, "nothing called %q to measure; see retime bench --help", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newBenchBsplineCommand(), newBenchCUDACommand())
	return cmd
}

// await returns what f does, or ctx's error as soon as that is done: f then goes
// on, for as long as the program does.
func await[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		v, err := f()
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
