// Command retime converts video to another frame rate, slows it down and synthesizes
// the frames that were never shot.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	"retime/pipeline/atomicfile"
	"retime/pipeline/fault"
)

func main() {
	prepareStandardStreams()
	defer runtime.KeepAlive(saveMemory())
	ctx, cancel := signalContext()
	cmd, err := newRootCommand().ExecuteContextC(ctx)
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "retime:", said(err, cmd.Flags()))
		os.Exit(fault.ExitCode(err)) // as --help lists them
	}
}

// saveMemory sets GOGC to 25: almost all memory is pictures, which hold no pointers, so frequent
// collections are cheap. Where the pictures are a device's, the heap is small, and the ballast
// leaves 16 MiB between collections; it takes no memory as long as nobody writes to it.
func saveMemory() (ballast []byte) {
	if os.Getenv("GOGC") != "" {
		return nil
	}
	debug.SetGCPercent(25)
	return make([]byte, 64<<20)
}

// patience is how long the program may take to end by itself after a signal to end. FFmpeg does
// not return from a pipe or a device that gives no data, nor from headers that take it long.
const patience = 1500 * time.Millisecond

// signalContext returns a context that the first signal to end cancels. What has not come to its
// end after patience is abandoned. The second signal ends the program at once, unless it is a
// hangup, of which a closing terminal sends several.
func signalContext() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) { // as nohup ignores a hangup
			signal.Notify(signals, s)
		}
	}
	go func() {
		<-signals
		cancel()
		time.AfterFunc(patience, func() {
			atomicfile.Abandon()
			fmt.Fprintln(os.Stderr, "retime: cancelled; nothing more was written")
			os.Exit(int(fault.Cancelled))
		})
		for s := range signals {
			if s != syscall.SIGHUP {
				os.Exit(int(fault.Cancelled))
			}
		}
	}()
	return ctx, cancel
}
