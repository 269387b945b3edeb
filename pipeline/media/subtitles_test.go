package media_test

import (
	"fmt"
	"log/slog"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"retime/pipeline"
	"retime/warp"
)

// Two cues that overlap, two that follow each other at once, and what text formats
// write in their own ways.
const subtitles = `1
00:00:00,200 --> 00:00:00,700
<i>one</i> <b>two</b> a < b & c

2
00:00:00,500 --> 00:00:00,900
over
lap

3
00:00:01,200 --> 00:00:01,500
next

4
00:00:01,500 --> 00:00:01,900
last
`

// subtitledClip is two seconds with the subtitles in a codec.
func subtitledClip(t *testing.T, codec, container string) string {
	t.Helper()
	dir := t.TempDir()
	text := filepath.Join(dir, "s.srt")
	if err := os.WriteFile(text, []byte(subtitles), 0o600); err != nil {
		t.Fatal(err)
	}
	clip := filepath.Join(dir, "in."+container)
	video := map[bool]string{true: "libvpx", false: "libx264"}[container == "webm"]
	ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=64x48:r=24:d=2", "-i", text, "-map", "0", "-map", "1", "-c:v", video, "-c:s", codec,
		"-metadata:s:s:0", "language=fre", "-disposition:s:0", "forced", clip)
	return clip
}

// cues lists a file's subtitles as FFmpeg reads them, as milliseconds, styles and
// text; what it adds to timed text of fonts is left out.
func cues(t *testing.T, name string) (out []string) {
	t.Helper()
	text := ffmpeg(t, "-i", name, "-map", "0:s:0", "-c:s", "srt", "-f", "srt", "-")
	text = regexp.MustCompile(`</?font[^>]*>`).ReplaceAllString(text, "")
	for _, block := range strings.Split(strings.TrimSpace(strings.ReplaceAll(text, "\r", "")), "\n\n") {
		lines := strings.SplitN(block, "\n", 3)
		if len(lines) != 3 {
			t.Fatalf("%s: cue %q", name, block)
		}
		var v [8]int
		if _, err := fmt.Sscanf(lines[1], "%d:%d:%d,%d --> %d:%d:%d,%d", &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7]); err != nil {
			t.Fatalf("%s: cue %q: %v", name, block, err)
		}
		ms := func(v []int) int { return ((v[0]*60+v[1])*60+v[2])*1000 + v[3] }
		out = append(out, fmt.Sprintf("%d-%d %s", ms(v[:4]), ms(v[4:]), strings.ReplaceAll(lines[2], "\n", "|")))
	}
	return out
}

func TestSubtitlesInAnotherFormat(t *testing.T) {
	const first, second = "<i>one</i> <b>two</b> a < b & c", "over|lap"
	apart := []string{"200-700 " + first, "500-900 " + second, "1200-1500 next", "1500-1900 last"}
	// Timed text shows one sample at a time.
	joined := func(first string) []string {
		return []string{"200-500 " + first, "500-700 " + first + "|" + second, "700-900 " + second, "1200-1500 next", "1500-1900 last"}
	}
	half := []string{"100-250 " + first, "250-350 " + first + "|" + second, "350-450 " + second, "600-750 next", "750-950 last"}
	cut := []string{"200-500 " + first, "500-900 " + second, "1200-1500 next", "1500-1900 last"} // as FFmpeg writes it
	for _, c := range []struct {
		codec, container, output string
		speed                    int64
		written                  string
		want                     []string
	}{
		{"subrip", "mkv", "out.mp4", 1, "mov_text", joined(first)},
		{"subrip", "mkv", "out.mp4", 2, "mov_text", half},
		{"ass", "mkv", "out.mov", 1, "mov_text", joined(first)},
		{"webvtt", "mkv", "out.mp4", 1, "mov_text", joined("<i>one</i> <b>two</b> a ")}, // FFmpeg writes a bare <,
		{"text", "mkv", "out.mp4", 1, "mov_text", joined("one two a < b & c")},
		{"subrip", "mkv", "out.webm", 1, "webvtt", apart},
		{"ass", "mkv", "out.webm", 1, "webvtt", apart},
		{"mov_text", "mp4", "out.mkv", 1, "subrip", cut},
		{"mov_text", "mp4", "out.webm", 1, "webvtt", cut},
	} {
		t.Run(c.codec+" to "+c.output+fmt.Sprint(" ", c.speed), func(t *testing.T) {
			t.Parallel()
			var said strings.Builder
			o := pipeline.Options{Input: pipeline.Input{File: subtitledClip(t, c.codec, c.container)}, Output: pipeline.Output{File: filepath.Join(t.TempDir(), c.output)}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}, Timing: pipeline.Timing{Slow: big.NewRat(1, c.speed)}}
			if strings.HasSuffix(c.output, ".webm") {
				o.Output.VideoCodec = "libvpx"
			}
			o.Hooks.Log = slog.New(slog.NewTextHandler(&said, nil))
			mustRun(t, o)
			if got := cues(t, o.Output.File); !slices.Equal(got, c.want) {
				t.Errorf("got\n%q\nwant\n%q", got, c.want)
			}
			if n := strings.Count(said.String(), "another format"); n != 1 || !strings.Contains(said.String(), "written="+c.written) {
				t.Errorf("said %d times:\n%s", n, said.String())
			}
			out, err := exec.Command("ffprobe", "-v", "error", "-select_streams", "s", "-show_entries", "stream=codec_name:stream_tags=language:stream_disposition=forced", "-of", "csv=p=0", o.Output.File).Output()
			if got, want := strings.TrimSpace(string(out)), c.written+",1,fre"; err != nil || got != want && c.output != "out.mov" { // which says less
				t.Errorf("the stream is %q (%v), want %q", got, err, want)
			}
		})
	}
}

// No sample of timed text is empty and of no length, and none overlaps the next.
func TestTimedTextSamples(t *testing.T) {
	for _, codec := range []struct{ name, container string }{{"subrip", "mkv"}, {"mov_text", "mp4"}} {
		o := pipeline.Options{Input: pipeline.Input{File: subtitledClip(t, codec.name, codec.container)}, Output: pipeline.Output{File: filepath.Join(t.TempDir(), "out.mp4")}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}}
		mustRun(t, o)
		out, err := exec.Command("ffprobe", "-v", "error", "-select_streams", "s", "-show_entries", "packet=pts_time,duration_time", "-of", "csv=p=0", o.Output.File).Output()
		if err != nil {
			t.Skipf("ffprobe: %v", err)
		}
		last := new(big.Rat)
		for line := range strings.Lines(string(out)) {
			begin, length, _ := strings.Cut(strings.TrimSpace(line), ",")
			from, ok := new(big.Rat).SetString(begin)
			d, ok2 := new(big.Rat).SetString(length)
			if !ok || !ok2 || d.Sign() <= 0 || from.Cmp(last) != 0 {
				t.Errorf("%s: sample %q does not follow the one before, or has no length; all:\n%s", codec.name, line, out)
				break
			}
			last.Add(from, d)
		}
	}
}

// A subtitle that is on the screen where a part begins is cut, not lost: Matroska holds it where it
// begins, before the key frame from which the part is decoded.
func TestSubtitlesOnScreenAtTheBeginning(t *testing.T) {
	dir := t.TempDir()
	texts, clip := filepath.Join(dir, "texts.srt"), filepath.Join(dir, "clip.mkv")
	if err := os.WriteFile(texts, []byte("1\n00:00:00,200 --> 00:00:05,800\nlong\n\n2\n00:00:00,500 --> 00:00:04,000\nover\n\n3\n00:00:02,000 --> 00:00:05,000\ntwo\n\n4\n00:00:04,400 --> 00:00:05,000\nthree\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=32x32:r=24:d=6", "-i", texts, "-c:v", "libx264", "-g", "24", "-c:s", "srt", clip)
	want := []string{"0.000000,1.000000,4", "0.000000,0.500000,3", "0.000000,0.500000,5"}
	for _, c := range []struct {
		name string
		set  func(*pipeline.Options)
	}{
		{"part", func(o *pipeline.Options) { o.Timing.From, o.Timing.To = big.NewRat(9, 2), big.NewRat(11, 2) }},
		{"curve", func(o *pipeline.Options) { o.Timing.Curve = mustParse(t, "source output\n4.5 0\n5.5 1") }},
	} {
		o := pipeline.Options{Input: pipeline.Input{File: clip}, Output: pipeline.Output{File: filepath.Join(dir, c.name+".mkv")}}
		o.Synthesis.Mode = warp.Nearest
		c.set(&o)
		mustRun(t, o)
		out, err := exec.Command("ffprobe", "-v", "error", "-select_streams", "s", "-show_entries", "packet=pts_time,duration_time,size", "-of", "csv=p=0", o.Output.File).Output()
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Fields(string(out)); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", c.name, got, want)
		}
	}
}
