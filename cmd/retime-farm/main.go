// Command retime-farm converts clips on many machines. Workers run the program retime; a Temporal
// server hands out the work and remembers what is done.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := newRootCommand().ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "retime-farm:", err)
		os.Exit(exitCode(err))
	}
}

// exit is an error that ends the program with an exit code.
type exit struct {
	code int
	error
}

func (e *exit) Unwrap() error { return e.error }

// exitCode returns the exit code for err, one of retime's.
func exitCode(err error) int {
	var e *exit
	switch {
	case errors.As(err, &e):
		return e.code
	case errors.Is(err, context.Canceled):
		return 130
	}
	return 1
}

func newRootCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "retime-farm",
		Short: "Convert clips with retime on many machines",
		Long: `retime-farm converts clips on many machines. Workers run the program retime, and a
Temporal server hands out the work. Media stays on storage that all machines see
under the same path: docs/farm.md.`,
		Example: `  retime-farm dev
  retime-farm submit in.mp4 -o out.mp4 --fps 60`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &exit{2, err} })
	cmd.CompletionOptions.DisableDefaultCmd = true
	cobra.EnableCommandSorting = false
	cmd.AddCommand(newDevCommand(), newWorkerCommand(), newSubmitCommand(), newBatchCommand(),
		newStatusCommand(), newLogsCommand(), newCancelCommand(), newSlurmCommand(), newKubernetesCommand())
	return cmd
}

// args returns a check for n arguments, which want describes.
func args(n int, want string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return &exit{2, fmt.Errorf("want %s; see %s --help", want, cmd.CommandPath())}
		}
		return nil
	}
}
