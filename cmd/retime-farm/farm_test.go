package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Three workers produce what one machine produces: every frame, every packet, sound and subtitles.
func TestFarmMakesWhatOneMachineMakes(t *testing.T) {
	f := newFarm(t, retimeProgram(t))
	for range 3 {
		f.worker(nil)
	}
	f.copyFile("../../testdata/demo.mp4", "demo.mp4")
	f.clip("minute.mkv", 60)
	for input, flags := range map[string][]string{
		"minute.mkv": conversion,
		"demo.mp4":   {"--slow", "2", "--to", "1", "--preset", "fast", "--vcodec", "ffv1", "--segment-seconds", "0.5"},
	} {
		if out, code := f.run(nil, f.submit(append([]string{input, "-o", "out.mkv"}, flags...)...)...); code != 0 {
			t.Fatalf("%s: exit code %d: %s", input, code, out)
		}
		f.left("demo.mp4", "minute.mkv", "out.mkv")
		got := f.contents("out.mkv")
		if err := os.Remove(filepath.Join(f.dir, "out.mkv")); err != nil {
			t.Fatal(err)
		}
		if want := f.oneMachine(input, flags...); got != want {
			t.Errorf("%s: the farm made something else than one machine:\n%.2000s\nwant\n%.2000s", input, got, want)
		}
	}
}

// A single worker gives back the rest of its first share when the time is up, and that loses
// nothing.
func TestSingleWorker(t *testing.T) {
	f := newFarm(t, retimeProgram(t))
	f.worker(nil)
	f.clip("in.mkv", 30)
	p := f.start(nil, f.program, f.submit(append([]string{"in.mkv", "-o", "out.mkv", "--share", "100ms"}, conversion...)...)...)
	if code := f.end(p); code != 0 {
		t.Fatalf("exit code %d: %s", code, p.output)
	}
	f.left("in.mkv", "out.mkv")
	if line, code := f.run(nil, "logs", jobOf(p)); code != 0 || !strings.Contains(line, ", segments 0 to ") {
		t.Errorf("exit code %d: %s", code, line)
	} else {
		t.Log(line)
	}
	got := f.contents("out.mkv")
	if err := os.Remove(filepath.Join(f.dir, "out.mkv")); err != nil {
		t.Fatal(err)
	}
	if got != f.oneMachine("in.mkv", conversion...) {
		t.Error("the farm made something else than one machine")
	}
}

// Submitting twice gives one job; finished work is not repeated.
func TestAskingTwice(t *testing.T) {
	f := newFarm(t, stub(t))
	calls := filepath.Join(t.TempDir(), "calls")
	environment := []string{"STUB_RANGES=30", "STUB_SECONDS=0", "STUB_CALLS=" + calls}
	f.worker(environment, "--slots", "2")
	request := f.submit("in.mkv", "-o", "out.mkv", "--share", "0s")
	first, second := f.start(nil, f.program, request...), f.start(nil, f.program, request...)
	for _, p := range []*process{first, second, f.start(nil, f.program, request...)} {
		if code := f.end(p); code != 0 {
			t.Fatalf("exit code %d: %s", code, p.output)
		}
	}
	if jobOf(first) != jobOf(second) {
		t.Errorf("%s and %s are one request", jobOf(first), jobOf(second))
	}
	said, err := os.ReadFile(calls)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(said), "\nsegment "); n != 30 {
		t.Errorf("%d segments were made, want 30", n)
	}
	f.left("out.mkv")
}

// A worker with another version of retime gets no work.
func TestWorkerOfAnotherVersion(t *testing.T) {
	f := newFarm(t, stub(t))
	calls := filepath.Join(t.TempDir(), "calls")
	f.worker([]string{"STUB_VERSION=old", "STUB_RANGES=5", "STUB_SECONDS=0", "STUB_CALLS=" + calls})
	p := f.start(nil, f.program, f.submit("in.mkv", "-o", "out.mkv")...)
	f.until("submit says that the job waits", func() bool { return strings.Contains(p.output.String(), "the job waits") })
	f.worker([]string{"STUB_RANGES=5", "STUB_SECONDS=0"})
	if code := f.end(p); code != 0 {
		t.Fatalf("exit code %d: %s", code, p.output)
	}
	if said, err := os.ReadFile(calls); err != nil || string(said) != "--version\n" {
		t.Errorf("the worker of another version ran %q, %v", said, err)
	}
}

// A program that finishes no frame is stopped, and its share is made again.
func TestHungProgram(t *testing.T) {
	f := newFarm(t, stub(t))
	hung := filepath.Join(t.TempDir(), "hung")
	f.worker([]string{"STUB_RANGES=3", "STUB_SECONDS=0", "STUB_HANG=" + hung})
	if out, code := f.run(nil, f.submit("in.mkv", "-o", "out.mkv", "--stall", "5s")...); code != 0 {
		t.Fatalf("exit code %d: %s", code, out)
	}
	if _, err := os.Stat(hung); err != nil {
		t.Error("no program hung")
	}
	f.left("out.mkv")
}

// A clip that cannot be decoded to its end fails with retime's exit code and leaves no files.
func TestDamagedClip(t *testing.T) {
	f := newFarm(t, retimeProgram(t))
	f.worker(nil)
	f.ffmpeg("-f", "lavfi", "-t", "4", "-i", "testsrc2=size=96x64:rate=10", "-c:v", "ffv1", "-g", "1", "whole.mkv")
	data, err := os.ReadFile(filepath.Join(f.dir, "whole.mkv"))
	if err != nil {
		t.Fatal(err)
	}
	for name, bytes := range map[string][]byte{"cut.mkv": data[:len(data)*2/3], "empty.mkv": data[:50]} {
		if err := os.WriteFile(filepath.Join(f.dir, name), bytes, 0o666); err != nil {
			t.Fatal(err)
		}
		out, code := f.run(nil, f.submit(append([]string{name, "-o", "out.mkv"}, conversion...)...)...)
		if code != 65 {
			t.Errorf("%s: exit code %d: %s", name, code, out)
		}
		f.left("whole.mkv", "cut.mkv", "empty.mkv")
	}
}

// A cancelled job leaves no files. The test logs how long that took.
func TestCancel(t *testing.T) {
	f := newFarm(t, retimeProgram(t))
	f.worker(nil)
	f.worker(nil)
	f.copyFile("../../testdata/demo.mp4", "demo.mp4")
	p := f.start(nil, f.program, f.submit("demo.mp4", "-o", "out.mkv", "--fps", "1000", "--preset", "best")...)
	f.until("a segment is begun", func() bool {
		parts, _ := filepath.Glob(filepath.Join(f.dir, ".*", "plan.segments", ".*.part"))
		return len(parts) > 0
	})
	began := time.Now()
	if out, code := f.run(nil, "cancel", jobOf(p)); code != 0 {
		t.Fatalf("exit code %d: %s", code, out)
	}
	f.left("demo.mp4")
	t.Logf("it took %v", time.Since(began)) // no limit: that depends on the load
	if code := f.end(p); code != 130 {
		t.Errorf("submit: exit code %d: %s", code, p.output)
	}
}

// Workers touch nothing outside their root, whatever a request says.
func TestRoot(t *testing.T) {
	f := newFarm(t, retimeProgram(t))
	f.worker(nil)
	f.copyFile("../../testdata/demo.mp4", "demo.mp4")
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(f.dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(f.dir, "demo.mp4"), filepath.Join(outside, "demo.mp4")); err != nil {
		f.copyFile("../../testdata/demo.mp4", "link/demo.mp4")
	}
	for _, args := range [][]string{
		{"demo.mp4", "-o", outside + "/out.mkv"},
		{"demo.mp4", "-o", "../out.mkv"},
		{outside + "/demo.mp4", "-o", "out.mkv"},
		{"link/demo.mp4", "-o", "out.mkv"},
		{"demo.mp4", "-o", "link/out.mkv"},
		{"demo.mp4", "-o", "out.mkv", "--confine", "/"},
		{"demo.mp4", "-o", "out.mkv", "--scenes", "/etc/passwd"},
		{"demo.mp4", "-o", "out.mkv", "--flow", "command=touch touched"},
		{"demo.mp4", "-o", "out.mkv", "--vopt", "x264-params=stats=" + outside + "/stats"},
	} {
		if out, code := f.run(nil, f.submit(args...)...); code != 2 {
			t.Errorf("%q: exit code %d: %s", args, code, out)
		}
		f.left("demo.mp4", "link")
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) != 1 {
		t.Errorf("outside: %v, %v", left, err)
	}
}

// A batch does what it can, and running the same command again does the rest.
func TestBatchGoesOn(t *testing.T) {
	f := newFarm(t, retimeProgram(t))
	f.worker(nil)
	f.clip("a.mkv", 4)
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(f.dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("b.mkv", "no clip")
	write("jobs.yaml", `
defaults: {fps: 20, preset: fast, vcodec: ffv1, output: "{name}.out.mkv"}
clips:
  - input: a.mkv
  - input: b.mkv
  - {input: a.mkv, output: c.out.mkv, to: 2}
`)
	batch := []string{"batch", "jobs.yaml", "--retime", f.retime}
	out, code := f.run(nil, batch...)
	if code != 65 || strings.Count(out, "\ndone ") != 2 || strings.Count(out, "\nfailed ") != 1 {
		t.Fatalf("exit code %d: %s", code, out)
	}
	f.left("a.mkv", "b.mkv", "jobs.yaml", "a.out.mkv", "c.out.mkv")
	before, err := os.Stat(filepath.Join(f.dir, "a.out.mkv"))
	if err != nil {
		t.Fatal(err)
	}
	f.copyFile(filepath.Join(f.dir, "a.mkv"), "b.mkv")
	if out, code = f.run(nil, batch...); code != 0 || strings.Count(out, "done ") < 3 {
		t.Fatalf("exit code %d: %s", code, out)
	}
	after, err := os.Stat(filepath.Join(f.dir, "a.out.mkv"))
	if err != nil || !os.SameFile(before, after) || !before.ModTime().Equal(after.ModTime()) {
		t.Errorf("a clip that was done is made again, %v", err)
	}
	if got, want := f.contents("b.out.mkv"), f.contents("a.out.mkv"); got != want {
		t.Error("two conversions of one clip differ")
	}
	f.left("a.mkv", "b.mkv", "jobs.yaml", "a.out.mkv", "b.out.mkv", "c.out.mkv")
	if out, code := f.run(nil, batch[:2]...); code == 0 && !strings.Contains(out, "done") {
		t.Errorf("a third time: exit code %d: %s", code, out)
	}
}
