package media_test

import (
	"math/big"
	"path/filepath"
	"testing"

	"retime/pipeline/timeline/curve"
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
		if report := mustRun(t, o); report.Frames != 144 || report.Rate.Cmp(big.NewRat(24, 1)) != 0 { // 1 s of picture becomes 6
			t.Errorf("%s in 6 s: %d frames, want 144", name, report.Frames)
		}
		o.Timing.Fit = nil
		o.Timing.Curve = []curve.Keyframe{{Speed: big.NewRat(-1, 1), Shape: curve.Linear}, {Source: big.NewRat(1, 2), Speed: big.NewRat(-1, 1), Shape: curve.Linear}}
		if report := mustRun(t, o); report.Frames != 24 {
			t.Errorf("%s backward: %d frames, want 24", name, report.Frames)
		}
	}
}

// The last frame of a rate that varies is shown until the stream's stated end, too, if the
// file states no durations of frames.
func TestLastFrameOfARateThatVaries(t *testing.T) {
	dir := t.TempDir()
	source, clip := filepath.Join(dir, "source.mp4"), filepath.Join(dir, "clip.mp4")
	ffmpeg(t, "-i", writeScene(t, 64, 48, 96, 30, 1), "-vf", "select='not(eq(mod(n,5),2))*not(eq(mod(n,11),8))'", "-fps_mode", "vfr", "-c:v", "libx264", source)
	ffmpeg(t, "-i", source, "-fps_mode", "passthrough", "-enc_time_base", "-1", "-c:v", "libx264", clip)
	o := lossless(t, clip)
	o.Synthesis.Mode, o.Timing.Slow = warp.Nearest, big.NewRat(2, 1)
	if report := mustRun(t, o); report.Frames != 192 {
		t.Errorf("%d frames, want 192", report.Frames)
	}
}
