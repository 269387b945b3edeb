package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"retime/pipeline/fault"
	"retime/testdata/posix"
	"retime/testdata/scene"
)

// TestMain runs the program itself if a test asks for it, so that exit codes and
// signals are the real ones.
func TestMain(m *testing.M) {
	if os.Getenv("RETIME_TEST_MAIN") != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func program(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "RETIME_TEST_MAIN=1")
	return cmd
}

func run(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := program(args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		if _, ok := err.(*exec.ExitError); !ok { //nolint:errorlint // Run returns it bare
			t.Fatal(err)
		}
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

func clip(t *testing.T, width, height, frames int) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "in.y4m")
	if err := scene.CreateY4M(name, width, height, frames, 24, 1); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestConvert(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.mp4")
	stdout, stderr, code := run(t, clip(t, 64, 48, 12), "-o", out, "--fps", "60", "--progress", "json", "--vopt", "preset=ultrafast")
	if code != 0 || !strings.Contains(stdout, "30 frames") || !strings.Contains(stdout, "64x48") {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	var last struct{ Frames, Total int }
	if err := json.Unmarshal([]byte(lines[len(lines)-2]), &last); err != nil || last.Frames != 30 || last.Total != 30 {
		t.Errorf("the last progress is %q", lines[len(lines)-2])
	}
	var ended outcome
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &ended); err != nil || ended.Output != out || ended.Frames != 30 || ended.Shot+ended.Made+ended.Held != 30 || ended.Exit != 0 {
		t.Errorf("the outcome is %q", lines[len(lines)-1])
	}
	if lines := strings.Split(stdout, "\n"); len(lines) != 4 || !strings.Contains(lines[1], " made") || strings.Contains(stdout, "CUDA") {
		t.Errorf("the summary is not of three lines:\n%s", stdout)
	}
	_, stderr, code = run(t, clip(t, 64, 48, 2), "-o", out)
	if code != int(fault.CannotWrite) || !strings.Contains(stderr, "-y") {
		t.Errorf("an existing output: exit code %d, %s", code, stderr)
	}
}

func TestExitCodes(t *testing.T) {
	in := clip(t, 64, 48, 3)
	out := filepath.Join(t.TempDir(), "out.nut")
	for _, c := range []struct {
		args []string
		code fault.Kind
	}{
		{[]string{}, fault.Usage},
		{[]string{in}, fault.Usage},
		{[]string{in, "-o", out, "--nonsense"}, fault.Usage},
		{[]string{in, in, "-o", out}, fault.Usage},
		{[]string{in, "-o", out, "--fps", "0"}, fault.Usage},
		{[]string{in, "-o", out, "--fps", "1e9"}, fault.Usage},
		{[]string{in, "-o", out, "--slow", "0"}, fault.Usage},
		{[]string{in, "-o", out, "--order", "12"}, fault.Usage},
		{[]string{"plan", in, "-o", out, "--segment-seconds", "0", "--dry-run"}, fault.Usage},
		{[]string{in, "-o", out, "--from", "soon"}, fault.Usage},
		{[]string{in, "-o", out, "--vopt", "novalue"}, fault.Usage},
		{[]string{in, "-o", out, "--aopt", "=x"}, fault.Usage},
		{[]string{in, "-o", out, "--progress", "magic"}, fault.Usage},
		{[]string{in, "-o", out, "--backend", "cuda"}, fault.TryAgain},
		{[]string{in, "-o", in, "-y"}, fault.Usage},
		{[]string{in, "-o", in, "-y", "--resume"}, fault.Usage},
		{[]string{"missing.mp4", "-o", out}, fault.NoInput},
		{[]string{"main_test.go", "-o", out}, fault.BadData},
		{[]string{in, "-o", "/nowhere/out.nut"}, fault.CannotWrite},
		{[]string{in, "-o", "/dev/full", "-f", "nut", "--vcodec", "rawvideo"}, fault.CannotWrite},
	} {
		_, stderr, code := run(t, c.args...)
		if code != int(c.code) || strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "retime: ") {
			t.Errorf("retime %s: exit code %d, want %d, and one line:\n%s", strings.Join(c.args, " "), code, c.code, stderr)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("an output was left behind")
	}
}

// Containers that state times in milliseconds take no more frames in a second.
func TestRatesInMilliseconds(t *testing.T) {
	in, dir := clip(t, 64, 48, 3), t.TempDir()
	for _, c := range []struct {
		name, rate string
		code       fault.Kind
	}{
		{"out.mkv", "1000", 0}, {"out.mkv", "1000.5", fault.Usage}, {"out.mkv", "100x", fault.Usage}, {"out.webm", "10000", fault.Usage},
		{"out.flv", "2000", fault.Usage}, {"out.wmv", "2000", fault.Usage}, {"out.mp4", "2000", 0}, {"out.nut", "2000", 0},
	} {
		_, stderr, code := run(t, in, "-o", filepath.Join(dir, c.name), "--fps", c.rate, "--mode", "nearest", "-y")
		if code != int(c.code) || code != 0 && !strings.Contains(stderr, "milliseconds") {
			t.Errorf("%s at %s: exit code %d, %s", c.name, c.rate, code, stderr)
		}
	}
	plan := filepath.Join(dir, "plan.json")
	if _, stderr, code := run(t, "plan", in, "-o", plan, "--fps", "2000"); code != int(fault.Usage) || !strings.Contains(stderr, "milliseconds") {
		t.Errorf("a plan: exit code %d, %s", code, stderr)
	}
}

func TestPipes(t *testing.T) {
	data, err := os.ReadFile(clip(t, 64, 48, 6))
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"yuv4mpegpipe", "nut", "matroska"} {
		args := []string{"-", "-o", "-", "--fps", "48", "-f", format}
		if format == "matroska" {
			args = append(args, "--vcodec", "ffv1")
		} else {
			args = append(args, "--vcodec", "rawvideo")
		}
		first := program(args...)
		first.Stdin = bytes.NewReader(data)
		var errs bytes.Buffer
		first.Stderr = &errs
		out, err := first.Output()
		if err != nil || len(out) == 0 {
			t.Fatalf("%s: %v\n%s", format, err, errs.String())
		}
		second := program("-", "-o", filepath.Join(t.TempDir(), "out.nut"), "--vcodec", "rawvideo", "--mode", "nearest")
		second.Stdin = bytes.NewReader(out)
		got, err := second.Output()
		if err != nil || !strings.Contains(string(got), "12 frames") {
			t.Errorf("%s: what was written reads as %q, %v", format, got, err)
		}
	}
}

// Whatever is wrong with what comes through a pipe, it is the input's fault.
func TestDamagedPipes(t *testing.T) {
	y4m := func(marks string, cut int) string {
		s := "YUV4MPEG2 W16 H16 F24:1 " + marks + "\n" + strings.Repeat("FRAME\n"+strings.Repeat("m", 16*16*3/2), 3)
		return s[:len(s)-cut]
	}
	for _, c := range []struct {
		data string
		code int
		says string
	}{
		{y4m("Ip", 0), 0, ""},
		{y4m("Ip", 1), 65, "truncated; the 2 frames before that"},
		{y4m("Ip", 16*16*3/2+1), 65, "truncated"},
		{y4m("Im", 0), 65, "not a media file"}, // FFmpeg's reader takes no frames of both kinds
		{"", 65, "not a media file"},
	} {
		cmd := program("-", "-o", filepath.Join(t.TempDir(), "out.nut"), "--mode", "nearest")
		cmd.Stdin = strings.NewReader(c.data)
		said, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != c.code || !strings.Contains(string(said), c.says) {
			t.Errorf("%.60q, %d bytes: exit code %d, %s", c.data, len(c.data), code, said)
		}
	}
}

func TestInterrupt(t *testing.T) {
	in := clip(t, 320, 180, 48)
	for _, signals := range []int{1, 2} {
		dir := t.TempDir()
		cmd := program(in, "-o", filepath.Join(dir, "out.nut"), "--fps", "1000", "--progress", "json")
		progress, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := progress.Read(make([]byte, 1)); err != nil { // the program is at work
			t.Fatal(err)
		}
		for range signals {
			if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
		}
		watchdog := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
		err = cmd.Wait()
		if !watchdog.Stop() {
			t.Fatal("it did not end")
		}
		if err == nil || cmd.ProcessState.ExitCode() != int(fault.Cancelled) {
			t.Errorf("%d signals: exit code %d, want %d", signals, cmd.ProcessState.ExitCode(), fault.Cancelled)
		}
		if entries, err := os.ReadDir(dir); signals == 1 && (err != nil || len(entries) > 0) {
			t.Errorf("left behind: %v, %v", entries, err)
		}
	}
}

// On a full file system the run ends with one line and leaves nothing.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := posix.Mount(t, dir); err != nil {
		t.Skipf("cannot mount a small file system here: %v", err)
	}
	_, stderr, code := run(t, clip(t, 160, 96, 24), "-o", filepath.Join(dir, "out.nut"), "--vcodec", "rawvideo", "--mode", "blend", "--fps", "48")
	if code != int(fault.CannotWrite) || !strings.Contains(stderr, "no space left") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestHelpAndVersion(t *testing.T) {
	stdout, _, code := run(t, "--help")
	if code != 0 || !strings.Contains(stdout, "Exit codes") || !strings.Contains(stdout, "--fps RATE") {
		t.Errorf("--help: exit code %d\n%s", code, stdout)
	}
	if stdout, _, code := run(t, "--version"); code != 0 || !strings.HasPrefix(stdout, "retime version "+release) {
		t.Errorf("--version: exit code %d\n%s", code, stdout)
	}
}

func TestSidecar(t *testing.T) {
	dir := t.TempDir()
	in, name := clip(t, 64, 48, 4), filepath.Join(dir, "out.jsonl")
	_, stderr, code := run(t, in, "-o", filepath.Join(dir, "out.nut"), "--fps", "48", "--sidecar", name)
	data, err := os.ReadFile(name)
	if code != 0 || err != nil {
		t.Fatalf("exit code %d, %v\n%s", code, err, stderr)
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	if len(lines) != 8 {
		t.Fatalf("%d lines of 8 frames", len(lines))
	}
	for k, line := range lines {
		var r struct {
			Frame  int
			Method string
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil || r.Frame != k || r.Method == "" {
			t.Errorf("line %d: %q, %v", k, line, err)
		}
	}
	// A run that fails leaves no sidecar.
	bad := filepath.Join(dir, "bad.jsonl")
	if _, _, code := run(t, "missing.mp4", "-o", filepath.Join(dir, "x.nut"), "--sidecar", bad); code != int(fault.NoInput) {
		t.Errorf("exit code %d", code)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// The flags for the fallback methods reach the conversion.
func TestLadderFlags(t *testing.T) {
	dir := t.TempDir()
	in, name, maps := clip(t, 64, 48, 4), filepath.Join(dir, "out.jsonl"), filepath.Join(dir, "maps")
	methods := func(args ...string) string {
		t.Helper()
		_, stderr, code := run(t, append([]string{in, "-o", filepath.Join(dir, "out.nut"), "-y", "--fps", "48", "--sidecar", name}, args...)...)
		data, err := os.ReadFile(name)
		if code != 0 || err != nil {
			t.Fatalf("%v: exit code %d, %v\n%s", args, code, err, stderr)
		}
		var list []string
		for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
			var r struct{ Method string }
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatal(err)
			}
			list = append(list, r.Method)
		}
		return strings.Join(list[1:4], " ")
	}
	edited := filepath.Join(dir, "edited.jsonl")
	if err := os.WriteFile(edited, []byte(`{"frame":1,"method":"nearest"}`), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		want string
		args []string
	}{
		{"interpolated source interpolated", []string{"--blend-below", "0", "--confidence-maps", maps}},
		{"blend source blend", []string{"--blend-below", "1"}},
		{"nearest source nearest", []string{"--nearest-below", "1"}},
		{"nearest source interpolated", []string{"--decisions", edited}},
	} {
		if got := methods(c.args...); got != c.want {
			t.Errorf("%v: frames 1 to 3 are %s, want %s", c.args, got, c.want)
		}
	}
	if _, err := os.Stat(filepath.Join(maps, "000001.png")); err != nil {
		t.Error(err)
	}
	if _, _, code := run(t, in, "-o", filepath.Join(dir, "x.nut"), "--fps", "48", "--confidence-maps", maps); code != int(fault.CannotWrite) {
		t.Errorf("maps over others: exit code %d", code)
	}
}

func TestScenes(t *testing.T) {
	dir := t.TempDir()
	in, list := clip(t, 64, 48, 6), filepath.Join(dir, "cuts.txt")
	if err := os.WriteFile(list, []byte("# by hand\n0.083333\n\n0:00.166667 # the second\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	written := filepath.Join(dir, "written.txt")
	stdout, stderr, code := run(t, in, "-o", filepath.Join(dir, "out.nut"), "--fps", "48", "--scenes", list, "--write-scenes", written)
	if code != 0 || !strings.Contains(stdout, "2 scene cuts") {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	if got, err := os.ReadFile(written); err != nil || string(got) != "0.083333\n0.166667\n" {
		t.Errorf("written: %q, %v", got, err)
	}
	if err := os.WriteFile(list, []byte("soon\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := run(t, in, "-o", filepath.Join(dir, "x.nut"), "--scenes", list); code != int(fault.BadData) || !strings.Contains(stderr, "line 1") {
		t.Errorf("a list that is none: exit code %d, %s", code, stderr)
	}
}
