package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"retime/pipeline/fault"
)

func TestForgivingValues(t *testing.T) {
	for _, c := range []struct{ flag, given, plain string }{
		{"slow", "4x", "4"}, {"slow", "2.5x", "5/2"}, {"slow", "25%", "4"}, {"slow", "100%", "1"}, {"slow", "37.5%", "8/3"}, {"slow", "0.1%", "1000"},
		{"slow", "200%", ""}, {"slow", "0%", ""}, {"slow", "0.01%", ""}, {"slow", "%", ""}, {"slow", "x", ""}, {"slow", "4xx", ""},
		{"fps", "ntsc", "30000/1001"}, {"fps", "NTSC", "30000/1001"}, {"fps", "film", "24"}, {"fps", "pal", "25"}, {"fps", "secam", ""},
	} {
		a, err := conversion(t, "--"+c.flag, c.given)
		if c.plain == "" {
			if fault.KindOf(err) != fault.Usage {
				t.Errorf("--%s %s: %v", c.flag, c.given, err)
			}
			continue
		}
		b, _ := conversion(t, "--"+c.flag, c.plain)
		if err != nil || a.Timing.Slow != nil && a.Timing.Slow.Cmp(b.Timing.Slow) != 0 || a.Timing.Rate.Value != nil && a.Timing.Rate.Value.Cmp(b.Timing.Rate.Value) != 0 {
			t.Errorf("--%s %s: %v %v, %v, want %s", c.flag, c.given, a.Timing.Slow, a.Timing.Rate, err, c.plain)
		}
	}
}

func TestDefaultOutput(t *testing.T) {
	in := filepath.Join(t.TempDir(), "a.clip.mp4")
	if err := os.WriteFile(in, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"--fps 60":           "a.clip-60fps.mp4",
		"--fps 59.94":        "a.clip-59.94fps.mp4",
		"--fps ntsc":         "a.clip-29.97fps.mp4",
		"--fps 2x":           "a.clip-2x.mp4",
		"--slow 25%":         "a.clip-slow4.mp4",
		"--slow 5/2":         "a.clip-slow2.5.mp4",
		"--speed 3":          "a.clip-speed3.mp4",
		"--slow 4 --fps 60":  "a.clip-slow4-60fps.mp4",
		"":                   "",
		"--curve curve.yaml": "",
	} {
		o, err := conversion(t, strings.Fields(args)...)
		if err != nil {
			t.Fatal(err)
		}
		if got := o.defaultOutput(in); want == "" && got != "" || want != "" && got != filepath.Join(filepath.Dir(in), want) {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
		for _, none := range []string{"-", "missing.mp4", filepath.Dir(in), "%05d.png"} {
			if got := o.defaultOutput(none); got != "" {
				t.Errorf("%s of %s: %q", args, none, got)
			}
		}
	}
}

// A run without -o writes beside its input, once, and two names are told where -o goes.
func TestRunWithoutOutput(t *testing.T) {
	in := clip(t, 32, 16, 3)
	want := strings.TrimSuffix(in, ".y4m") + "-48fps.y4m"
	stdout, stderr, code := run(t, in, "--fps", "48")
	if code != 0 || !strings.HasPrefix(stdout, want+": ") {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	if _, stderr, code := run(t, in, "--fps", "48"); code != int(fault.CannotWrite) || !strings.Contains(stderr, "-y overwrites it") {
		t.Errorf("again: exit code %d, %s", code, stderr)
	}
	restored := strings.TrimSuffix(in, ".y4m") + "-restored.y4m"
	if stdout, stderr, code := run(t, "restore", in, "--frames", "1"); code != 0 || !strings.Contains(stdout, restored+": ") {
		t.Errorf("restore: exit code %d\n%s%s", code, stdout, stderr)
	}
	if _, stderr, code := run(t, in, "x.mp4", "--fps", "48"); code != int(fault.Usage) || stderr != "retime: two names: name the output with -o x.mp4\n" {
		t.Errorf("two names: exit code %d, %s", code, stderr)
	}
}

func TestDirectoryOfPictures(t *testing.T) {
	dir := t.TempDir()
	_, stderr, code := run(t, clip(t, 32, 16, 3), "-o", filepath.Join(dir, "%03d.png"))
	if code != 0 {
		t.Fatal(stderr)
	}
	out := filepath.Join(t.TempDir(), "out.nut")
	stdout, stderr, code := run(t, dir, "-o", out, "--in-fps", "24", "--fps", "48")
	if code != 0 || !strings.Contains(stdout, "6 frames: ") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	// Whatever is said of an input is said once, though restorations read it twice.
	_, stderr, code = run(t, "restore", filepath.Join(dir, "%03d.png"), "-o", filepath.Join(t.TempDir(), "%03d.png"), "--frames", "1")
	if code != 0 || strings.Count(stderr, "pictures have no rate") != 1 {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	if _, stderr, code := run(t, t.TempDir(), "-o", out, "-y"); code != int(fault.NoInput) || !strings.Contains(stderr, "is a directory") {
		t.Errorf("an empty directory: exit code %d, %s", code, stderr)
	}
}
