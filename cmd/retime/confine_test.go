package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"retime/pipeline/fault"
	"retime/testdata/scene"
)

// confined makes a directory with a clip in it, one beside it, and links from the first to
// the second. It returns both directories.
func confined(t *testing.T) (in, out string) {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in, out = filepath.Join(top, "in"), filepath.Join(top, "out")
	for _, dir := range []string{in, out} {
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := scene.CreateY4M(filepath.Join(dir, "clip.y4m"), 16, 16, 3, 25, 1); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"curve", "scenes", "decisions", "mask.pgm"} {
			if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	for link, to := range map[string]string{"away": out, "awayclip.y4m": "../out/clip.y4m", "nowhere": "../out/new"} {
		if err := os.Symlink(to, filepath.Join(in, link)); err != nil {
			t.Fatal(err)
		}
	}
	return in, out
}

func listing(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(entries)
}

// A job file names files below the directory, or none of its jobs is done.
func TestConfinedJobFiles(t *testing.T) {
	in, out := confined(t)
	before := listing(t, out)
	job := func(text string) error {
		t.Helper()
		name := filepath.Join(in, "jobs.yaml")
		if err := os.WriteFile(name, []byte("clips:\n- input: clip.y4m\n  output: good.nut\n- "+text), 0o666); err != nil {
			t.Fatal(err)
		}
		return inProcess(t, "batch", name, "-q", "-y", "--confine", in)
	}
	if err := job("{input: ./clip.y4m, output: 'new/{name}.nut', sidecar: new/log, vopt: [preset=ultrafast]}"); err != nil {
		t.Fatalf("files below the directory: %v", err)
	}
	for _, text := range []string{
		"{input: ../out/clip.y4m, output: bad.nut}",
		"{input: " + out + "/clip.y4m, output: bad.nut}",
		"{input: awayclip.y4m, output: bad.nut}",
		"{input: away/clip.y4m, output: bad.nut}",
		"{input: 'http://localhost:1/a.ts', output: bad.nut}",
		"{input: 'concat:clip.y4m|../out/clip.y4m', output: bad.nut}",
		"{input: clip.y4m, output: ../out/bad.nut}",
		"{input: clip.y4m, output: away/bad.nut}",
		"{input: clip.y4m, output: away/new/bad.nut}",
		"{input: clip.y4m, output: nowhere}",
		"{input: clip.y4m, output: '../out/{name}.nut'}",
		"{input: clip.y4m, output: '../out/%05d.png'}",
		"{input: clip.y4m, output: 'http://localhost:1/a.ts'}",
		"{input: clip.y4m, output: bad.nut, curve: ../out/curve}",
		"{input: clip.y4m, output: bad.nut, scenes: ../out/scenes}",
		"{input: clip.y4m, output: bad.nut, decisions: ../out/decisions}",
		"{input: clip.y4m, output: bad.nut, static-mask: away/mask.pgm}",
		"{input: clip.y4m, output: bad.nut, sidecar: away/log}",
		"{input: clip.y4m, output: bad.nut, write-scenes: nowhere}",
		"{input: clip.y4m, output: bad.nut, confidence-maps: away}",
		"{input: clip.y4m, output: bad.nut, flow-cache: away}",
		"{input: clip.y4m, output: bad.nut, confine: /}",
		"{input: clip.y4m, output: bad.nut, vopt: [stats=../out/stats]}",
		"{input: clip.y4m, output: bad.nut, vopt: [flags=+pass1]}",
		"{input: clip.y4m, output: bad.nut, vopt: [x264-params=stats=../out/stats]}",
		"{input: clip.y4m, output: bad.nut, format: tee}",
		"{input: clip.y4m, output: bad.nut, format: segment}",
	} {
		err := job(text)
		if fault.KindOf(err) != fault.Usage && fault.KindOf(err) != fault.NoInput {
			t.Errorf("%s: %v", text, err)
		}
		if _, err := os.Stat(filepath.Join(in, "bad.nut")); err == nil {
			t.Errorf("%s: it was made", text)
		}
	}
	if after := listing(t, out); after != before {
		t.Errorf("outside were %s, and are %s", before, after)
	}
	if err := job("{input: clip.y4m, output: ../out/bad.nut}"); err == nil || !strings.Contains(err.Error(), "line 4: --output: --confine: ") {
		t.Errorf("no line is named: %v", err)
	}
}

// A batch keeps its state below the directory, and follows no link out of it.
func TestConfinedState(t *testing.T) {
	in, out := confined(t)
	batch := func(state string) error {
		return inProcess(t, "batch", in, "--glob", "clip.y4m", "-o", in+"/made", "-q", "-y", "--vopt", "preset=ultrafast", "--confine", in, "--state", state)
	}
	state := filepath.Join(in, "state")
	if err := os.MkdirAll(state, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../../out/lock", filepath.Join(state, "lock")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{out + "/state", in + "/away/state", state} {
		if err := batch(name); fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), "--confine") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := listing(t, out); strings.Contains(got, "lock") || strings.Contains(got, "state") {
		t.Errorf("outside are %s", got)
	}
}

// A conversion and its parts stay below the directory, too.
func TestConfinedParts(t *testing.T) {
	in, out := confined(t)
	clip, plan := filepath.Join(in, "clip.y4m"), filepath.Join(in, "plan.json")
	refused := func(args ...string) {
		t.Helper()
		if err := inProcess(t, append(args, "--confine", in, "-q")...); fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), "onfine") {
			t.Errorf("%q: %v", args, err)
		}
	}
	done := func(args ...string) {
		t.Helper()
		if err := inProcess(t, append(args, "-q")...); err != nil {
			t.Errorf("%q: %v", args, err)
		}
	}
	refused(out+"/clip.y4m", "-o", in+"/a.nut")
	refused(clip, "-o", out+"/a.nut")
	refused(clip, "-o", in+"/a.nut", "--flow-cache", in+"/away")
	refused("plan", out+"/clip.y4m", "-o", plan)
	refused("plan", clip, "-o", out+"/plan.json")
	done("plan", out+"/clip.y4m", "-o", plan, "--vcodec", "ffv1")
	refused("segment", "--plan", plan, "--index", "0") // the plan names an input outside
	done("segment", "--plan", plan, "--index", "0")
	refused("verify", "--plan", plan)
	refused("join", "--plan", plan, "-o", in+"/a.mkv")
	if err := os.Remove(plan); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(in + "/plan.segments"); err != nil {
		t.Fatal(err)
	}
	done("plan", clip, "-o", plan, "--vcodec", "ffv1", "--confine", in)
	refused("segment", "--plan", plan, "--index", "0", "--dir", out+"/segments")
	refused("segment", "--plan", plan, "--index", "0", "--flow-cache", out+"/cache")
	if err := os.Mkdir(in+"/linked", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../../out/manifest", in+"/linked/000000.json"); err != nil {
		t.Fatal(err)
	}
	refused("segment", "--plan", plan, "--index", "0", "--dir", in+"/linked")
	done("segment", "--plan", plan, "--index", "0", "--confine", in)
	refused("join", "--plan", plan, "-o", out+"/a.mkv")
	refused("join", "--plan", plan, "-o", in+"/away/a.mkv")
	done("verify", "--plan", plan, "--confine", in)
	done("join", "--plan", plan, "-o", in+"/a.mkv", "--confine", in)
	if err := os.Symlink("../out", in+"/.b.mkv.resume"); err != nil {
		t.Fatal(err)
	}
	refused(clip, "-o", in+"/b.mkv", "--resume")
}
