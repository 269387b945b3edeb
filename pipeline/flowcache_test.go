package pipeline_test

import (
	"bytes"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/testdata/posix"
)

// wantWarnings says that there is one for each of the texts and no other.
func wantWarnings(t testing.TB, what, said string, texts ...string) {
	t.Helper()
	if n := strings.Count(said, "level=WARN"); n != len(texts) {
		t.Errorf("%s: %d warnings, want %d:\n%s", what, n, len(texts), said)
	}
	for _, text := range texts {
		if !strings.Contains(said, text) {
			t.Errorf("%s: no warning has %q:\n%s", what, text, said)
		}
	}
}

// A run whose cache is damaged throughout makes the same frames, and says so once for
// all its workers.
func TestDamagedFlowCacheInARun(t *testing.T) {
	dir := t.TempDir()
	var said bytes.Buffer
	var frames []pipeline.Digest
	o := pipeline.Options{
		Input:     pipeline.Input{File: writeScene(t, 72, 50, 9, 24, 1)},
		Output:    pipeline.Output{File: "-", Format: "null", VideoCodec: "rawvideo"},
		Timing:    pipeline.Timing{Rate: pipeline.Rate{Value: ratio("2"), Multiple: true}},
		Synthesis: pipeline.Synthesis{Preset: pipeline.Fast},
		Compute:   pipeline.Compute{Threads: 4, Backend: pipeline.CPU},
		Hooks:     pipeline.Hooks{Log: slog.New(slog.NewTextHandler(&said, nil)), Digest: func(_ int64, d pipeline.Digest) { frames = append(frames, d) }},
	}
	mustRun(t, o)
	want := frames
	o.Synthesis.FlowCache = dir
	run := func(what string, warnings ...string) {
		t.Helper()
		frames = nil
		said.Reset()
		mustRun(t, o)
		if !slices.Equal(frames, want) {
			t.Errorf("%s: frames differ", what)
		}
		wantWarnings(t, what, said.String(), warnings...)
	}
	run("nothing kept")
	files, err := filepath.Glob(filepath.Join(dir, "*.flow"))
	if err != nil || len(files) < 8 {
		t.Fatalf("files %q: %v", files, err)
	}
	for _, name := range files {
		must(t, os.Truncate(name, 100))
	}
	run("cut", "estimated again")
	run("replaced")
	must(t, os.RemoveAll(dir))
	must(t, os.Symlink("nowhere", dir))
	if _, err := pipeline.Run(t.Context(), o); fault.KindOf(err) != fault.CannotWrite {
		t.Errorf("no directory: error %v", err)
	}
}

// roomEnv is set in a process that may write short files only.
const roomEnv = "RETIME_TEST_SHORT_FILES"

// A write that fails in the middle of a file, as on a full disk, leaves nothing, and
// the run goes on.
func TestFlowCacheWithoutRoom(t *testing.T) {
	if os.Getenv(roomEnv) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestFlowCacheWithoutRoom$")
		cmd.Env = append(os.Environ(), roomEnv+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v:\n%s", err, out)
		}
		return
	}
	dir, input := t.TempDir(), writeScene(t, 72, 50, 5, 24, 1)
	must(t, posix.LimitFiles(t, 1000))
	var said bytes.Buffer
	mustRun(t, pipeline.Options{
		Input:     pipeline.Input{File: input},
		Output:    pipeline.Output{File: "-", Format: "null", VideoCodec: "rawvideo"},
		Timing:    pipeline.Timing{Rate: pipeline.Rate{Value: ratio("2"), Multiple: true}},
		Synthesis: pipeline.Synthesis{Preset: pipeline.Fast, FlowCache: dir},
		Compute:   pipeline.Compute{Threads: 4, Backend: pipeline.CPU},
		Hooks:     pipeline.Hooks{Log: slog.New(slog.NewTextHandler(&said, nil))},
	})
	wantWarnings(t, "no room", said.String(), "file too large")
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("%v is left: %v", entries, err)
	}
}
