package media_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"log/slog"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"retime/pipeline"
	"retime/warp"
)

// pictureSubtitles are subtitles of Blu-ray: a line from 0.2 s to 0.4 s, and another from 1.8 s to 1.9 s.
func pictureSubtitles() (sup []byte) {
	segment := func(ms uint32, kind byte, data ...byte) {
		sup = append(sup, "PG"...)
		sup = binary.BigEndian.AppendUint32(sup, 90*ms)
		sup = append(sup, 0, 0, 0, 0, kind, 0, byte(len(data)))
		sup = append(sup, data...)
	}
	for i, ms := range []uint32{200, 400, 1800, 1900} {
		shown := byte(1 - i%2)
		state := []byte{0, 64, 0, 48, 0x10, 0, byte(i), 0x80 * shown, 0, 0, shown} // 64x48 pixels
		if shown == 1 {
			state = append(state, 0, 0, 0, 0, 0, 8, 0, 0) // object 0 at 8, 0
		}
		segment(ms, 0x16, state...)
		segment(ms, 0x17, 1, 0, 0, 8, 0, 0, 0, 2, 0, 40) // a window of 2x40 pixels there
		if shown == 1 {
			segment(ms, 0x14, 0, 0, 1, 235, 128, 128, 255)
			segment(ms, 0x15, append([]byte{0, 0, 0, 0xc0, 0, 0, 4 + 40*4, 0, 2, 0, 40}, bytes.Repeat([]byte{1, 1, 0, 0}, 40)...)...)
		}
		segment(ms, 0x80)
	}
	return sup
}

// Subtitles that are pictures follow the picture's time, also where their own packets say how long they stay; where a
// container cannot hold them so that they are found again, a message says so.
func TestPictureSubtitles(t *testing.T) {
	dir := t.TempDir()
	sup := filepath.Join(dir, "s.sup")
	if err := os.WriteFile(sup, pictureSubtitles(), 0o600); err != nil {
		t.Fatal(err)
	}
	pgs, dvd, dvb := filepath.Join(dir, "a.mkv"), filepath.Join(dir, "a.vob"), filepath.Join(dir, "a.ts")
	ffmpeg(t, "-i", sup, "-f", "lavfi", "-i", "testsrc2=s=64x48:r=25:d=2", "-map", "1", "-map", "0", "-copyts", "-c:v", "mpeg2video", "-q:v", "1", "-c:s", "copy", pgs)
	ffmpeg(t, "-fix_sub_duration", "-i", pgs, "-map", "0", "-c:v", "copy", "-c:s", "dvdsub", dvd)
	ffmpeg(t, "-fix_sub_duration", "-i", pgs, "-map", "0", "-c:v", "copy", "-c:s", "dvbsub", dvb)
	for _, c := range []struct {
		clip, output string
		slow         int64
		want         string // of each event, its time and how long it stays
		says         string
	}{
		{dvd, "o.mkv", 2, "0.00 386, 3.20 182", ""},
		{dvd, "o.mp4", 1, "0.00 193, 1.60 91", ""},
		{dvb, "o.ts", 2, "0.00 60000, 0.40 60000, 3.20 60000, 3.40 60000", ""},
		{pgs, "o.m2ts", 2, "0.00 4294967295, 0.40 4294967295, 3.20 4294967295, 3.40 4294967295", ""},
		{pgs, "o.ts", 1, "", "the container does not take it"},
		{dvd, "o.ts", 1, "", "the container does not take it"},
		{dvb, "o.m2ts", 1, "", "the container does not take it"},
	} {
		var said strings.Builder
		o := pipeline.Options{
			Input: pipeline.Input{File: c.clip, Deinterlace: pipeline.IgnoreFields}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}, Timing: pipeline.Timing{Slow: big.NewRat(c.slow, 1)},
			Output: pipeline.Output{File: filepath.Join(dir, c.output), Overwrite: true}, Hooks: pipeline.Hooks{Log: slog.New(slog.NewTextHandler(&said, nil))},
		}
		mustRun(t, o)
		out, err := exec.Command("ffprobe", "-v", "error", "-select_streams", "s", "-show_frames", "-show_entries", "subtitle=pts_time,end_display_time", "-of", "csv=p=0", o.Output.File).Output()
		if err != nil {
			t.Skipf("ffprobe: %v", err)
		}
		var first float64
		var got []string
		for i, line := range strings.Fields(string(out)) {
			at, length, _ := strings.Cut(line, ",")
			pts, err := strconv.ParseFloat(at, 64)
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				first = pts
			}
			got = append(got, fmt.Sprintf("%.2f %s", pts-first, length))
		}
		if got := strings.Join(got, ", "); got != c.want {
			t.Errorf("%s to %s: %q, want %q", c.clip, c.output, got, c.want)
		}
		if !strings.Contains(said.String(), c.says) {
			t.Errorf("%s to %s: said %q", c.clip, c.output, said.String())
		}
	}
}

// Pictures that do not say how long they stay are on the screen where a part or a run of a curve begins, if they were so in the
// source, and only then.
func TestPictureSubtitlesOnScreen(t *testing.T) {
	dir := t.TempDir()
	sup := filepath.Join(dir, "s.sup")
	if err := os.WriteFile(sup, pictureSubtitles(), 0o600); err != nil {
		t.Fatal(err)
	}
	pgs, dvb := filepath.Join(dir, "pgs.mkv"), filepath.Join(dir, "dvb.ts")
	pictures := []string{"-f", "lavfi", "-i", "testsrc2=s=64x48:r=25:d=2", "-map", "1", "-map", "0", "-copyts", "-c:v", "mpeg2video", "-q:v", "1", "-g", "2"}
	ffmpeg(t, append(append([]string{"-i", sup}, pictures...), "-c:s", "copy", pgs)...)
	ffmpeg(t, "-fix_sub_duration", "-i", pgs, "-map", "0", "-c:v", "copy", "-c:s", "dvbsub", dvb)
	for _, clip := range []string{pgs, dvb} {
		for _, c := range []struct{ keyframes, want string }{
			{"0.32 0\n1 0.68", "0.00 on, 0.08 off"},
			{"0.48 0\n1 0.52", ""},
			{"1.84 0\n2 0.16", "0.00 on, 0.06 off"},
			{"1.72 0\n1.88 0.16\n0.6 0.32\n1 0.72", "0.08 on, 0.32 off"},
		} {
			out := filepath.Join(dir, "out.mkv")
			mustRun(t, pipeline.Options{
				Input: pipeline.Input{File: clip, Deinterlace: pipeline.IgnoreFields}, Synthesis: pipeline.Synthesis{Mode: warp.Nearest},
				Timing: pipeline.Timing{Curve: mustParse(t, "source output\n"+c.keyframes)}, Output: pipeline.Output{File: out, Overwrite: true},
			})
			lines, err := exec.Command("ffprobe", "-v", "error", "-select_streams", "s", "-show_entries", "packet=pts_time,size", "-of", "csv=p=0", out).Output()
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, line := range strings.Fields(string(lines)) {
				var at float64
				var size int
				if _, err := fmt.Sscanf(line, "%f,%d", &at, &size); err != nil {
					t.Fatal(err)
				}
				got = append(got, fmt.Sprintf("%.2f %s", at, map[bool]string{true: "on", false: "off"}[size > 100]))
			}
			if got := strings.Join(got, ", "); got != c.want {
				t.Errorf("%s, %q: %q, want %q", filepath.Base(clip), c.keyframes, got, c.want)
			}
		}
	}
}
