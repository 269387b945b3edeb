package pipeline

import (
	"math/big"
	"path/filepath"
	"testing"

	"retime/pipeline/curve"
	"retime/warp"
)

// A picture that begins later than the sound ends when its container says, whether that
// states a stream's length or the time of the file's end.
func TestEndOfALatePicture(t *testing.T) {
	dir := t.TempDir()
	scene := writeScene(t, 32, 24, 24, 24, 1)
	for _, name := range []string{"late.mkv", "late.mp4"} {
		clip := filepath.Join(dir, name)
		ffmpeg(t, "-itsoffset", "0.5", "-i", scene, "-f", "lavfi", "-i", "sine=d=1", "-fps_mode", "passthrough", "-c:v", "mpeg4", "-c:a", "flac", "-strict", "-2", clip)
		o := lossless(t, clip)
		o.Synthesis.Mode, o.Timing.Fit = warp.Nearest, big.NewRat(6, 1)
		if report := mustRun(t, o); report.Frames != 96 { // 1.5 s become 6 s, of which the picture lasts 4
			t.Errorf("%s in 6 s: %d frames, want 96", name, report.Frames)
		}
		o.Timing.Fit = nil
		o.Timing.Curve = []curve.Keyframe{{Speed: big.NewRat(-1, 1), Shape: curve.Linear}, {Source: big.NewRat(1, 2), Speed: big.NewRat(-1, 1), Shape: curve.Linear}}
		if report := mustRun(t, o); report.Frames != 24 {
			t.Errorf("%s backward: %d frames, want 24", name, report.Frames)
		}
	}
}
