package pipeline

import (
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"
)

// resident returns this process's resident memory in bytes, after everything that
// Go has no use for went back.
func resident(t *testing.T) int64 {
	t.Helper()
	debug.FreeOSMemory()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skipf("needs /proc to measure memory: %v", err)
	}
	var size, pages int64
	if _, err := fmt.Sscan(string(text), &size, &pages); err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

// A process that converts a thousand clips is as large behind the last as behind
// the first hundred.
func TestNoGrowth(t *testing.T) {
	runs := 1000
	if testing.Short() || raceEnabled {
		runs = 150 // the detector's own memory grows
	}
	dir := t.TempDir()
	plain, sound := writeScene(t, 32, 24, 3, 24, 1), filepath.Join(dir, "sound.mkv")
	ffmpeg(t, "-i", plain, "-f", "lavfi", "-i", "sine=d=0.125", "-map", "0", "-map", "1", "-c:v", "ffv1", "-c:a", "flac", "-pix_fmt", "rgb24", sound)
	broken := filepath.Join(dir, "broken.mkv")
	data, err := os.ReadFile(sound)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(broken, data[:len(data)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	warm := runs / 5
	var before int64
	var handles, routines int
	for i := range runs {
		if i == warm {
			before, handles, routines = resident(t), openFiles(t), runtime.NumGoroutine()
		}
		o := Options{Input: []string{plain, sound}[i%2], Output: filepath.Join(dir, "out.mkv"), Overwrite: true, Threads: 1, Rate: Rate{big.NewRat(2, 1), true}}
		o.VideoCodec = []string{"ffv1", "rawvideo", "libx264"}[i%3]
		switch i % 10 {
		case 7:
			o.Input = broken
		case 8:
			o.Slow, o.Rate = big.NewRat(2, 1), Rate{}
		case 9:
			o.VideoCodec = "no such encoder"
		}
		_, err := Run(t.Context(), o)
		if fails := i%10 == 9; i%10 != 7 && (err != nil) != fails { // half of so short a clip is not missed
			t.Fatalf("run %d: %v", i, err)
		}
		_ = os.Remove(filepath.Join(dir, "out.partial.mkv"))
	}
	after := resident(t)
	if n := openFiles(t); n > handles {
		t.Errorf("%d files are open, %d before", n, handles)
	}
	if n := runtime.NumGoroutine(); n > routines {
		t.Errorf("%d goroutines are left, %d before", n, routines)
	}
	// A kilobyte a run would be a megabyte; the allocators' own swing is larger.
	const swing = 12 << 20
	if !raceEnabled && after > before+swing {
		t.Errorf("memory grew from %.1f to %.1f MB over %d runs", float64(before)/1e6, float64(after)/1e6, runs-warm)
	}
	t.Logf("%.1f MB after %d runs, %.1f MB after %d", float64(before)/1e6, warm, float64(after)/1e6, runs)
}
