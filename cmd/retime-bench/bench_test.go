package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"retime/cuda"
	"retime/pipeline/fault"
)

// bench runs retime-bench in this process.
func bench(ctx context.Context, args ...string) (string, error) {
	cmd := newRootCommand()
	var out bytes.Buffer
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	err := cmd.ExecuteContext(ctx)
	return out.String(), err
}

func TestBenchBspline(t *testing.T) {
	small := []string{"bspline", "--size", "48x40", "--repeat", "1", "--threads", "2"}
	for _, c := range []struct {
		args  []string
		lines int
		want  []string
	}{
		{nil, 3 + 24, []string{"Table 8", "   11 float64 "}},
		{[]string{"--accuracy"}, 2*(3+5) + 1, []string{"Table 4", "Table 5", "\nall double "}},
		{[]string{"--scaling"}, 2 + 2 + 5, []string{"48x40", "3x2", " 1.00x"}},
		{[]string{"--accuracy", "--scaling"}, 2*(3+5) + 1 + 1 + 2 + 2 + 5, nil},
	} {
		out, err := bench(context.Background(), append(small, c.args...)...)
		if err != nil {
			t.Errorf("%v: %v", c.args, err)
		}
		if n := strings.Count(out, "\n"); n != c.lines {
			t.Errorf("%v: %d lines, want %d:\n%s", c.args, n, c.lines, out)
		}
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("%v: no %q in\n%s", c.args, want, out)
			}
		}
	}
}

// Peers that are not installed are skipped, but a Python that --python names must exist.
func TestBenchPeers(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	out, err := bench(context.Background(), "bspline", "--peers", "--size", "80x80")
	if err != nil || !strings.Contains(out, "retime, order 11, ") || !strings.Contains(out, "SciPy") {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err = bench(context.Background(), "bspline", "--peers", "--size", "8x8", "--python", "no-python"); fault.KindOf(err) != fault.Usage {
		t.Errorf("a Python that does not exist: %v", err)
	}
}

func TestBenchErrors(t *testing.T) {
	for _, args := range []string{"magic", "bspline magic", "bspline --size 0x1", "bspline --size 99999x99999", "bspline --repeat 0", "bspline --threads -1"} {
		if out, err := bench(context.Background(), strings.Fields(args)...); fault.KindOf(err) != fault.Usage {
			t.Errorf("%s: %v\n%s", args, err, out)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := bench(ctx, "bspline", "--size", "2000x2000"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestBenchStages(t *testing.T) {
	dir := t.TempDir()
	out, err := bench(context.Background(), "stages", "../../testdata/demo.mp4", "--fps", "48", "--preset", "fast", "--backend", "cpu", "--to", "0.25",
		"--cpu-profile", dir+"/cpu", "--trace", dir+"/trace")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"12 frames, 6 of them made, on the CPU", "\ndecode ", "\nflow, read ", "\nsynthesis ", " % of the slowest alone"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	for _, name := range []string{"cpu", "trace"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	for _, args := range [][]string{{}, {"a", "b"}, {"a", "--fps", "fast"}, {"a", "--device", "x"}, {"a", "--preset", "slow", "--backend", "cpu"}} {
		if _, err := bench(context.Background(), append([]string{"stages"}, args...)...); fault.KindOf(err) != fault.Usage {
			t.Errorf("%v: error %v", args, err)
		}
	}
}

func TestRestoreNeedsClips(t *testing.T) {
	_, err := bench(context.Background(), "restore", "--clips", filepath.Join(t.TempDir(), "*.mp4"))
	if fault.KindOf(err) != fault.NoInput || !strings.Contains(err.Error(), "no clip matches") {
		t.Errorf("without clips: %v", err)
	}
}

// Without a device, the cuda studies fail and say so.
func TestCUDANeedsADevice(t *testing.T) {
	if n, _, _ := cuda.Probe(); n > 0 && cuda.Built {
		t.Skip("a device answers")
	}
	_, err := bench(context.Background(), "cuda")
	if fault.KindOf(err) != fault.TryAgain || !cuda.Built && !strings.Contains(err.Error(), "make bench-cuda") {
		t.Errorf("cuda: %v", err)
	}
}

func TestBenchBoxspline(t *testing.T) {
	out, err := bench(context.Background(), "boxspline", "--size", "16", "--points", "50", "--repeat", "1")
	if err != nil || !strings.Contains(out, "\nbcc-quintic ") || !strings.Contains(out, "bspline float64") {
		t.Errorf("error %v:\n%s", err, out)
	}
	out, err = bench(context.Background(), "boxspline", "--accuracy", "--points", "2")
	if err != nil || !strings.Contains(out, "\nzp ") {
		t.Errorf("error %v:\n%s", err, out)
	}
	if _, err := bench(context.Background(), "boxspline", "--points", "0"); fault.KindOf(err) != fault.Usage {
		t.Errorf("no points: error %v", err)
	}
}
