package restore

import (
	"log/slog"
	"math"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"retime/pipeline/media"
	"retime/warp"
)

// Containers and codecs that count frames state the source's rate, whatever the unit of its timestamps. A gap stays in AVI;
// where it cannot, the log says so.
func TestKeptTimesThatAreCounted(t *testing.T) {
	dir := t.TempDir()
	even, gap := filepath.Join(dir, "even.mkv"), filepath.Join(dir, "gap.mkv")
	ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=352x288:d=0.4:r=30", "-f", "lavfi", "-i", "sine=d=0.4:r=48000", "-vf", "settb=1/90000,setpts=PTS+1480", "-fps_mode", "passthrough", "-enc_time_base", "1:1000", "-pix_fmt", "yuv420p", "-c:v", "ffv1", "-c:a", "pcm_s16le", even)
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
		gaps, smart bool
	}{
		{"a.avi", "ffv1", true, false}, {"b.avi", "mpeg4", true, false}, {"a.mkv", "mpeg4", true, false}, {"a.mp4", "mpeg4", true, false},
		{"a.y4m", "", false, false}, {"a.h264", "libx264", false, false}, {"a.mxf", "mpeg2video", false, false}, {"smart.avi", "ffv1", true, true},
	} {
		for _, clip := range []string{even, gap} {
			var said strings.Builder
			o := options(t, clip)
			o.Damage, o.SmartCopy = frames(t, "1"), c.smart
			o.Convert.Synthesis.Mode = warp.Blend
			o.Convert.Output.File, o.Convert.Output.VideoCodec, o.Convert.Output.Overwrite = filepath.Join(dir, c.name), c.codec, true
			o.Convert.Hooks.Log = slog.New(slog.NewTextHandler(&said, nil))
			mustRun(t, o)
			r, err := media.Open(t.Context(), o.Convert.Output.File, media.ReaderOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			rate, base := r.Video().Rate.RatString(), r.Video().TimeBase.RatString()
			if rate != "30" || filepath.Ext(c.name) == ".avi" && base != "1/30" {
				t.Errorf("%s of %s states rate %s and time base %s", c.name, filepath.Base(clip), rate, base)
			}
			if warned := strings.Contains(said.String(), "are not shown at their times"); warned != (clip == gap && !c.gaps) {
				t.Errorf("%s of %s: said %q", c.name, filepath.Base(clip), said.String())
			}
		}
	}
	// The first picture's time is half a frame off the grid, where each rounded by itself would leave gaps.
	for _, name := range []string{"a.avi", "smart.avi"} {
		if times, want := probed(filepath.Join(dir, name), "packet=dts"), "0 1 2 3 6 7 8 9 10 11"; times != want {
			t.Errorf("%s with a gap: frames at %s, want %s", name, times, want)
		}
	}
}

// What lies on no grid of one rate keeps its times in AVI, where empty frames are between.
func TestKeptTimesOnNoGrid(t *testing.T) {
	dir := t.TempDir()
	clip := filepath.Join(dir, "in.mkv")
	ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=64x48:r=24:d=2", "-vf", "settb=1/1000,setpts='if(lt(N,24),N*125/3,1000+(N-24)*50/3)'", "-fps_mode", "passthrough", "-enc_time_base", "1:1000", "-c:v", "ffv1", clip)
	_, want := readAll(t, clip)
	for _, c := range []struct{ name, codec string }{{"a.avi", "ffv1"}, {"b.avi", "mpeg4"}, {"a.mp4", "mpeg4"}} {
		o := options(t, clip)
		o.Damage, o.Convert.Synthesis.Mode = frames(t, "1"), warp.Blend
		o.Convert.Output.File, o.Convert.Output.VideoCodec = filepath.Join(dir, c.name), c.codec
		mustRun(t, o)
		r, err := media.Open(t.Context(), o.Convert.Output.File, media.ReaderOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		base, _ := r.Video().TimeBase.Float64()
		_, got := readAll(t, o.Convert.Output.File)
		for k := range want {
			if at := float64(got[k]-got[0]) * base; len(got) != len(want) || math.Abs(at-float64(want[k]-want[0])/1000) > 0.002 {
				t.Errorf("%s: frame %d of %d at %.4f s, want %d ms", c.name, k, len(got), at, want[k]-want[0])
				break
			}
		}
	}
}
