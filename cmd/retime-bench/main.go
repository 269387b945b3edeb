// Command retime-bench measures parts of retime on this machine, and makes the tables and pictures
// of docs. No package imports it, and retime does not need it.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"retime/pipeline/fault"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	err := newRootCommand().ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "retime-bench:", err)
		os.Exit(fault.ExitCode(err))
	}
}

func newRootCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:           "retime-bench",
		Short:         "Measure parts of retime on this machine",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fault.New(fault.Usage, "nothing called %q to measure; see retime-bench --help", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fault.New(fault.Usage, "%w; see %s --help", err, cmd.CommandPath())
	})
	cmd.CompletionOptions.DisableDefaultCmd = true
	cmd.AddCommand(newBsplineCommand(), newBoxsplineCommand(), newStagesCommand(), newCUDACommand(), newRestoreCommand(), newRatingsCommand())
	return cmd
}

// newStudy returns a command without arguments that runs a study with its options.
func newStudy[O any, P interface {
	*O
	AddFlags(f *pflag.FlagSet)
}](name, short, long string, run func(context.Context, O, io.Writer) error) *cobra.Command {
	var o O
	cmd := &cobra.Command{
		Use: name, Short: short, Long: long, Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), o, cmd.OutOrStdout()) },
	}
	P(&o).AddFlags(cmd.Flags())
	return cmd
}

// noArguments returns an error if there are arguments.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fault.New(fault.Usage, "%q: %s takes no arguments", args[0], cmd.CommandPath())
	}
	return nil
}

// await returns the result of f, or ctx's error as soon as ctx is done. f then keeps running until
// the program ends.
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
