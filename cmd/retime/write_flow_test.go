package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"retime/pipeline/fault"
	"retime/testdata/scene"
)

// Flow that a conversion wrote makes the same frames again, and is the flow of the verb.
func TestWrittenFlowMakesTheSameFrames(t *testing.T) {
	for _, preset := range []string{"fast", "balanced", "best"} {
		dir := t.TempDir()
		at := func(name string) string { return filepath.Join(dir, name) }
		if err := scene.CreateY4M(at("in.y4m"), 131, 97, 6, 24, 1); err != nil {
			t.Fatal(err)
		}
		retime := func(args ...string) string {
			t.Helper()
			stdout, stderr, code := run(t, append(args, "--preset", preset)...)
			if code != 0 {
				t.Fatalf("%v: exit code %d, %s", args, code, stderr)
			}
			return stdout
		}
		convert := func(out string, more ...string) []byte {
			t.Helper()
			retime(append([]string{at("in.y4m"), "-o", at(out), "--fps", "48", "-q"}, more...)...)
			data, err := os.ReadFile(at(out))
			if err != nil {
				t.Fatal(err)
			}
			return data
		}
		plain := convert("plain.y4m")
		if !bytes.Equal(plain, convert("writing.y4m", "--write-flow", at("flow/####.flo"))) {
			t.Errorf("%s: a conversion that writes its flow makes other frames", preset)
		}
		if !bytes.Equal(plain, convert("again.y4m", "--flow", "files="+at("flow/%04d.flo"))) {
			t.Errorf("%s: the written flow makes other frames", preset)
		}
		said := retime("flow", at("in.y4m"), "-o", at("verb/%04d.flo"), "--write-confidence")
		if want := at("verb/%04d.flo") + ": flow between 6 frames\n"; said != want {
			t.Errorf("%s: says %q, want %q", preset, said, want)
		}
		for n := range 5 {
			for _, kind := range []string{"%04d.flo", "%04d.back.flo"} {
				name := fmt.Sprintf(kind, n)
				a, err := os.ReadFile(at("flow/" + name))
				b, e := os.ReadFile(at("verb/" + name))
				if err != nil || e != nil || !bytes.Equal(a, b) {
					t.Errorf("%s: %s differs: %v, %v", preset, name, err, e)
				}
				if len(a) != 12+8*131*97 {
					t.Errorf("%s: %s has %d bytes", preset, name, len(a))
				}
			}
			for _, kind := range []string{"confidence", "occluded", "back.confidence", "back.occluded"} {
				if _, err := os.Stat(at(fmt.Sprintf("verb/%04d.%s.png", n, kind))); err != nil {
					t.Errorf("%s: %v", preset, err)
				}
			}
		}
	}
}

// EXR files have the numbers of the pictures, and layers that OpenEXR's own tools list.
func TestFlowAsEXR(t *testing.T) {
	if _, err := exec.LookPath("exrheader"); err != nil {
		t.Skip("no exrheader; install openexr")
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := scene.CreateY4M(at("in.y4m"), 64, 48, 4, 24, 1); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("ffmpeg", "-v", "error", "-i", at("in.y4m"), "-start_number", "1001", at("p.%04d.png")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if _, stderr, code := run(t, "flow", at("p.####.png"), "-o", at("v/p.$F6.exr"), "--flow-format", "half,normalised=64", "--write-confidence"); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	files, err := filepath.Glob(at("v/*"))
	if err != nil || len(files) != 4 || filepath.Base(files[0]) != "p.001001.exr" || filepath.Base(files[3]) != "p.001004.exr" {
		t.Fatalf("%v, %v", files, err)
	}
	out, err := exec.Command("exrheader", files...).CombinedOutput()
	for _, channel := range []string{"forward.u", "forward.v", "forward.confidence", "forward.occluded", "backward.u", "backward.v", "backward.confidence", "backward.occluded"} {
		if n := strings.Count(string(out), channel+", 16-bit floating-point"); n != 4 {
			t.Errorf("%d files have channel %s", n, channel)
		}
	}
	if err != nil || strings.Count(string(out), "(0 0) - (63 47)") != 8 {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestFlowFaults(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := scene.CreateY4M(at("in.y4m"), 64, 48, 3, 24, 1); err != nil {
		t.Fatal(err)
	}
	if err := scene.CreateY4M(at("one.y4m"), 64, 48, 1, 24, 1); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at("0.flo"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for args, c := range map[string]struct {
		code fault.Kind
		says string
	}{
		"flow in.y4m":                                       {fault.Usage, "-o flow/%05d.flo"},
		"flow in.y4m -o x.flo":                              {fault.Usage, "one number in the name"},
		"flow in.y4m -o %d.png":                             {fault.Usage, "ends in .flo or .exr"},
		"flow in.y4m -o %V.####.exr":                        {fault.Usage, "%V stands for a view"},
		"flow in.y4m -o %d.flo":                             {fault.CannotWrite, "1 such files exist; -y overwrites them"},
		"flow in.y4m -o f%d.flo --flow-format half":         {fault.Usage, "name .exr to choose"},
		"flow in.y4m -o f%d.exr --flow-format thin":         {fault.Usage, "half, float, pixels, normalised=SPAN"},
		"flow in.y4m -o f%d.exr --flow-format normalised=0": {fault.Usage, "pixels above 0"},
		"flow one.y4m -o g%d.flo":                           {fault.BadData, "flow is between two"},
		"in.y4m -o o.nut --write-confidence":                {fault.Usage, "name these"},
		"in.y4m -o o.nut --mode blend --write-flow h%d.flo": {fault.Usage, "uses no optical flow"},
		"in.y4m -o o.nut --mode blend --tune animation":     {fault.Usage, "uses no optical flow"},
		"in.y4m -o o.nut --resume --write-flow h%d.flo":     {fault.Usage, "in one run only"},
	} {
		words := strings.Fields(args)
		for i, w := range words {
			if strings.ContainsAny(w, ".") && !strings.Contains(w, "=") {
				words[i] = at(w)
			}
		}
		if _, stderr, code := run(t, words...); code != int(c.code) || !strings.Contains(stderr, c.says) {
			t.Errorf("%s: exit code %d, want %d and %q: %s", args, code, c.code, c.says, stderr)
		}
	}
}
