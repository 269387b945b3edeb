package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"retime/cmd/internal/settings"
	"retime/pipeline/fault"
	"retime/testdata/posix"
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
	in, out, pipe := clip(t, 32, 32, 3), filepath.Join(dir, "out.nut"), filepath.Join(dir, "pipe")
	if err := posix.Mkfifo(t, pipe, 0o666); err != nil {
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
			{"evaluate", in, "--report", dir + "/report", "--lpips", name},
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

// What a job file says is refused with the line, or makes conversions that name input and
// output.
func FuzzJobFile(f *testing.F) {
	for _, s := range []string{
		"defaults: {slow: 4, output: 'slow/{name}.mp4'}\nclips:\n- input: a.mp4\n- {input: b, preset: best, map: [0:v, 0:a]}\n",
		"clips: [{input: ../../a, output: /etc/passwd, vopt: [x264-params=stats=x], curve: /dev/zero}]",
		"clips: [{input: a, output: b, fps: 1/0, from: 99:99, crf: 1e9, device: '0,0', static-mask: /}]",
	} {
		f.Add([]byte(s))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := settings.ParseJobs(data)
		if err != nil {
			return
		}
		for _, e := range entries[:min(len(entries), 4)] {
			c, job, err := clipOf(e, dir, dir)
			switch {
			case err != nil && !strings.HasPrefix(err.Error(), "line "):
				t.Errorf("no line: %v", err)
			case err == nil && (job.Output == "" || c.input == ""):
				t.Errorf("a job without files: %+v", job)
			}
		}
	})
}

// Times of scenes are times, or are refused by the line.
func FuzzScenes(f *testing.F) {
	f.Add([]byte("1.5\n# two\n00:01:02.5 # three\n\n9"))
	f.Add([]byte("1e999999999\n"))
	name := filepath.Join(f.TempDir(), "scenes")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(name, data, 0o666); err != nil {
			t.Fatal(err)
		}
		times, err := readScenes(name)
		if err != nil && fault.KindOf(err) != fault.BadData {
			t.Errorf("%v is of kind %d", err, fault.KindOf(err))
		}
		for _, at := range times {
			if at == nil || at.Sign() < 0 {
				t.Errorf("time %v", at)
			}
		}
	})
}
