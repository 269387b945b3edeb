package media_test

import (
	"fmt"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"retime/pipeline"
	"retime/warp"
)

// broadcast makes a file of a small video and of further inputs, in the manner of a broadcast.
func broadcast(t *testing.T, name string, seconds int, args ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	ffmpeg(t, append(append([]string{"-f", "lavfi", "-i", fmt.Sprintf("testsrc2=s=64x48:r=25:d=%d", seconds)}, args...), file)...)
	return file
}

// spoken runs o with nearest frames and returns what is logged.
func spoken(t *testing.T, o pipeline.Options) string {
	t.Helper()
	var said strings.Builder
	o.Synthesis.Mode = warp.Nearest
	o.Hooks.Log = slog.New(slog.NewTextHandler(&said, nil))
	mustRun(t, o)
	return said.String()
}

func kinds(t *testing.T, name string) string {
	t.Helper()
	return strings.Join(strings.Fields(strings.ReplaceAll(program(t, "ffprobe", "-v", "error", "-show_entries", "stream=codec_type", "-of", "csv=p=0", name), ",", "")), " ")
}

// Streams that begin long after the video are found in files.
func TestStreamsThatBeginLate(t *testing.T) {
	tone := []string{"-itsoffset", "12", "-f", "lavfi", "-i", "sine=d=2:r=48000"}
	picture := []string{"-itsoffset", "12", "-f", "lavfi", "-i", "testsrc=s=64x48:r=25:d=2", "-map", "0", "-map", "1"}
	for _, c := range []struct {
		name, want string
		slow       int64
		args       []string
	}{
		{"aac.ts", "video audio", 2, append(tone, "-c:v", "mpeg2video", "-c:a", "aac")},
		{"mp2.mpg", "video audio", 1, append(tone, "-c:v", "mpeg2video", "-c:a", "mp2")},
		{"two.ts", "video video", 1, append(picture, "-c:v", "mpeg2video")},
		{"two.vob", "video video", 1, append(picture, "-c:v", "mpeg2video")},
	} {
		o := lossless(t, broadcast(t, c.name, 14, c.args...))
		o.Output.File = filepath.Join(t.TempDir(), "out.mkv")
		o.Timing.Slow = big.NewRat(c.slow, 1)
		if said := spoken(t, o); strings.Contains(said, "left out") {
			t.Errorf("%s: %s", c.name, said)
		}
		if got := kinds(t, o.Output.File); got != c.want {
			t.Errorf("%s: the output has %s, want %s", c.name, got, c.want)
			continue
		}
		if c.want == "video audio" {
			x, begin := heard(t, o.Output.File, 48000), int(12*c.slow)*48000
			if early, late := peak(x[:begin-4800]), peak(x[begin+4800:]); early > 0.001 || late < 0.1 {
				t.Errorf("%s: a peak of %.3f before the sound, %.3f in it", c.name, early, late)
			}
		}
	}
}

// A pipe cannot be read twice, so what begins late is left out by name.
func TestLateStreamsOfAPipe(t *testing.T) {
	data, err := os.ReadFile(broadcast(t, "aac.ts", 14, "-itsoffset", "12", "-f", "lavfi", "-i", "sine=d=2:r=48000",
		"-itsoffset", "12", "-f", "lavfi", "-i", "testsrc=s=64x48:r=25:d=2", "-map", "0", "-map", "1", "-map", "2", "-c:v", "mpeg2video", "-c:a", "aac"))
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	go func() {
		_, _ = w.Write(data)
		w.Close()
	}()
	o := lossless(t, fmt.Sprintf("pipe:%d", r.Fd()))
	o.Output.File = filepath.Join(t.TempDir(), "out.mkv")
	said := spoken(t, o)
	for _, want := range []string{"stream=1 kind=audio codec=aac", "stream=2 kind=video codec=mpeg2video"} {
		if !strings.Contains(said, "left out") || !strings.Contains(said, want) {
			t.Errorf("%q is not named in %s", want, said)
		}
	}
	if got := kinds(t, o.Output.File); got != "video" {
		t.Errorf("the output has %s", got)
	}
}

// joinFiles returns a file that holds the files one behind the other.
func joinFiles(t *testing.T, files ...string) string {
	t.Helper()
	var all []byte
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, data...)
	}
	name := filepath.Join(t.TempDir(), "joined.ts")
	if err := os.WriteFile(name, all, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// Captures are joined whose second part has other streams. These are named, and the first
// part is whole.
func TestJoinedCaptures(t *testing.T) {
	const seconds = 8
	args := []string{"-f", "lavfi", "-i", fmt.Sprintf("sine=d=%d:r=48000", seconds), "-c:v", "mpeg2video", "-c:a", "mp2"}
	first := broadcast(t, "1.ts", seconds, args...)
	for _, offset := range []string{"0", fmt.Sprint(seconds)} { // a new clock, and one that goes on
		second := broadcast(t, "2.ts", seconds, append(args, "-mpegts_start_pid", "0x200", "-mpegts_pmt_start_pid", "0x1100", "-output_ts_offset", offset)...)
		o := lossless(t, joinFiles(t, first, second))
		o.Output.File = filepath.Join(t.TempDir(), "out.mkv")
		said := spoken(t, o)
		for _, want := range []string{"stream=2 kind=video codec=mpeg2video", "stream=3 kind=audio"} {
			if strings.Count(said, want) != 1 {
				t.Errorf("offset %s: %q is not named once in %s", offset, want, said)
			}
		}
		if frames, _, _ := readAll(t, o.Output.File); len(frames) != seconds*25 {
			t.Errorf("offset %s: %d frames, want %d", offset, len(frames), seconds*25)
		}
	}
}

// The number of channels of a sound may change. What is encoded again keeps the number that it
// begins with.
func TestChannelsChange(t *testing.T) {
	part := func(channels string) string {
		return broadcast(t, channels+".ts", 1, "-f", "lavfi", "-i", "sine=d=1:r=48000", "-c:v", "mpeg2video", "-ac", channels, "-c:a", "aac")
	}
	for _, c := range [][2]string{{"2", "1"}, {"1", "2"}, {"6", "1"}, {"1", "6"}} {
		o := lossless(t, joinFiles(t, part(c[0]), part(c[1])))
		o.Output.File, o.Output.AudioCodec = filepath.Join(t.TempDir(), "out.mkv"), "flac"
		o.Timing.Slow = big.NewRat(3, 2)
		spoken(t, o)
		got := strings.Fields(program(t, "ffprobe", "-v", "error", "-select_streams", "a", "-show_entries", "stream=channels", "-of", "csv=p=0", o.Output.File))
		if len(got) != 1 || got[0] != c[0] {
			t.Errorf("%s channels, then %s: the output has %v", c[0], c[1], got)
		}
		if x := heard(t, o.Output.File, 48000); len(x) < 140000 || peak(x[96000:]) < 0.02 {
			t.Errorf("%s channels, then %s: %d samples", c[0], c[1], len(x))
		}
	}
}

// Captures are joined whose sound changes its codec. FFmpeg goes on with the first codec, from
// version 9 on with the last that it saw before it chose; packets of the other are named and left
// out, and what the output has of the sound plays.
func TestRefusedPackets(t *testing.T) {
	part := func(codec string) string {
		return broadcast(t, codec+".ts", 2, "-f", "lavfi", "-i", "sine=d=2:r=48000", "-c:v", "mpeg2video", "-ac", "2", "-c:a", codec)
	}
	aac, mp2, ac3 := part("aac"), part("mp2"), part("ac3")
	for _, c := range [][2]string{{aac, mp2}, {mp2, aac}, {aac, ac3}} {
		name := fmt.Sprintf("%s, then %s", filepath.Base(c[0]), filepath.Base(c[1]))
		o := lossless(t, joinFiles(t, c[0], c[1]))
		o.Output.File = filepath.Join(t.TempDir(), "out.mkv")
		if said := spoken(t, o); strings.Count(said, "packets left out") != 1 || !strings.Contains(said, `"packets left out" stream=1 kind=audio`) || !strings.Contains(said, `reason="it `) {
			t.Errorf("%s: %s", name, said)
		}
		if wrong := program(t, "ffmpeg", "-v", "error", "-i", o.Output.File, "-map", "0:a", "-f", "null", "-"); wrong != "" {
			t.Errorf("%s: the sound does not play: %s", name, wrong)
		}
		if x := heard(t, o.Output.File, 48000); peak(x) < 0.1 {
			t.Errorf("%s: no sound", name)
		}
	}
}
