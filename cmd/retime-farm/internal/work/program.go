package work

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"retime/cmd/retime-farm/internal/job"
)

// giveUp holds the exit codes of retime after which another attempt is useless: usage, bad data, no
// input, and an output that fails its check.
var giveUp = []int{2, 65, 66, 76}

// tryAgain holds the codes after which to retry without limit: no room to write, a shortage, and a
// signal.
var tryAgain = []int{73, 75, 130}

// attempts bounds how often the farm tries what fails in any other way, for example if something
// kills the program.
const attempts = 20

// The types of the errors that report how retime ended. The details of the first hold the exit
// code.
const (
	errGaveUp  = "retime gave up"
	errAgain   = "retime may do it next time"
	errStalled = "retime finished no frame"
	errStopped = "the worker stopped"
)

// program is a run of retime.
type program struct {
	args  []string
	dir   string        // working directory; empty for the worker's
	stall time.Duration // a program that finishes no frame for this long is dead; 0 for no limit
	final []int         // further exit codes after which to give up
	// made returns the number of ranges that the program has made, and whether they are enough, so
	// that it must stop; nil for a program that makes none.
	made func() (ranges int, enough bool)
}

// beat is the interval between heartbeats, whose answers bring cancellations to a worker.
const beat = time.Second

// ending is how long a cancelled program may clean up before it is killed.
const ending = 2 * time.Second

var (
	errStall  = errors.New("stalled")
	errStop   = errors.New("stopped")
	errEnough = errors.New("enough")
)

// run runs retime to its end, and heartbeats while it is alive; if p.stall is set, that means while
// it finishes frames. It returns retime's messages. The error is errEnough if p.made ended the run.
func (w *Worker) run(ctx context.Context, p program) (log string, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	cmd := exec.CommandContext(ctx, w.Retime, p.args...)
	cmd.Dir, cmd.WaitDelay, cmd.Cancel = p.dir, ending, func() error { return Terminate(cmd) }
	DieWithParent(cmd)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", fmt.Errorf("%s: %w", w.Retime, err)
	}
	frames, ended := make(chan job.Progress), make(chan error, 1)
	go func() {
		log = read(ctx, stderr, frames)
		ended <- cmd.Wait()
	}()
	err = p.watch(ctx, frames, cancel, ended)
	return log, w.judge(ctx, p, log, err)
}

// watch heartbeats until the program ends, and returns its error.
func (p *program) watch(ctx context.Context, frames <-chan job.Progress, cancel context.CancelCauseFunc, ended <-chan error) error {
	tick := time.NewTicker(beat)
	defer tick.Stop()
	stopping := activity.GetWorkerStopChannel(ctx)
	var at job.Progress
	alive := time.Now()
	for {
		select {
		case at = <-frames:
			alive = time.Now()
			if p.made == nil {
				continue
			}
			enough := false
			if at.Ranges, enough = p.made(); enough {
				cancel(errEnough)
			}
		case <-tick.C:
			if p.stall > 0 && time.Since(alive) > p.stall {
				cancel(errStall) // without a heartbeat the server gives up even if the program does not end
			} else {
				activity.RecordHeartbeat(ctx, at)
			}
		case <-stopping:
			cancel(errStop)
			stopping = nil
		case err := <-ended:
			return err
		}
	}
}

// maxLog bounds how many bytes of a program's messages are kept. They are sent to the server.
const maxLog = 2000

// read parses the progress lines in r, sends them to frames, and returns the last of the other
// lines.
func read(ctx context.Context, r io.Reader, frames chan<- job.Progress) string {
	var rest []byte
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		var p job.Progress
		if len(line) > 0 && line[0] == '{' && json.Unmarshal(line, &p) == nil {
			select {
			case frames <- p:
			case <-ctx.Done():
			}
		} else if rest = append(rest, line...); len(rest) > maxLog {
			rest = rest[len(rest)-maxLog:]
		}
		if err != nil {
			return strings.ToValidUTF8(strings.TrimSpace(string(rest)), "?")
		}
	}
}

// judge returns the error for the end of a program. Temporal retries unless the error says that
// this is useless.
func (w *Worker) judge(ctx context.Context, p program, log string, err error) error {
	if err == nil {
		return nil
	}
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errStall):
		return temporal.NewApplicationError(fmt.Sprintf("%s: no frame was finished within %v", p, p.stall), errStalled)
	case errors.Is(cause, errEnough):
		return errEnough
	case errors.Is(cause, errStop):
		return temporal.NewApplicationError(w.Name+" stopped", errStopped)
	case ctx.Err() != nil:
		return ctx.Err()
	}
	code := -1
	if ended := (*exec.ExitError)(nil); errors.As(err, &ended) {
		code = ended.ExitCode()
	}
	message := fmt.Sprintf("%s on %s: %v", p, w.Name, err)
	if last := log[strings.LastIndexByte(log, '\n')+1:]; last != "" {
		message = fmt.Sprintf("%s on %s: exit code %d: %s", p, w.Name, code, strings.TrimPrefix(last, "retime: "))
	}
	often := activity.GetInfo(ctx).Attempt >= attempts
	if slices.Contains(giveUp, code) || slices.Contains(p.final, code) || often && !slices.Contains(tryAgain, code) {
		return temporal.NewNonRetryableApplicationError(message, errGaveUp, nil, max(code, 1))
	}
	return temporal.NewApplicationError(message, errAgain, code)
}

// String names the program in messages.
func (p program) String() string { return "retime " + p.args[0] }

// Version returns the version of the program called retime.
func Version(ctx context.Context, retime string) (string, error) {
	out, err := exec.CommandContext(ctx, retime, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("%s --version: %w", retime, err)
	}
	v, ok := strings.CutPrefix(strings.TrimSpace(string(out)), "retime version ")
	if !ok {
		return "", fmt.Errorf("%s --version: %.80q is not a version of retime", retime, out)
	}
	return v, nil
}

// Find returns the path of a program next to this one or in PATH.
func Find(self, name string) (string, error) {
	beside := filepath.Join(filepath.Dir(self), name)
	if _, err := exec.LookPath(beside); err == nil {
		return beside, nil
	}
	return exec.LookPath(name)
}
