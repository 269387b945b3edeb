package restore

import (
	"log/slog"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"retime/warp"
)

// Containers and codecs that count frames state the source's rate, whatever the unit of its timestamps. A gap stays in AVI;
// where it cannot, the log says so.
func TestKeptTimesThatAreCounted(t *testing.T) {
	const rate = "30000/1001"
	dir := t.TempDir()
	even, gap := filepath.Join(dir, "even.mkv"), filepath.Join(dir, "gap.mkv")
	ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=352x288:d=0.4:r="+rate, "-f", "lavfi", "-i", "sine=d=0.4:r=48000", "-vf", "settb=1/90000,setpts=PTS+1480", "-fps_mode", "passthrough", "-enc_time_base", "1:1000", "-pix_fmt", "yuv420p", "-c:v", "ffv1", "-c:a", "pcm_s16le", even)
	ffmpeg(t, "-copyts", "-i", even, "-vf", "select='not(between(n,4,5))'", "-fps_mode", "passthrough", "-enc_time_base", "1:1000", "-c:v", "ffv1", "-c:a", "copy", gap)
	probed := func(file, entries string) string {
		out, err := exec.Command("ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", entries, "-of", "csv=p=0", file).Output()
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		return strings.NewReplacer("\n", " ", ",", "").Replace(strings.TrimSpace(string(out)))
	}
	for _, c := range []struct {
		name, codec string
		gaps        bool
	}{
		{"a.avi", "ffv1", true}, {"b.avi", "mpeg4", true}, {"a.mkv", "mpeg4", true}, {"a.mp4", "mpeg4", true},
		{"a.y4m", "", false}, {"a.h264", "libx264", false}, {"a.mxf", "mpeg2video", false},
	} {
		for _, clip := range []string{even, gap} {
			var said strings.Builder
			o := options(t, clip)
			o.Damage = frames(t, "1")
			o.Convert.Synthesis.Mode = warp.Blend
			o.Convert.Output.File, o.Convert.Output.VideoCodec, o.Convert.Output.Overwrite = filepath.Join(dir, c.name), c.codec, true
			o.Convert.Hooks.Log = slog.New(slog.NewTextHandler(&said, nil))
			mustRun(t, o)
			if stated := probed(o.Convert.Output.File, "stream=r_frame_rate"); stated != rate {
				t.Errorf("%s of %s states rate %s", c.name, filepath.Base(clip), stated)
			}
			if warned := strings.Contains(said.String(), "only a rate"); warned != (clip == gap && !c.gaps) {
				t.Errorf("%s of %s: said %q", c.name, filepath.Base(clip), said.String())
			}
		}
	}
	// The first picture's time is half a frame off the grid, where each rounded by itself would leave gaps.
	if times, want := probed(filepath.Join(dir, "a.avi"), "packet=dts"), "0 1 2 3 6 7 8 9 10 11"; times != want {
		t.Errorf("AVI with a gap: frames at %s, want %s", times, want)
	}
}
