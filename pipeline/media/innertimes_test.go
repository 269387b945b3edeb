package media_test

import (
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"retime/pipeline"
	"retime/warp"
)

// Times within subtitles, of karaoke, fades and inner timestamps, stay with the pictures.
func TestTimesWithinSubtitles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	ass := write("s.ass", "[Script Info]\nScriptType: v4.00+\n\n[V4+ Styles]\nFormat: Name\nStyle: Default\n\n[Events]\nFormat: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n"+
		`Dialogue: 0,0:00:00.50,0:00:01.50,Default,,0,0,0,,{\k50\move(1,2,3,4,0,1000)}la{\k50}lo`+"\n")
	vtt := write("s.vtt", "WEBVTT\n\n00:00.500 --> 00:01.500\nla<00:01.000>lo\n")
	for _, c := range []struct {
		name, text string
		args       []string
	}{{"a.mkv", ass, []string{"-c:v", "ffv1"}}, {"a.webm", vtt, []string{"-c:v", "libvpx", "-deadline", "realtime"}}} {
		clip := filepath.Join(dir, c.name)
		ffmpeg(t, append(append([]string{"-f", "lavfi", "-i", "color=gray:s=64x48:r=20:d=2", "-i", c.text, "-c:s", "copy"}, c.args...), clip)...)
		for _, to := range []struct {
			name      string
			set       func(*pipeline.Options)
			karaoke   string // of the ASS
			timestamp string // of the WebVTT
		}{
			{"whole", func(*pipeline.Options) {}, `{\k50\move(1,2,3,4,0,1000)}la{\k50}lo`, "<00:01.000>"},
			{"slow", func(o *pipeline.Options) { o.Timing.Slow = big.NewRat(2, 1) }, `{\k100\move(1,2,3,4,0,2000)}la{\k100}lo`, "<00:02.000>"},
			{"part", func(o *pipeline.Options) { o.Timing.From = big.NewRat(3, 4) }, `{\k25\move(1,2,3,4,-250,750)}la{\k50}lo`, "<00:00.250>"},
			{"curve", func(o *pipeline.Options) {
				o.Timing.Curve = mustParse(t, "source output\n0 0\n1 1\n2 3")
			}, `{\k50\move(1,2,3,4,0,1500)}la{\k100}lo`, "<00:01.000>"},
		} {
			o := pipeline.Options{Input: pipeline.Input{File: clip}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}, Output: pipeline.Output{File: filepath.Join(dir, to.name+c.name)}}
			to.set(&o)
			mustRun(t, o)
			want := to.karaoke
			if c.name == "a.webm" {
				want = "la" + to.timestamp + "lo"
			}
			if got := ffmpeg(t, "-i", o.Output.File, "-map", "0:s", "-c", "copy", "-f", "data", "-"); !strings.HasSuffix(got, want) {
				t.Errorf("%s, %s: %q, want %q", c.name, to.name, got, want)
			}
		}
	}
}
