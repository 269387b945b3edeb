package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"retime/pipeline/fault"
)

// Under limits that are too narrow, the program says so in one line.
func TestNarrowLimits(t *testing.T) {
	in, out := clip(t, 64, 48, 6), filepath.Join(t.TempDir(), "out.mkv")
	limits := []string{}
	for n := 4; n < 40; n += 5 {
		limits = append(limits, fmt.Sprint("-n ", n))
	}
	if !raced() { // the race detector takes terabytes of addresses
		need := 2<<20 + runtime.NumCPU()<<17 // KiB
		for _, v := range []int{need / 3, need / 2, need, need * 2} {
			limits = append(limits, fmt.Sprint("-v ", v))
		}
	}
	for _, limit := range limits {
		args := program(in, "-o", out, "--fps", "60", "-y", "-q", "--no-warn").Args
		cmd := exec.Command("/bin/sh", append([]string{"-c", "ulimit " + limit + `; exec "$@"`, "sh"}, args...)...)
		cmd.Env = program().Env
		said, _ := cmd.CombinedOutput()
		code, lines := cmd.ProcessState.ExitCode(), strings.Count(string(said), "\n")
		if code == int(fault.TryAgain) && lines == 1 || code == 0 && lines == 0 {
			continue
		}
		t.Errorf("ulimit %s: exit code %d, %d lines: %.300s", limit, code, lines, said)
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
