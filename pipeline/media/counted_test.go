package media_test

import (
	"math/big"
	"path/filepath"
	"testing"

	"retime/pipeline"
	"retime/warp"
)

// AVI, which counts frames, has empty ones where kept timestamps of a source that is slowed down by a fraction lie off the grid.
func TestSlowedTimesInAVI(t *testing.T) {
	o := lossless(t, writeScene(t, 48, 32, 6, 30, 1))
	o.Output.File = filepath.Join(t.TempDir(), "out.avi")
	o.Timing, o.Synthesis.Mode = pipeline.Timing{KeepTimestamps: true, Slow: big.NewRat(3, 2)}, warp.Nearest
	mustRun(t, o)
	_, stamps, _ := readAll(t, o.Output.File)
	if len(stamps) != 6 {
		t.Errorf("%d frames, want 6", len(stamps))
	}
	for k, at := range stamps {
		if want := big.NewRat(int64(k), 20); at.Cmp(want) != 0 {
			t.Errorf("frame %d at %s, want %s", k, at, want)
		}
	}
}
