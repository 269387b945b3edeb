package main

import (
	"io"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"retime/pipeline/fault"
)

// inProcess runs the program without a process of its own, and returns its error.
func inProcess(t *testing.T, args ...string) error {
	t.Helper()
	cmd := newRootCommand()
	cmd.SetArgs(args)
	cmd.SetOut(io.Discard)
	cmd.SetErr(io.Discard)
	return cmd.ExecuteContext(t.Context())
}

// No file that a user names, beside the video itself, may be a pipe, a device or a
// directory: the program would wait for ever, or read for ever.
func TestOnlyFilesAreRead(t *testing.T) {
	dir := t.TempDir()
	in, out, pipe := clip(t, 16, 16, 2), filepath.Join(dir, "out.nut"), filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{pipe: "is a pipe", "/dev/zero": "is a device", dir: "is a directory"} {
		for _, args := range [][]string{
			{in, "-o", out, "--curve", name},
			{in, "-o", out, "--scenes", name},
			{in, "-o", out, "--decisions", name},
			{in, "-o", out, "--static-mask", name},
			{"restore", in, "-o", out, "--list", name},
			{"restore", in, "-o", out, "--mask", name + "@0"},
			{"evaluate", in, "--report", dir + "/report", "--settings", name},
			{"batch", name},
			{"segment", "--plan", name, "--index", "0"},
			{"join", "--plan", name, "-o", out},
			{"resample", name, "-o", dir + "/out.pgm", "--shift", "1,0"},
			{"resample", in, "-o", dir + "/out.pgm", "--flow", name},
		} {
			if args[0] == "batch" && name == dir {
				continue // a directory of clips
			}
			if err := inProcess(t, args...); fault.KindOf(err) != fault.NoInput || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v, want %q", args, err, want)
			}
		}
	}
}
