package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"retime/pipeline/fault"
	"retime/pipeline/restore"
)

// spoiltClip makes a clip in which some frames are black.
func spoiltClip(t *testing.T, width, height, frames int, black ...int) string {
	t.Helper()
	name := clip(t, width, height, frames)
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	luma := width * height
	size := luma + luma/2 + len("FRAME\n")
	for _, n := range black {
		f := data[len(data)-(frames-n)*size:][len("FRAME\n"):size]
		for i := range f {
			if f[i] = 128; i < luma {
				f[i] = 16
			}
		}
	}
	if err := os.WriteFile(name, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

// entries reads a log of made frames.
func entries(t *testing.T, name string) (all []restore.Entry) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var e restore.Entry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, e)
	}
	return all
}

// A list of findings can be edited and read again.
func TestRestoreList(t *testing.T) {
	in, dir := spoiltClip(t, 192, 108, 48, 9, 20, 21), t.TempDir()
	list, out, log := filepath.Join(dir, "damage.txt"), filepath.Join(dir, "out.nut"), filepath.Join(dir, "made.jsonl")
	stdout, stderr, code := run(t, "restore", in, "-o", out, "--detect", "--dry-run", "--write-list", list, "--log", log)
	if code != 0 || !strings.Contains(stdout, "48 frames: 2 findings, 3 frames to rebuild") {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 1 || left[0] != list {
		t.Errorf("a dry run leaves %v, want the list alone", left)
	}
	text, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(stdout, string(text)) {
		t.Errorf("printed\n%swritten\n%s", stdout, text)
	}
	edited := strings.Replace(string(text), "9 ", "# 9 ", 1) + "30-31 # by hand\n0:01.5 garbled region=10,20,30,40\n"
	write(t, list, edited)
	stdout, stderr, code = run(t, "restore", in, "-o", out, "--list", list, "--vcodec", "rawvideo", "--preset", "fast", "--log", log)
	if code != 0 || !strings.Contains(stdout, "3 findings, 5 frames rebuilt") {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	var got []string
	for _, e := range entries(t, log) {
		got = append(got, fmt.Sprint(e.Source, " ", e.Kind, " ", e.Region))
	}
	if want := "20 black false, 21 black false, 30 listed false, 31 listed false, 36 garbled true"; strings.Join(got, ", ") != want {
		t.Errorf("made %q, want %s", got, want)
	}
}

// A pipe is read to its end before anything is written.
func TestRestorePipes(t *testing.T) {
	in := clip(t, 64, 48, 12)
	for _, format := range []string{"yuv4mpegpipe", "nut", "matroska"} {
		dir := t.TempDir()
		file, log := filepath.Join(dir, "in"), filepath.Join(dir, "made.jsonl")
		codec := "ffv1"
		if format == "yuv4mpegpipe" {
			codec = "wrapped_avframe"
		}
		if _, stderr, code := run(t, in, "-o", file, "-f", format, "--vcodec", codec, "--no-verify"); code != 0 {
			t.Fatal(stderr)
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		cmd := program("restore", "-", "-o", "-", "-f", format, "--vcodec", codec, "--frames", "4-5", "--preset", "fast", "--log", log)
		temp := t.TempDir()
		cmd.Env = append(cmd.Env, "TMPDIR="+temp)
		var out, errs bytes.Buffer
		cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(data), &out, &errs
		if err := cmd.Run(); err != nil {
			t.Fatalf("%s: %v\n%s", format, err, errs.String())
		}
		back := write(t, filepath.Join(dir, "back"), out.String())
		if stdout, stderr, code := run(t, "restore", back, "--detect", "--dry-run"); code != 0 || !strings.Contains(stdout, "12 frames: 0 findings") {
			t.Errorf("%s: exit code %d\n%s%s", format, code, stdout, stderr)
		}
		if made := entries(t, log); len(made) != 2 || made[1].Source != 5 {
			t.Errorf("%s: made %v", format, made)
		}
		if left, _ := filepath.Glob(filepath.Join(temp, "*")); len(left) > 0 {
			t.Errorf("%s: left behind %v", format, left)
		}
	}
}

func TestRestorePipeInterrupted(t *testing.T) {
	temp := t.TempDir()
	cmd := program("restore", "-", "-o", filepath.Join(temp, "out.nut"), "--frames", "1")
	cmd.Env = append(cmd.Env, "TMPDIR="+temp)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write(make([]byte, 1<<20)); err != nil { // more than a pipe holds, so retime is reading
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != int(fault.Cancelled) {
		t.Errorf("exit code %d", code)
	}
	if left, _ := filepath.Glob(filepath.Join(temp, "*")); len(left) > 0 {
		t.Errorf("left behind %v", left)
	}
}

func TestRestoreFramesByTimecode(t *testing.T) {
	in, dir := clip(t, 64, 48, 30), t.TempDir()
	log := filepath.Join(dir, "made.jsonl")
	_, stderr, code := run(t, "restore", in, "-o", filepath.Join(dir, "out.nut"), "--preset", "fast", "--frames", "00:00:00:05,0.5,20", "--insert", "00:00:01:01:1", "--log", log)
	if code != 0 {
		t.Fatal(stderr)
	}
	var got []int64
	for _, e := range entries(t, log) {
		got = append(got, e.Source)
	}
	if fmt.Sprint(got) != "[5 12 20 -1]" {
		t.Errorf("made %v", got)
	}
}

func TestRestoreExitCodes(t *testing.T) {
	in, dir := clip(t, 64, 48, 6), t.TempDir()
	out := filepath.Join(dir, "out.nut")
	there := write(t, filepath.Join(dir, "there.nut"), "x")
	broken := write(t, filepath.Join(dir, "broken.txt"), "# frames\n1 black\n\n2 purple\n")
	late := write(t, filepath.Join(dir, "late.txt"), "77\n")
	for _, c := range []struct {
		args []string
		code fault.Kind
		says string
	}{
		{[]string{in, "-o", out}, fault.Usage, "nothing to restore"},
		{[]string{"-", "--frames", "1"}, fault.Usage, "no output"},
		{[]string{in, in, "-o", out, "--frames", "1"}, fault.Usage, "2 inputs"},
		{[]string{in, "-o", out, "--frames", "1,x"}, fault.Usage, "--frames"},
		{[]string{in, "-o", out, "--frames", "6"}, fault.Usage, "from 0 to 5"},
		{[]string{in, "-o", out, "--frames", "1.t"}, fault.Usage, "--field-order"},
		{[]string{in, "-o", "-", "-f", "nut", "--frames", "1", "--report", dir}, fault.Usage, "name files"},
		{[]string{in, "-o", out, "--frames", "1", "--report", there}, fault.CannotWrite, "--report"},
		{[]string{in, "-o", out, "--frames", "0-5"}, fault.Usage, "all 6 frames"},
		{[]string{in, "-o", out, "--frames", "00:00:00:24"}, fault.Usage, "24 frames a second"},
		{[]string{in, "-o", out, "--insert", "3"}, fault.Usage, "FRAME:COUNT"},
		{[]string{in, "-o", out, "--insert", "5:1"}, fault.Usage, "the last"},
		{[]string{in, "-o", out, "--region", "1,2,3@4"}, fault.Usage, "x,y,w,h"},
		{[]string{in, "-o", out, "--mask", "mask.png"}, fault.Usage, "FILE@FRAMES"},
		{[]string{in, "-o", out, "--mask", "missing.png@2"}, fault.NoInput, "missing.png"},
		{[]string{in, "-o", out, "--frames", "1", "--max-run", "0"}, fault.Usage, "--max-run"},
		{[]string{in, "-o", out, "--detect", "--find", "black,listed"}, fault.Usage, "--find"},
		{[]string{in, "-o", out, "--detect", "--sensitivity", "most"}, fault.Usage, "--sensitivity"},
		{[]string{in, "-o", out, "--frames", "1", "--find", "black"}, fault.Usage, "give --detect"},
		{[]string{in, "-o", out, "--frames", "1", "--fps", "60"}, fault.Usage, "--fps"},
		{[]string{in, "-o", out, "--list", broken}, fault.BadData, "line 4: kind \"purple\""},
		{[]string{in, "-o", out, "--list", late}, fault.Usage, "frame 77"},
		{[]string{in, "-o", out, "--list", filepath.Join(dir, "none.txt")}, fault.NoInput, "none.txt"},
		{[]string{"missing.mp4", "-o", out, "--frames", "1"}, fault.NoInput, "missing.mp4"},
		{[]string{"main_test.go", "-o", out, "--frames", "1"}, fault.BadData, "main_test.go"},
		{[]string{in, "-o", there, "--frames", "1"}, fault.CannotWrite, "-y"},
		{[]string{in, "-o", "/nowhere/out.nut", "--frames", "1"}, fault.CannotWrite, "/nowhere"},
		{[]string{in, "--dry-run", "-q", "--frames", "1", "--write-list", "/nowhere/list.txt"}, fault.CannotWrite, "--write-list"},
		{[]string{in, "-o", out, "--frames", "1", "--log", "/nowhere/log.jsonl"}, fault.CannotWrite, "--log"},
	} {
		_, stderr, code := run(t, append([]string{"restore"}, c.args...)...)
		if code != int(c.code) || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.says) {
			t.Errorf("retime restore %s: exit code %d, want %d, and one line with %q:\n%s", strings.Join(c.args, " "), code, c.code, c.says, stderr)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 3 {
		t.Errorf("left behind: %v", left)
	}
}
