package media_test

import (
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"retime/pipeline"
	"retime/warp"
)

// Subtitles that last for hours, and pauses of hours, go through in timed text, whose samples are
// shorter: converted from SubRip and as they are, at the source's speed and slower.
func TestHoursOfTimedText(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "s.srt")
	if err := os.WriteFile(text, []byte("1\n00:00:01,000 --> 03:30:00,000\nlong\n\n2\n08:00:00,000 --> 08:00:20,000\nlater\n\n3\n15:00:00,000 --> 15:00:20,000\nlatest\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	clip := filepath.Join(dir, "in.mkv")
	ffmpeg(t, "-f", "lavfi", "-i", "color=gray:s=64x48:r=0.01:d=55000", "-i", text, "-c:v", "ffv1", "-c:s", "srt", clip)
	tags := regexp.MustCompile("<[^>]*>")
	// shows lists the texts that are shown, joined where they follow at once.
	shows := func(name string) (list []string) {
		var last, from, to float64
		text := ""
		add := func() {
			if text != "" {
				list = append(list, fmt.Sprintf("%s %.2f %.2f", text, from, to))
			}
		}
		for _, p := range strings.Split(tags.ReplaceAllString(ffmpeg(t, "-i", name, "-map", "0:s", "-c:s", "srt", "-f", "srt", "-"), ""), "\n\n") {
			lines := strings.Split(strings.TrimSpace(p), "\n")
			if len(lines) < 3 {
				continue
			}
			var a, b [4]float64
			if _, err := fmt.Sscanf(strings.ReplaceAll(lines[1], ",", "."), "%f:%f:%f --> %f:%f:%f", &a[0], &a[1], &a[2], &b[0], &b[1], &b[2]); err != nil {
				t.Fatal(err)
			}
			begin, end := a[0]*3600+a[1]*60+a[2], b[0]*3600+b[1]*60+b[2]
			if lines[2] != text || begin > last+0.02 {
				add()
				text, from = lines[2], begin
			}
			last, to = end, end
		}
		add()
		return list
	}
	mp4 := filepath.Join(dir, "out.mp4")
	for _, c := range []struct {
		input, output string
		slow          int64
		want          []string
	}{
		{clip, mp4, 1, []string{"long 1.00 12600.00", "later 28800.00 28820.00", "latest 54000.00 54020.00"}},
		{mp4, filepath.Join(dir, "same.mp4"), 1, []string{"long 1.00 12600.00", "later 28800.00 28820.00", "latest 54000.00 54020.00"}},
		{mp4, filepath.Join(dir, "slow.mov"), 2, []string{"long 2.00 25200.00", "later 57600.00 57640.00", "latest 108000.00 108040.00"}},
	} {
		o := pipeline.Options{Input: pipeline.Input{File: c.input}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}, Output: pipeline.Output{File: c.output}}
		o.Timing.Slow = big.NewRat(c.slow, 1)
		mustRun(t, o)
		if got := shows(c.output); !slices.Equal(got, c.want) {
			t.Errorf("%s shows %q, want %q", filepath.Base(c.output), got, c.want)
		}
	}
}
