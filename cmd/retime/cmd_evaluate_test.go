package main

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/pflag"

	"retime/pipeline/fault"
	"retime/testdata/posix"
)

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestEvaluate(t *testing.T) {
	dir := t.TempDir()
	quick := writeFile(t, filepath.Join(dir, "quick.yaml"), "# cheap\nmode: blend\n")
	slow := writeFile(t, filepath.Join(dir, "slow.yml"), "preset: fast\norder: 1\n")
	report := filepath.Join(dir, "report")
	stdout, stderr, code := run(t, "evaluate", clip(t, 64, 48, 9), "--report", report, "--settings", quick+","+slow,
		"--peer", "nearest", "--every", "3", "--worst", "1", "--progress", "json")
	if code != 0 || !strings.Contains(stdout, "pessimistic") || !strings.Contains(stdout, "\nworst: 0:00.") || !strings.Contains(stdout, "report.html") {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	var last struct{ Frames, Total int }
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || last.Frames != 12 || last.Total != 12 {
		t.Errorf("the last progress is %q", lines[len(lines)-1])
	}
	data, err := os.ReadFile(filepath.Join(report, "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		Every   int
		Frames  []struct{ Index int }
		Worst   []int
		Methods []struct {
			Name, Kind string
			Values     map[string]string
		}
	}
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	if r.Every != 3 || len(r.Frames) != 2 || r.Frames[1].Index != 5 || len(r.Worst) != 1 {
		t.Errorf("every %d, frames %v, worst %v", r.Every, r.Frames, r.Worst)
	}
	var names []string
	for _, m := range r.Methods {
		names = append(names, m.Kind+" "+m.Name)
	}
	if want := []string{"retime quick", "retime slow", "peer nearest"}; !slices.Equal(names, want) {
		t.Fatalf("methods %q, want %q", names, want)
	}
	if v := r.Methods[1].Values; v["preset"] != "fast" || v["order"] != "1" || v["mode"] != "project" || v["output"] != "" {
		t.Errorf("settings %v", v)
	}

	_, stderr, code = run(t, "evaluate", clip(t, 64, 48, 3), "--report", report)
	if code != int(fault.CannotWrite) || !strings.Contains(stderr, "-y") {
		t.Errorf("an existing report: exit code %d, %s", code, stderr)
	}
}

// A command from the command line makes frames beside retime. One that fails is named, and
// the evaluation goes on.
func TestEvaluateCommands(t *testing.T) {
	in := clip(t, 64, 48, 5)
	report := filepath.Join(t.TempDir(), "report")
	stdout, stderr, code := run(t, "evaluate", in, "--report", report, "--no-vif", "--peer", "truth=cat "+in, "--peer", "broken=exit 7", "--progress", "none")
	if code != 0 || !strings.Contains(stderr, "broken") || !strings.Contains(stderr, "exit status 7") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
	if !regexp.MustCompile(`\ntruth +\+Inf `).MatchString(stdout) || strings.Contains(stdout, "\nbroken") {
		t.Errorf("printed\n%s", stdout)
	}
}

// A signal that ends the evaluation ends all that a peer's command has started.
func TestEvaluateCommandTerminated(t *testing.T) {
	dir := t.TempDir()
	started, temporary := filepath.Join(dir, "started"), filepath.Join(dir, "temporary")
	if err := errors.Join(posix.Mkfifo(t, started, 0o600), os.Mkdir(temporary, 0o700)); err != nil {
		t.Fatal(err)
	}
	report := filepath.Join(dir, "report")
	cmd := program("evaluate", clip(t, 64, 48, 5), "--report", report, "--no-vif", "--progress", "none",
		"--peer", "hangs=exec 3>"+started+"; (trap '' TERM; sleep 1000) & echo started >&3; sleep 1000")
	cmd.Env = append(cmd.Environ(), "TMPDIR="+temporary)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	pipe, err := os.Open(started)
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	if _, err := io.ReadFull(pipe, make([]byte, len("started\n"))); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	if code := ends(t, cmd); code != int(fault.Cancelled) {
		t.Errorf("exit code %d", code)
	}
	// The pipe ends once nobody has it open for writing any more.
	if _, err := io.Copy(io.Discard, pipe); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if _, err := os.Stat(report); err == nil {
		t.Error("a report was left behind")
	}
}

func TestEvaluateExitCodes(t *testing.T) {
	in, dir := clip(t, 64, 48, 5), t.TempDir()
	report := filepath.Join(dir, "report")
	bad := writeFile(t, filepath.Join(dir, "bad.yaml"), "presset: best\n")
	for _, c := range []struct {
		args []string
		code fault.Kind
	}{
		{[]string{"--report", report}, fault.Usage},
		{[]string{in}, fault.Usage},
		{[]string{in, in, "--report", report}, fault.Usage},
		{[]string{"-", "--report", report}, fault.Usage},
		{[]string{in, "--report", report, "--every", "0"}, fault.Usage},
		{[]string{in, "--report", report, "--every", "20"}, fault.Usage},
		{[]string{in, "--report", report, "--peer", "magic"}, fault.Usage},
		{[]string{in, "--report", report, "--peer", "blend", "--peer", "blend"}, fault.Usage},
		{[]string{in, "--report", report, "--peer", "minterpolate=magic=1"}, fault.Usage},
		{[]string{in, "--report", report, "--peer", "none=true"}, fault.Usage},
		{[]string{in, "--report", report, "--peer", "other="}, fault.Usage},
		{[]string{in, "--report", report, "--regions", "51"}, fault.Usage},
		{[]string{in, "--report", report, "--settings", bad}, fault.Usage},
		{[]string{in, "--report", report, "--settings", "missing.yaml"}, fault.NoInput},
		{[]string{in, "--report", report, "--from", "soon"}, fault.Usage},
		{[]string{in, "--report", report, "--progress", "magic"}, fault.Usage},
		{[]string{"missing.mp4", "--report", report}, fault.NoInput},
		{[]string{"main_test.go", "--report", report}, fault.BadData},
		{[]string{in, "--report", "/proc/report"}, fault.CannotWrite},
	} {
		_, stderr, code := run(t, append([]string{"evaluate"}, c.args...)...)
		if code != int(c.code) || strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "retime: ") {
			t.Errorf("retime evaluate %s: exit code %d, want %d, and one line:\n%s", strings.Join(c.args, " "), code, c.code, stderr)
		}
	}
	if _, err := os.Stat(report); err == nil {
		t.Error("a report was left behind")
	}
}

func TestParseSetting(t *testing.T) {
	for _, c := range []struct {
		text string
		want map[string]string // beside the defaults
		says string            // in the error
	}{
		{text: ""},
		{text: "# nothing\n"},
		{text: "---\npreset: best\n...\n", want: map[string]string{"preset": "best"}},
		{text: "preset: best\nmode: 'splat'\nthreads: 2\n", want: map[string]string{"preset": "best", "mode": "splat", "threads": "2"}},
		{text: "{order: 1, flow: farneback}", want: map[string]string{"order": "1", "flow": "farneback"}},
		{text: "preset: best\n\npresset: fast\n", says: `line 3: no setting "presset"; choose from mode, flow`},
		{text: "peer: \"other=touch x\"\n", says: `line 1: no setting "peer"`},
		{text: "output: x.mp4\n", says: `line 1: no setting "output"`},
		{text: "resume: true\n", says: `line 1: no setting "resume"`},
		{text: "preset: best\nsegment-seconds: 3\n", says: `line 2: no setting "segment-seconds"`},
		{text: "preset: best\npreset: fast\n", says: `line 2: `},
		{text: "order: three\n", says: `line 1: order: "three"`},
		{text: "preset: [best]\n", says: "line 1: preset: want a word or a number"},
		{text: "preset:\n", says: "line 1: preset: want a word or a number"},
		{text: "\n- best\n", says: "line 2: want settings"},
		{text: "best\n", says: "line 1: want settings"},
		{text: "preset: best\n---\npreset: fast\n", says: "2 documents: want one"},
		{text: "preset: \"best\n", says: "line 1: "},
	} {
		s, err := parseSetting([]byte(c.text))
		if c.says != "" {
			if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%q: error %v, want one line with %q", c.text, err, c.says)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		plain, err := parseSetting(nil)
		if err != nil {
			t.Fatal(err)
		}
		want := plain.Values
		maps.Copy(want, c.want)
		if !maps.Equal(s.Values, want) {
			t.Errorf("%q: settings %v, want %v", c.text, s.Values, want)
		}
	}
	s, err := parseSetting([]byte("preset: best\nmode: splat\norder: 1\nthreads: 3\n"))
	if o := s.Convert; err != nil || o.Synthesis.Preset != "best" || o.Synthesis.Mode != "splat" || *o.Synthesis.Order != 1 || o.Compute.Threads != 3 {
		t.Errorf("options %+v, %v", o, err)
	}
}

// Every setting changes the options of the frames; no other flag is in reports.
func TestSettingsAreOptions(t *testing.T) {
	dir := t.TempDir()
	scenes, mask := writeFile(t, filepath.Join(dir, "scenes.txt"), "1\n"), writeFile(t, filepath.Join(dir, "mask.pgm"), "P5 1 1 255 x")
	other := map[string]string{
		"scene-threshold": "0.5", "scenes": scenes, "static-mask": mask, "matte": mask, "blend-below": "0.5", "nearest-below": "0.5", "inverse-telecine": "true",
		"threads": "2", "device": "1", "device-memory": "1G",
	}
	plain, err := parseSetting(nil)
	if err != nil {
		t.Fatal(err)
	}
	var o ConvertOptions
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	o.AddFlags(flags)
	for _, name := range settingNames(flags) {
		f := flags.Lookup(name)
		value := other[name]
		for _, v := range definition(f).values {
			if v != f.DefValue {
				value = v
			}
		}
		s, err := parseSetting([]byte(name + ": " + value))
		if err != nil || reflect.DeepEqual(s.Convert, plain.Convert) {
			t.Errorf("%s: %q changes no option: %v", name, value, err)
		}
		if s.Values[name] != value {
			t.Errorf("%s: %q is reported as %q", name, value, s.Values[name])
		}
	}
	want := []string{
		"backend", "blend-below", "device", "flow", "gpu-fault", "kernel", "mode", "nearest-below", "order", "preset",
		"scene-threshold", "static", "threads",
	}
	if got := slices.Sorted(maps.Keys(plain.Values)); !slices.Equal(got, want) {
		t.Errorf("a report lists %q, want %q", got, want)
	}
}

func FuzzParseSetting(f *testing.F) {
	for _, s := range []string{"preset: best\n", "{order: 1}", "a: &b c\nd: *b\n", "? x\n: y\n", "- 1", "\"", "!!int 3: 4", "<<: {preset: best}", "1\n---"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := parseSetting(data)
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: more than a line: %q", data, err)
		}
		if err == nil && s.Convert.Synthesis.Preset == "" && s.Values["preset"] != "" {
			t.Errorf("%q: options %+v, shown as %v", data, s.Convert, s.Values)
		}
	})
}
