package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"retime/pipeline/batch"
	"retime/pipeline/fault"
)

// clips copies a tiny clip to n names in a new directory. The clips in damaged get no
// pictures.
func clips(t *testing.T, n, frames int, damaged ...int) (dir string) {
	t.Helper()
	data, err := os.ReadFile(clip(t, 16, 16, frames))
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	for i := range n {
		text := data
		if slices.Contains(damaged, i) {
			text = data[:20]
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("clip %02d ü.y4m", i)), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

var plain = []string{"--backend", "cpu", "--mode", "blend", "--vcodec", "rawvideo", "-f", "nut"}

func TestBatchOfDirectory(t *testing.T) {
	in, out := clips(t, 20, 2, 3, 8, 19), filepath.Join(t.TempDir(), "out put")
	args := append([]string{"batch", in, "--glob", "*.y4m", "--slow", "2", "-o", out, "--jobs", "2", "--json"}, plain...)
	stdout, stderr, code := run(t, args...)
	var got batchJSON
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != int(fault.BadData) || got.Done != 17 || got.Failed != 3 || got.Clips != 20 {
		t.Fatalf("exit code %d, %v: %s%s", code, err, stdout, stderr)
	}
	if n := strings.Count(stderr, "\n"); n != 21 || !strings.HasSuffix(stderr, "retime: 3 of 20 clips failed\n") {
		t.Errorf("want a line for each clip and one for all:\n%s", stderr)
	}
	for i, c := range got.List {
		_, err := os.Stat(c.Output)
		if good := !slices.Contains([]int{3, 8, 19}, i); good != (err == nil) || good != (c.State == "done") || good && c.Frames != 4 {
			t.Errorf("clip %d: %+v, %v", i, c, err)
		}
	}
	if stdout, _, code = run(t, append(args[:len(args):len(args)], "--status")...); code != 0 || !strings.Contains(stdout, `"failed": 3`) {
		t.Errorf("status: exit code %d, %s", code, stdout)
	}
	if _, stderr, code = run(t, args...); code != int(fault.Usage) || !strings.Contains(stderr, "--resume continues it, -y starts again") {
		t.Errorf("begun twice: exit code %d, %s", code, stderr)
	}
}

func TestBatchArguments(t *testing.T) {
	in, out := clips(t, 2, 2), filepath.Join(t.TempDir(), "out")
	file := filepath.Join(in, "jobs.yaml")
	if err := os.WriteFile(file, []byte("clips: [{input: 'clip 00 ü.y4m', output: o.nut}]\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code fault.Kind
		want string
	}{
		{[]string{}, fault.Usage, "want a job file"},
		{[]string{in, "-o", out}, fault.Usage, "--glob"},
		{[]string{in, "--glob", "*.y4m"}, fault.Usage, "-o"},
		{[]string{in, "--glob", "*.mp4", "-o", out}, fault.NoInput, `matches "*.mp4"`},
		{[]string{in, "--glob", "[", "-o", out}, fault.Usage, "--glob"},
		{[]string{in, "--glob", "*.y4m", "-o", in, "-y"}, fault.Usage, "is what"},
		{[]string{in, "--glob", "*.y4m", "-o", out, "--preset", "better"}, fault.Usage, "--preset better"},
		{[]string{in, "--glob", "*.y4m", "-o", out, "--progress", "magic"}, fault.Usage, "lines"},
		{[]string{in, "--glob", "*.y4m", "-o", out, "--jobs", "-1"}, fault.Usage, "--jobs"},
		{[]string{file, "--slow", "2"}, fault.Usage, "defaults"},
		{[]string{filepath.Join(in, "none.yaml")}, fault.NoInput, "none.yaml"},
	} {
		_, stderr, code := run(t, append([]string{"batch"}, c.args...)...)
		if code != int(c.code) || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: exit code %d, want %d: %s", c.args, code, c.code, stderr)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("something was begun")
	}
}

func TestJobFileErrors(t *testing.T) {
	in := clips(t, 2, 2)
	file := filepath.Join(in, "jobs.yaml")
	for text, want := range map[string]string{
		"clips:\n  - input: a\n    output: b\n    sloww: 2\n":                                     `line 4: no setting "sloww"`,
		"clips:\n  - input: a\n    output: b\n    quiet: true\n":                                  `line 4: no setting "quiet"`,
		"clips:\n  - input: a\n    output: b\n    slow: 0\n":                                      "line 4: ",
		"clips:\n  - input: a\n    output: b\n    slow: [2, 3]\n":                                 "line 4: slow: want one value",
		"clips:\n  - input: a\n    output: b\n    order: cubic\n":                                 "line 4: order",
		"defaults:\n  preset: better\nclips:\n  - input: a\n    output: b\n":                      "line 2: --preset better",
		"defaults:\n  slow: 2\nclips:\n  - input: a\n    output: b\n    curve: none.txt\n":        "line 6: --curve",
		"defaults:\n  channel: N=mix\nclips:\n  - input: a\n    output: b\n    curve: none.txt\n": "line 6: --curve",
		"clips:\n  - input: a\n    output: b\n    channel: N=mix\n":                               "line 2: --channel",
		"clips:\n  - output: b\n":                         "line 2: no input",
		"clips:\n  - input: a\n    output: '{nam}.nut'\n": "line 2: output",
		"clips:\n  - input: a\n":                          "line 2: no output",
		"clips:\n  - input: a\n    output: '-'\n":         "standard",
		"clips:\n  - input: [a, b]\n    output: b\n":      "line 2: input: want one value",
		"defaults: {output: same.nut}\nclips:\n  - input: clip 00 ü.y4m\n  - input: clip 01 ü.y4m\n": "would be written twice",
	} {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		var o BatchOptions
		cmd := newBatchCommand()
		_, jobs, _, err := o.clips(file, cmd.Flags())
		if err == nil { // an error about several clips is found when the batch runs
			_, stderr, code := run(t, "batch", file)
			if code != int(fault.Usage) {
				t.Errorf("%q: exit code %d, %d clips", text, code, len(jobs))
			}
			err = fault.New(fault.Usage, "%s", stderr)
		}
		if fault.KindOf(err) != fault.Usage || !strings.Contains(said(err, nil), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestBatchKilled kills a batch after its first clip. The next run keeps that clip and
// does the rest.
func TestBatchKilled(t *testing.T) {
	in := clips(t, 6, 12)
	file := filepath.Join(in, "jobs.yaml")
	text := "defaults:\n  fps: 240\n  vcodec: rawvideo\n  backend: cpu\n  output: out/{name}.nut\n  sidecar: out/{name}.jsonl\nclips:\n"
	for i := range 6 {
		text += fmt.Sprintf("  - input: clip %02d ü.y4m\n", i)
	}
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	killed := program("batch", file, "--jobs", "2", "--progress", "json")
	stderr, err := killed.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	done := 0
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		var e struct{ Done int }
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Errorf("progress %q: %v", lines.Text(), err)
		}
		if e.Done > 0 && done == 0 {
			done = e.Done
			_ = killed.Process.Kill()
		}
	}
	_ = killed.Wait()
	stdout, errs, code := run(t, "batch", file, "--resume", "--json")
	var got batchJSON
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != 0 || got.Done != 6 {
		t.Fatalf("exit code %d, %v: %s%s", code, err, stdout, errs)
	}
	if !got.List[0].Skipped && !got.List[1].Skipped {
		t.Error("all clips were done again")
	}
	entries, err := os.ReadDir(filepath.Join(in, "out"))
	if err != nil || len(entries) != 12 {
		t.Errorf("%d files, want 6 clips and 6 sidecars: %v, %v", len(entries), entries, err)
	}
	// All clips are copies of one, so all outputs are equal.
	first, err := os.ReadFile(got.List[0].Output)
	if err != nil || len(first) == 0 {
		t.Fatal(err)
	}
	for _, c := range got.List {
		if data, err := os.ReadFile(c.Output); err != nil || string(data) != string(first) || c.Frames != 120 {
			t.Errorf("%s: %d frames, %v", c.Output, c.Frames, err)
		}
	}
}

func TestOwnDevices(t *testing.T) {
	for _, c := range []struct {
		all         []int
		slot, slots int
		want        []int
	}{
		{[]int{0}, 0, 1, []int{0}},
		{[]int{0}, 1, 2, []int{0}},
		{[]int{0, 1}, 0, 1, []int{0, 1}},
		{[]int{0, 1}, 1, 2, []int{1}},
		{[]int{3, 5, 7}, 0, 2, []int{3, 7}},
		{[]int{3, 5}, 2, 3, []int{3}},
		{nil, 0, 2, nil},
	} {
		if got := ownDevices(c.all, c.slot, c.slots); !slices.Equal(got, c.want) {
			t.Errorf("%v, slot %d of %d: %v, want %v", c.all, c.slot, c.slots, got, c.want)
		}
	}
}

// A sequence or a glob weighs what its pictures do, in what is foretold of the time.
func TestBatchWeighsSequences(t *testing.T) {
	dir := t.TempDir()
	for i, size := range []int{100, 250} {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("p.%04d.exr", i)), make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]int64{"p.####.exr": 350, "p.*.exr": 350, "p.0001.exr": 250, "q.####.exr": 0} {
		if got := (&batch.Job{Input: filepath.Join(dir, name)}).InputSize(); got != want {
			t.Errorf("%s: %d bytes, want %d", name, got, want)
		}
	}
}

// A rule for channels among the defaults is for the clips that it fits.
func TestBatchDefaultsForChannels(t *testing.T) {
	in := clips(t, 1, 2)
	jobs := filepath.Join(in, "jobs.yaml")
	text := "defaults: {slow: 2, mode: blend, vcodec: rawvideo, channel: ['N=mix', Z=nearest]}\nclips:\n  - {input: clip 00 ü.y4m, output: out.nut}\n  - {input: r.####.exr, output: s.####.exr}\n"
	if err := os.WriteFile(jobs, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := run(t, "batch", jobs, "--commands")
	if film, pictures, _ := strings.Cut(stdout, "\n"); code != 0 || strings.Contains(film, "channel") || strings.Count(pictures, "channel") != 2 {
		t.Errorf("exit code %d, %s%s", code, stdout, stderr)
	}
	if _, stderr, _ := run(t, "batch", jobs, "--progress", "lines"); !strings.Contains(stderr, "1 of 2 clips failed") || strings.Contains(stderr, "channel") { // r.####.exr is not there
		t.Errorf("want only the clip that is not there to fail:\n%s", stderr)
	}
}

// The commands of a batch are those that convert each clip alone.
func TestBatchCommands(t *testing.T) {
	in := clips(t, 2, 2)
	jobs := filepath.Join(in, "jobs.yaml")
	err := os.WriteFile(jobs, []byte(`
defaults: {slow: 2, mode: blend, vcodec: rawvideo, output: "out/{name}.nut", sidecar: "out/{name}.jsonl", map: ["0:v", "-0:s"]}
clips:
  - input: clip 00 ü.y4m
    vopt: [b=1, a=2]
  - {input: clip 01 ü.y4m, keep-timestamps: true, output: other.nut}
`), 0o666)
	if err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := run(t, "batch", jobs, "--commands")
	var got [2][]string
	lines := json.NewDecoder(strings.NewReader(stdout))
	for i := range got {
		if err := lines.Decode(&got[i]); err != nil {
			t.Fatalf("exit code %d, %v: %s%s", code, err, stdout, stderr)
		}
	}
	out := filepath.Join(in, "out")
	want := [2][]string{
		{in + "/clip 00 ü.y4m", "--output=" + out + "/clip 00 ü.nut", "--map=0:v", "--map=-0:s", "--mode=blend",
			"--sidecar=" + out + "/clip 00 ü.jsonl", "--slow=2", "--vcodec=rawvideo", "--vopt=a=2", "--vopt=b=1"},
		{in + "/clip 01 ü.y4m", "--output=" + in + "/other.nut", "--keep-timestamps=true", "--map=0:v", "--map=-0:s", "--mode=blend",
			"--sidecar=" + out + "/clip 01 ü.jsonl", "--slow=2", "--vcodec=rawvideo"},
	}
	for i := range want {
		for k, argument := range want[i] {
			want[i][k] = filepath.FromSlash(argument)
		}
		slices.Sort(got[i][2:])
		slices.Sort(want[i][2:])
		if !slices.Equal(got[i], want[i]) {
			t.Errorf("clip %d:\n%q\nwant\n%q", i, got[i], want[i])
		}
	}
	if _, err := os.Stat(filepath.Join(in, "jobs.retime")); err == nil {
		t.Error("--commands leaves a state")
	}
	if _, stderr, code := run(t, append([]string{"batch", in, "--glob", "*.y4m", "-o", out, "--commands"}, plain...)...); code != 0 {
		t.Errorf("a directory: exit code %d, %s", code, stderr)
	}
}
