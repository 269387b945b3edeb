package media_test

import (
	"path/filepath"
	"strings"
	"testing"

	"retime/pipeline"
	"retime/warp"
)

// DV says of each frame whether it is interlaced, as the source does.
func TestDVIsMarkedAsTheSource(t *testing.T) {
	dir := t.TempDir()
	for filter, want := range map[string]string{"null": "0", "setfield=bff": "1"} {
		in, out := filepath.Join(dir, "in.avi"), filepath.Join(dir, "out.dv")
		ffmpeg(t, "-y", "-f", "lavfi", "-i", "color=gray:s=720x576:r=25:d=0.08", "-vf", filter, "-c:v", "ffv1", "-level", "3", in)
		mustRun(t, pipeline.Options{
			Input: pipeline.Input{File: in, Deinterlace: pipeline.IgnoreFields}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}, Output: pipeline.Output{File: out, Overwrite: true},
		})
		if got := ffprobe(t, out, "frame=interlaced_frame"); strings.Count(got, "interlaced_frame="+want) != 2 {
			t.Errorf("%s: %q, want %s", filter, got, want)
		}
	}
}
