package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"retime/pipeline/fault"
)

// atWork starts cmd, a long conversion, and returns once it is at work. said returns what it has
// printed since then, once it has ended.
func atWork(t *testing.T, cmd *exec.Cmd) (said func() string) {
	t.Helper()
	progress, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	if _, err := progress.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(&text, progress)
		close(ended)
	}()
	return func() string { <-ended; return text.String() }
}

// ends waits for cmd and returns its exit code.
func ends(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	watchdog := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait()
	if !watchdog.Stop() {
		t.Fatal("it did not end")
	}
	return cmd.ProcessState.ExitCode()
}

// A closing terminal hangs up more than once. The conversion ends cleanly all the same.
func TestHangup(t *testing.T) {
	// The program must not inherit that hangups are ignored, if this test runs under nohup.
	handled := make(chan os.Signal, 1)
	signal.Notify(handled, syscall.SIGHUP)
	defer signal.Stop(handled)
	in := clip(t, 320, 180, 48)
	for _, signals := range [][]os.Signal{{syscall.SIGTERM}, {syscall.SIGHUP}, {syscall.SIGHUP, syscall.SIGHUP, syscall.SIGHUP}} {
		dir := t.TempDir()
		cmd := program(in, "-o", filepath.Join(dir, "out.nut"), "--fps", "1000", "--progress", "json")
		atWork(t, cmd)
		for _, s := range signals {
			_ = cmd.Process.Signal(s) // the program may have ended
		}
		if code := ends(t, cmd); code != int(fault.Cancelled) {
			t.Errorf("%v: exit code %d", signals, code)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%v: left behind %v, %v", signals, left, err)
		}
	}
}

// What the caller ignores, as nohup and a shell's background do, stays ignored.
func TestIgnoredSignals(t *testing.T) {
	cmd := program(clip(t, 320, 180, 48), "-o", filepath.Join(t.TempDir(), "out.nut"), "--fps", "1000", "--progress", "json")
	cmd.Path, cmd.Args = "/bin/sh", append([]string{"sh", "-c", `trap "" HUP INT; exec "$0" "$@"`}, cmd.Args...)
	atWork(t, cmd)
	status, err := os.Open(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	defer status.Close()
	var ignored uint64
	for lines := bufio.NewScanner(status); lines.Scan(); {
		if mask, ok := strings.CutPrefix(lines.Text(), "SigIgn:"); ok {
			if ignored, err = strconv.ParseUint(strings.TrimSpace(mask), 16, 64); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT} {
		if ignored>>(s-1)&1 == 0 {
			t.Errorf("%v is not ignored", s)
		}
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	if code := ends(t, cmd); code != int(fault.Cancelled) {
		t.Errorf("exit code %d", code)
	}
}

// An output to a standard output that is closed is an error. One to /dev/null is not.
func TestClosedStandardOutput(t *testing.T) {
	in := clip(t, 64, 48, 6)
	for to, want := range map[string]int{">&-": int(fault.CannotWrite), "1<>/dev/null": 0, ">/dev/null": 0} {
		cmd := program(in, "-o", "-", "--mode", "nearest")
		cmd.Path, cmd.Args = "/bin/sh", append([]string{"sh", "-c", `exec "$0" "$@" ` + to}, cmd.Args...)
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != want {
			t.Errorf("%s: exit code %d, want %d: %s", to, code, want, out)
		}
	}
}

// Input that holds nothing ends with one and the same code, whatever it is.
func TestEmptyInput(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	for _, verb := range [][]string{{"-o", filepath.Join(out, "out.nut")}, {"restore", "--frames", "1", "-o", filepath.Join(out, "out.nut")}, {"debug", "--at", "0", "-o", filepath.Join(out, "why")}} {
		for _, input := range []string{"/dev/null", empty, "-"} {
			if _, stderr, code := run(t, append(verb, input)...); code != int(fault.BadData) {
				t.Errorf("%s %s: exit code %d, %s", verb[0], input, code, stderr)
			}
		}
	}
}

// Nobody reads standard error any more, or it was never open.
func TestClosedStandardError(t *testing.T) {
	in := clip(t, 64, 48, 6)
	for _, how := range []string{"unread", "closed"} {
		out := filepath.Join(t.TempDir(), "out.nut")
		cmd := program(in, "-o", out, "--fps", "48", "--mode", "blend", "--progress", "json", "-v")
		if how == "unread" {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			r.Close()
			defer w.Close()
			cmd.Stderr = w
		} else {
			cmd.Path, cmd.Args = "/bin/sh", append([]string{"sh", "-c", `exec "$0" "$@" 2>&-`}, cmd.Args...)
		}
		if err := cmd.Run(); err != nil {
			t.Errorf("%s: %v", how, err)
		}
		if _, err := os.Stat(out); err != nil {
			t.Errorf("%s: %v", how, err)
		}
	}
}
