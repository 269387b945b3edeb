package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"retime/pipeline/fault"
)

// debug and evaluate take the rate of pictures, as a conversion does.
func TestInputRateOfInspections(t *testing.T) {
	in, dir := clip(t, 128, 96, 9), t.TempDir()
	pictures := filepath.Join(dir, "%05d.pgm")
	if _, stderr, code := run(t, in, "-o", pictures, "--pix-fmt", "gray"); code != 0 {
		t.Fatal(stderr)
	}
	// At 2 frames per second, 3.9 s is the last interval; at the default of 25 there is none.
	if _, stderr, code := run(t, "debug", pictures, "--at", "3.9", "-o", filepath.Join(dir, "why"), "--in-fps", "2"); code != 0 {
		t.Errorf("debug: exit code %d, %s", code, stderr)
	}
	if _, stderr, code := run(t, "evaluate", pictures, "--from", "1", "--report", filepath.Join(dir, "report"), "--in-fps", "2", "--peer", "none"); code != 0 {
		t.Errorf("evaluate: exit code %d, %s", code, stderr)
	}
}

func TestDebug(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "why")
	demo := filepath.Join("..", "..", "testdata", "demo.mp4")
	run := func(args ...string) (string, error) {
		var out strings.Builder
		cmd := newRootCommand()
		cmd.SetArgs(append([]string{"debug"}, args...))
		cmd.SetOut(&out)
		cmd.SetErr(&out)
		err := cmd.ExecuteContext(t.Context())
		return out.String(), err
	}
	out, err := run(demo, "--at", "1.01", "-o", dir, "--preset", "fast")
	if err != nil || !strings.Contains(out, "confidence 0.") {
		t.Fatalf("%v: %q", err, out)
	}
	if _, err := os.Stat(filepath.Join(dir, "README.txt")); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		args []string
		want fault.Kind
	}{
		{[]string{demo, "--at", "1.01", "-o", dir}, fault.CannotWrite},
		{[]string{demo, "-o", dir}, fault.Usage},
		{[]string{demo, "--at", "1.01"}, fault.Usage},
		{[]string{demo, "--at", "soon", "-o", dir}, fault.Usage},
		{[]string{"--at", "1", "-o", dir}, fault.Usage},
		{[]string{demo, "--at", "1.01", "-o", dir, "-y", "--preset", "worst"}, fault.Usage},
		{[]string{filepath.Join(dir, "none.mp4"), "--at", "1", "-o", dir}, fault.NoInput},
		{[]string{demo, "--at", "1.01", "-o", dir, "-y", "--static-mask", filepath.Join(dir, "overlay.png")}, fault.Usage},
	} {
		if _, err := run(c.args...); err == nil || fault.KindOf(err) != c.want {
			t.Errorf("%v: %v, want kind %d", c.args, err, c.want)
		}
	}
}
