// Command retime converts video to another frame rate, slows it down and makes
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

// exitCode maps err to the codes that --help lists.
func exitCode(err error) int {
	if errors.Is(err, context.Canceled) {
		return int(fault.Cancelled)
	}
	return int(fault.KindOf(err))
}

// signalContext is cancelled by the first interrupt; the second one ends the
// program at once.
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
