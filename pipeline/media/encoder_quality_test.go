package media_test

import (
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"retime/internal/cliptest"
	"retime/pipeline"
	"retime/pipeline/timeline"
	"retime/warp"
)

// An encoder of which no quality is asked writes pictures that are close to the source's, whatever FFmpeg's bit rate for all
// codecs is, and within what players of discs take.
func TestEncodersKeepPicturesClose(t *testing.T) {
	dir := t.TempDir()
	clip := filepath.Join(dir, "in.mp4")
	ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=176x144:r=25", "-vf", "noise=alls=12:allf=t", "-frames:v", "3", "-c:v", "libx264", "-crf", "4", "-pix_fmt", "yuv420p", clip)
	source, _, v := readAll(t, clip)
	available := cliptest.Program(t, "ffmpeg", "-hide_banner", "-encoders")
	for _, c := range []struct{ codec, file string }{
		{"", "o.vob"}, {"", "o.mxf"}, {"", "o.m2v"}, {"", "o.m1v"}, {"", "o.ogv"}, {"", "o.ivf"}, {"", "o.asf"},
		{"flv", "o.flv"}, {"h261", "o.nut"}, {"h263", "o.nut"}, {"h263p", "o.nut"}, {"libxvid", "o.avi"}, {"mpeg4", "o.avi"}, {"msmpeg4v2", "o.avi"},
		{"msmpeg4", "o.avi"}, {"snow", "o.nut"}, {"speedhq", "o.nut"}, {"svq1", "o.mov"}, {"wmv1", "o.wmv"}, {"wmv2", "o.wmv"}, {"libvpx", "o.webm"},
	} {
		if c.codec != "" && !strings.Contains(available, " "+c.codec+" ") {
			continue
		}
		o := pipeline.Options{
			Input: pipeline.Input{File: clip}, Synthesis: pipeline.Synthesis{Mode: warp.Nearest},
			Output: pipeline.Output{File: filepath.Join(dir, c.file), VideoCodec: c.codec, Overwrite: true},
			Hooks:  pipeline.Hooks{Log: slog.New(slog.NewTextHandler(io.Discard, nil))},
		}
		o.Timing.Rate, _ = timeline.ParseRate("2x")
		mustRun(t, o)
		made, _, _ := readAll(t, o.Output.File)
		if len(made) < 5 {
			t.Errorf("%s in %s: %d frames, want 5", c.codec, c.file, len(made))
			continue
		}
		for n, want := range source {
			if got := psnr(made[2*n][:v.Width*v.Height], want[:v.Width*v.Height]); got < 33 {
				t.Errorf("%s in %s: frame %d is %.1f dB from the source's", c.codec, c.file, n, got)
			}
		}
	}
}
