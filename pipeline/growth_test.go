package pipeline_test

import (
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"retime/internal/cliptest"
	"retime/internal/heap"
	"retime/pipeline"
)

// footprint is what a process holds.
type footprint struct {
	anonymous, c, goHeap int64 // bytes
	files, routines      int
}

// measure takes everything back first that Go and malloc have no use for.
func measure(t *testing.T) footprint {
	t.Helper()
	debug.FreeOSMemory()
	heap.Trim()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	c, _ := heap.InUse()
	return footprint{anonymous(t), c, int64(m.HeapAlloc), cliptest.OpenFiles(t), runtime.NumGoroutine()}
}

// anonymous returns how many bytes of memory the process has that no file holds. How
// much of its libraries lies in memory depends on what the system keeps of their files.
func anonymous(t *testing.T) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skipf("needs /proc to measure memory: %v", err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			var kB int64
			if _, err := fmt.Sscan(rest, &kB); err != nil {
				t.Fatal(err)
			}
			return kB << 10
		}
	}
	t.Fatal("/proc/self/status has no RssAnon")
	return 0
}

// A process that converts a thousand clips holds as much after the last as after the
// first few hundred. Its size alone swings by megabytes, as glibc keeps what threads
// have freed; so the runs are made in a process where it does not, and what C has
// allocated is counted to the byte.
func TestNoGrowth(t *testing.T) {
	if _, ok := heap.InUse(); !ok {
		t.Skip("needs glibc 2.33 to count what C has allocated")
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestManyRuns$", "-test.v", fmt.Sprintf("-test.short=%t", testing.Short()))
	cmd.Env = append(os.Environ(), manyRuns+"=1", "GLIBC_TUNABLES="+heap.Exact, "GOMAXPROCS=1") // each thread holds some C memory of its own
	out, err := cmd.CombinedOutput()
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, ".go:") {
			t.Log(strings.TrimSpace(line))
		}
	}
	if err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
}

// manyRuns is set in the environment of TestNoGrowth's process.
const manyRuns = "RETIME_TEST_MANY_RUNS"

func TestManyRuns(t *testing.T) {
	if os.Getenv(manyRuns) == "" {
		t.Skip("TestNoGrowth runs this in a process of its own")
	}
	runs := 1000
	if testing.Short() || cliptest.Race {
		runs = 120
	}
	dir := t.TempDir()
	plain, rich := writeScene(t, 32, 24, 3, 24, 1), filepath.Join(dir, "rich.mkv")
	text := filepath.Join(dir, "s.srt")
	if err := os.WriteFile(text, []byte("1\n00:00:00,010 --> 00:00:00,090\n<i>hello</i>\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ffmpeg(t, "-i", plain, "-f", "lavfi", "-i", "sine=d=0.125", "-i", text, "-map", "0", "-map", "1", "-map", "2", "-c:v", "ffv1", "-c:a", "flac", "-pix_fmt", "rgb24", rich)
	broken := filepath.Join(dir, "broken.mkv")
	data, err := os.ReadFile(rich)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(broken, data[:len(data)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	var before footprint
	warm := runs / 4
	for i := range runs {
		if i == warm {
			before = measure(t)
		}
		o := pipeline.Options{Input: pipeline.Input{File: []string{plain, rich}[i%2]}, Output: pipeline.Output{File: filepath.Join(dir, "out.mkv"), Overwrite: true}, Compute: pipeline.Compute{Threads: 1}, Timing: pipeline.Timing{Rate: pipeline.Rate{Value: big.NewRat(2, 1), Multiple: true}}}
		o.Output.VideoCodec = []string{"ffv1", "rawvideo", "libx264"}[i%3]
		switch i % 10 {
		case 5: // subtitles in another format
			o.Output.File, o.Output.VideoCodec = filepath.Join(dir, "out.mp4"), "mpeg4"
		case 7:
			o.Input.File = broken
		case 8:
			o.Input.File, o.Timing.Slow, o.Timing.Rate = rich, big.NewRat(2, 1), pipeline.Rate{}
		case 9:
			o.Output.VideoCodec = "no such encoder"
		}
		_, err := pipeline.Run(t.Context(), o)
		if fails := i%10 == 9; i%10 != 7 && (err != nil) != fails { // half of so short a clip is not missed
			t.Fatalf("run %d: %v", i, err)
		}
		_ = os.Remove(filepath.Join(dir, "out.partial.mkv"))
	}
	after := measure(t)
	if after.files > before.files {
		t.Errorf("%d files are open, %d before", after.files, before.files)
	}
	if n := cliptest.RoutinesLeft(before.routines); n > before.routines {
		t.Errorf("%d goroutines are left, %d before", n, before.routines)
	}
	// A thread more or less is a kilobyte or two of C's. Malloc hands out 24 bytes at
	// least, so that what is lost in every second run of the thousand shows.
	const cSwing, goSwing, swing = 8 << 10, 1 << 20, 4 << 20
	if d := after.c - before.c; d > cSwing {
		t.Errorf("C holds %d bytes more after %d runs", d, runs-warm)
	}
	if d := after.goHeap - before.goHeap; d > goSwing {
		t.Errorf("Go holds %d bytes more after %d runs", d, runs-warm)
	}
	if d := after.anonymous - before.anonymous; d > swing && runs == 1000 { // a hundred are not enough for pages to settle
		t.Errorf("the process is %d bytes larger after %d runs", d, runs-warm)
	}
	t.Logf("after %d runs: C %d, Go %d, in all %d bytes; after %d: C %d, Go %d, in all %d", warm, before.c, before.goHeap, before.anonymous,
		runs, after.c, after.goHeap, after.anonymous)
}
