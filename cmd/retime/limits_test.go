package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"

	"retime/pipeline/fault"
)

// Under limits that are too narrow, from the start or in the midst of work, the program says so in one line.
func TestNarrowLimits(t *testing.T) {
	small, large := clip(t, 64, 48, 6), clip(t, 3840, 2160, 3)
	type trial struct{ limit, in string }
	var trials []trial
	for n := 4; n < 40; n += 5 {
		trials = append(trials, trial{fmt.Sprint("-n ", n), small})
	}
	if !raced() { // the race detector takes terabytes of addresses
		need := 2<<20 + runtime.NumCPU()<<17 // KiB
		for _, v := range []int{need / 3, need / 2, need, need * 2} {
			trials = append(trials, trial{fmt.Sprint("-v ", v), small})
		}
		for k := 17; k <= 24; k++ { // the range in which work begins and does not end is narrow, and lies elsewhere for each build
			trials = append(trials, trial{fmt.Sprint("-v ", need*k/16), large})
		}
	}
	out := filepath.Join(t.TempDir(), "out.mkv")
	midway := 0
	for _, c := range trials {
		cmd := limited(c.limit, c.in, "-o", out, "--fps", "60", "-y", "-q", "--no-warn", "--preset", "fast", "--vopt", "preset=ultrafast")
		said, _ := cmd.CombinedOutput()
		code, lines := cmd.ProcessState.ExitCode(), strings.Count(string(said), "\n")
		if code == int(fault.TryAgain) && c.in == large && !strings.Contains(string(said), "too little memory (") {
			midway++
		}
		if code == 0 && c.in == large && midway > 0 {
			break // wider limits are wide enough
		}
		if code == int(fault.TryAgain) && lines == 1 || code == 0 && lines == 0 {
			continue
		}
		t.Errorf("ulimit %s: exit code %d, %d lines: %.300s", c.limit, code, lines, said)
	}
	if !raced() && midway == 0 {
		t.Error("memory ran out in the midst of no work")
	}
}

// limited returns a command that runs the program under a limit of the shell's ulimit.
func limited(limit string, args ...string) *exec.Cmd {
	p := program(args...)
	cmd := exec.Command("/bin/sh", append([]string{"-c", "ulimit " + limit + `; exec "$@"`, "sh"}, p.Args...)...)
	cmd.Env = p.Env
	return cmd
}

// Under a limit of memory, which a parent watches, the program prints, ends by signals and cleans up as ever.
func TestLimitedIsInterrupted(t *testing.T) {
	if raced() {
		t.Skip("the race detector takes terabytes of addresses")
	}
	dir := t.TempDir()
	in := clip(t, 320, 180, 30)
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		cmd := limited("-v 16000000", in, "-o", filepath.Join(dir, "out.mkv"), "--slow", "200", "--progress", "json")
		errs, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(errs)
		if !lines.Scan() { // the first progress
			t.Fatal("no progress")
		}
		if err := cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		last := ""
		for lines.Scan() {
			last = lines.Text()
		}
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != int(fault.Cancelled) || !strings.Contains(last, "cancelled") {
			t.Errorf("%v: exit code %d, last line %q", s, code, last)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%v: %v stays", s, left)
		}
	}
}

// raced reports whether the race detector is built in.
func raced() bool {
	info, _ := debug.ReadBuildInfo()
	for _, s := range info.Settings {
		if s.Key == "-race" && s.Value == "true" {
			return true
		}
	}
	return false
}
