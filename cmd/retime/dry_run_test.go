package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"retime/pipeline/fault"
)

// A dry run says of the frames what the run says, and leaves nothing behind.
func TestDryRun(t *testing.T) {
	in := clip(t, 64, 48, 24)
	frames := regexp.MustCompile(`(?m)^\d+ frames: \d+ as shot, \d+ made(?:, \d+ held)?`)
	for _, args := range [][]string{{"--fps", "60"}, {"--slow", "4", "--from", "0.25", "--to", "0.75"}, {"--slow", "1.37"}, {"--speed", "2"}, {"--mode", "nearest", "--fps", "60"}, {"--shutter", "180", "--fps", "60"}} {
		dir := t.TempDir()
		t.Setenv("TMPDIR", dir)
		args = append([]string{in, "-o", filepath.Join(dir, "out.mkv")}, args...)
		foretold, stderr, code := run(t, append(args, "--dry-run")...)
		if left, err := os.ReadDir(dir); code != 0 || err != nil || len(left) > 0 {
			t.Fatalf("%v: exit code %d, left %v, %v\n%s", args, code, left, err, stderr)
		}
		if !strings.Contains(foretold, "matroska, libx264, 64x48") || !regexp.MustCompile(`(?m)^about .* MB.* by a trial of \d+ frames on the CPU$`).MatchString(foretold) {
			t.Errorf("%v says\n%s", args, foretold)
		}
		said, stderr, code := run(t, args...)
		if want := frames.FindString(said); code != 0 || want == "" || !strings.Contains(foretold, want) {
			t.Errorf("%v: exit code %d, the dry run says\n%sthe run\n%s%s", args, code, foretold, said, stderr)
		}
		if _, stderr, code = run(t, append(args, "--dry-run")...); code != int(fault.CannotWrite) || !strings.Contains(stderr, "-y") {
			t.Errorf("%v: the output exists: exit code %d, %s", args, code, stderr)
		}
	}
}

// A dry run takes and refuses the names of outputs that the run does.
func TestDryRunOfOutputs(t *testing.T) {
	in, dir := clip(t, 64, 48, 4), t.TempDir()
	for _, name := range []string{"out.mkv", "7.png"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for args, want := range map[string]fault.Kind{
		"-o /dev/null -f matroska": 0, "-o out.mkv": fault.CannotWrite, "-o out.mkv -y": 0, "-o %d.png": fault.CannotWrite, "-o %d.png -y": 0,
		"-o . -f matroska": fault.CannotWrite, "-f matroska -y -o " + in: fault.Usage,
	} {
		for _, more := range []string{" --dry-run", ""} {
			cmd := program(append([]string{in}, strings.Fields(args+more)...)...)
			cmd.Dir = dir
			out, _ := cmd.CombinedOutput()
			if got := cmd.ProcessState.ExitCode(); got != int(want) {
				t.Errorf("%s%s: exit code %d, want %d\n%s", args, more, got, want, out)
			}
		}
	}
}

// Every verb that writes the frames of a conversion, or a part of it, has a dry run.
func TestDryRunOfVerbs(t *testing.T) {
	in, dir := clip(t, 64, 48, 24), t.TempDir()
	plan, picture := filepath.Join(dir, "plan.json"), filepath.Join(dir, "in.pgm")
	if err := os.WriteFile(picture, []byte("P5 2 2 255\n\x00\x40\x80\xff"), 0o666); err != nil { //nolint:gosec // a picture
		t.Fatal(err)
	}
	if _, stderr, code := run(t, "plan", in, "-o", plan, "--fps", "48", "--segment-seconds", "0.5", "--even"); code != 0 {
		t.Fatal(stderr)
	}
	tape := filepath.Join(t.TempDir(), "tape.y4m")
	frames, err := os.ReadFile(in)
	if err == nil {
		err = os.WriteFile(tape, bytes.Replace(frames, []byte(" Ip "), []byte(" It "), 1), 0o600) // interlaced
	}
	if err != nil {
		t.Fatal(err)
	}
	before := namesIn(t, dir)
	for _, c := range []struct{ args, want string }{
		{"restore " + tape + " -o out.mkv --frames 3,7.t", "24 frames: 22 as shot, 2 made"},
		{"plan " + in + " -o other.json --fps 48 --segment-seconds 0.5", "48 frames: 24 as shot, 23 made, 1 held"},
		{"plan " + in + " -o other.json --fps 48 --segment-seconds 0.5", "other.json: about 2 segments"},
		{"plan " + in + " -o other.json --fps 48 --segment-seconds 0.001", "other.json: about 6 segments"},
		{"segment --plan " + plan + " --index 1", "segment 1 of 2, frames 24 to 48: would be made"},
		{"join --plan " + plan + " -o out.mp4", "48 frames from 2 segments, of which 0 are done"},
		{"batch " + filepath.Dir(in) + " --glob *.y4m --slow 2 -o outputs", "1 clip, about"},
		{in + " -o none/%d.png --fps 48", "none/%d.png: image2, png, 64x48"}, // as a batch makes directories itself
		{"restore " + in + " -o out.mkv --frames 3,7-8", "24 frames: 21 as shot, 3 made"},
		{"debug " + in + " --at 0.3 -o why", "why: " + strconv.Itoa(15) + " files"},
		{"evaluate " + in + " --report report", "4 methods: balanced, blend, nearest, minterpolate\nabout "},
		{"resample " + picture + " -o out.pgm --zoom 2 --size 4x4", "out.pgm: 4x4"},
	} {
		cmd := program(append(strings.Fields(c.args), "--dry-run")...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), c.want) {
			t.Errorf("%s: %v\n%s", c.args, err, out)
		}
		if after := namesIn(t, dir); after != before {
			t.Errorf("%s left %s, before %s", c.args, after, before)
		}
	}
}

func namesIn(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}
