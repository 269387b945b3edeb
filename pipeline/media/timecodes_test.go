package media_test

import (
	"log/slog"
	"math/big"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"retime/pipeline"
	"retime/warp"
)

// An output begins with the timecode of its first frame, counted at its own rate, in the
// containers that hold one.
func TestTimecodes(t *testing.T) {
	scene := writeScene(t, 96, 64, 24, 24, 1)
	dir := t.TempDir()
	clip := func(name, rate, code string, args ...string) string {
		name = filepath.Join(dir, name)
		ffmpeg(t, append(append([]string{"-r", rate, "-i", scene, "-c:v", "mpeg2video"}, args...), "-timecode", code, name)...)
		return name
	}
	film, ntsc := clip("film.mov", "24", "01:00:00:20"), clip("ntsc.mov", "30000/1001", "00:00:59;20")
	pal, tagged := clip("pal.mov", "50", "01:00:00:40"), clip("tagged.mkv", "24", "01:00:00:20")
	sony := clip("sony.mxf", "25", "10:00:00:10")
	for _, c := range []struct {
		input, output, rate, from, slow string
		want                            string // empty if the container has no place
	}{
		{pal, "a.mov", "25", "0", "1", "01:00:00:20"},
		{film, "a.mov", "60", "0", "1", "01:00:00:50"},
		{film, "a.mp4", "60", "0", "1", "01:00:00:50"},
		{film, "a.mkv", "60", "0", "1", "01:00:00:50"},
		{film, "a.mxf", "60", "0", "1", "01:00:00:50"},
		{film, "a.avi", "60", "0", "1", "01:00:00:50"},
		{film, "a.nut", "60", "0", "1", "01:00:00:50"},
		{film, "a.ts", "60", "0", "1", ""},
		{film, "a.m4v", "60", "0", "1", ""},
		{film, "a.mov", "300", "0", "1", ""},
		{film, "a.mov", "24", "1/2", "1", "01:00:01:08"},
		{film, "a.mov", "48", "1/2", "4", "01:00:01:16"},
		{tagged, "a.mkv", "48", "1/2", "1", "01:00:01:16"},
		{tagged, "a.mov", "48", "1/2", "1", "01:00:01:16"},
		{tagged, "a.webm", "48", "1/2", "1", "01:00:01:16"},
		{sony, "a.mxf", "50", "0", "1", "10:00:00:20"},
		{sony, "a.mov", "50", "0", "1", "10:00:00:20"},
		{ntsc, "a.mov", "60000/1001", "0", "1", "00:00:59;40"},
		{ntsc, "a.mxf", "60000/1001", "1/2", "1", "00:01:00;14"},
		{ntsc, "a.mov", "25", "0", "1", "00:00:59:16"},
		{ntsc, "a.mxf", "25", "0", "1", "00:00:59:16"},
		{ntsc, "a.mp4", "24000/1001", "0", "1", "00:00:59:16"},
	} {
		var said strings.Builder
		o := pipeline.Options{Input: pipeline.Input{File: c.input}, Output: pipeline.Output{File: filepath.Join(t.TempDir(), c.output)}, Synthesis: pipeline.Synthesis{Mode: warp.Nearest}}
		o.Hooks.Log = slog.New(slog.NewTextHandler(&said, nil))
		rational := func(s string) *big.Rat { r, _ := new(big.Rat).SetString(s); return r }
		o.Timing = pipeline.Timing{Rate: pipeline.Rate{Value: rational(c.rate)}, From: rational(c.from), To: big.NewRat(3, 4), Slow: rational(c.slow)}
		mustRun(t, o)
		out, err := exec.Command("ffprobe", "-v", "error", "-show_entries", "stream_tags=timecode:format_tags=timecode", "-of", "default=nw=1:nk=1", o.Output.File).Output()
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Fields(string(out))
		if len(got) == 0 && c.want != "" || len(got) > 0 && got[0] != c.want || len(got) > 1 && got[1] != c.want {
			t.Errorf("%s to %s at %s from %s: %q, want %q", filepath.Base(c.input), c.output, c.rate, c.from, got, c.want)
		}
		if strings.Contains(said.String(), "timecode is left out") != (c.want == "") {
			t.Errorf("%s to %s at %s: said %s", filepath.Base(c.input), c.output, c.rate, said.String())
		}
	}
}

// Another video stream, which is copied, keeps its own timecode, that of the moment at which the output begins.
func TestTimecodesOfTwoStreams(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.mov")
	ffmpeg(t, "-f", "lavfi", "-i", "color=s=64x48:r=25:d=0.4", "-map", "0", "-map", "0", "-c:v", "mpeg4", "-g", "1",
		"-metadata:s:v:0", "timecode=01:00:00:00", "-metadata:s:v:1", "timecode=02:00:00:00", in)
	for _, c := range []struct {
		name string
		from *big.Rat
		want string
	}{
		{"whole.mov", nil, "01:00:00:00\n02:00:00:00\n"},
		{"whole.mp4", nil, "01:00:00:00\n02:00:00:00\n"},
		{"whole.mkv", nil, "01:00:00:00\n02:00:00:00\n"},
		{"part.mov", big.NewRat(2, 25), "01:00:00:02\n02:00:00:02\n"},
		{"part.mkv", big.NewRat(11, 100), "01:00:00:03\n02:00:00:03\n"},
	} {
		out := filepath.Join(dir, c.name)
		mustRun(t, pipeline.Options{Input: pipeline.Input{File: in}, Output: pipeline.Output{File: out}, Timing: pipeline.Timing{From: c.from}})
		got, err := exec.Command("ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "stream_tags=timecode", "-of", "csv=p=0", out).Output()
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %q (%v), want %q", c.name, got, err, c.want)
		}
	}
}
