// Command retime converts video to another frame rate, slows it down and synthesizes
// the frames that were never shot.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"retime/pipeline/fault"
)

func main() {
	ctx, cancel := signalContext()
	cmd, err := newRootCommand().ExecuteContextC(ctx)
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "retime:", inFlags(err.Error(), cmd.Flags()))
		os.Exit(exitCode(err))
	}
}

// exitCode returns the exit code for err, as --help lists it.
func exitCode(err error) int {
	if errors.Is(err, context.Canceled) {
		return int(fault.Cancelled)
	}
	return int(fault.KindOf(err))
}

// signalContext returns a context that the first interrupt cancels. The second
// interrupt ends the program at once.
func signalContext() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		cancel()
		<-signals
		os.Exit(int(fault.Cancelled))
	}()
	return ctx, cancel
}
