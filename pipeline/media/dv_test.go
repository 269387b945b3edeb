package media_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"retime/internal/cliptest"
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

// The sound of a tape keeps its time and its pitch where its sample rate changes, and its samples where it does not.
func TestTapeWhoseSoundChanges(t *testing.T) {
	dir := t.TempDir()
	var tape, first []byte
	for i, rate := range []string{"48000", "32000"} {
		part := filepath.Join(dir, rate+".dv")
		ffmpeg(t, "-f", "lavfi", "-i", "color=gray:s=720x576:r=25:d=0.2", "-f", "lavfi", "-i", "sine=500:r="+rate+":d=0.2", "-ac", "2", "-c:v", "dvvideo", "-pix_fmt", "yuv420p", part)
		data, err := os.ReadFile(part)
		if err != nil {
			t.Fatal(err)
		}
		if tape = append(tape, data...); i == 0 {
			first = []byte(ffmpeg(t, "-i", part, "-map", "0:a", "-f", "s16le", "-"))
		}
	}
	in := filepath.Join(dir, "in.dv")
	if err := os.WriteFile(in, tape, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"out.mov", "out.dv"} {
		out := filepath.Join(dir, name)
		mustRun(t, pipeline.Options{
			Input: pipeline.Input{File: in, Deinterlace: pipeline.IgnoreFields}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}, Output: pipeline.Output{File: out, VideoCodec: "dvvideo"},
		})
		got := []byte(ffmpeg(t, "-i", out, "-map", "0:a", "-f", "s16le", "-"))
		if want := 48000 * 4 / 10 * 4; len(got) != want || !bytes.Equal(got[:len(first)], first) {
			t.Fatalf("%s: %d bytes of sound, want %d, of which the first %d are the source's", name, len(got), want, len(first))
		}
		rises := 0
		for at := len(first); at+8 <= len(got); at += 4 {
			if int16(binary.LittleEndian.Uint16(got[at:])) < 0 && int16(binary.LittleEndian.Uint16(got[at+4:])) >= 0 {
				rises++
			}
		}
		if rises < 98 || rises > 101 { // of 500 Hz in 0.2 s
			t.Errorf("%s: %d waves, want 100", name, rises)
		}
	}
}

// The second pair of channels of a tape is there also if the tape begins without it.
func TestTapeThatGetsMoreSound(t *testing.T) {
	in := filepath.Join(t.TempDir(), "in.dv")
	ffmpeg(t, "-f", "lavfi", "-i", "color=gray:s=720x480:r=30000/1001:d=2", "-f", "lavfi", "-i", "sine=500:r=48000:d=2", "-ac", "2", "-c:v", "dvvideo", "-pix_fmt", "yuv411p", in)
	cliptest.Rewrite(t, in, func(tape []byte) {
		const block, sound, source = 80, 3, 0x50
		for at := len(tape) / 2 / block * block; at < len(tape); at += block {
			if tape[at]>>5 == sound && tape[at+3] == source {
				tape[at+4] = tape[at+4]&^63 | 16 // samples more than the least
				tape[at+7] = tape[at+7]&^63 | 2<<3 | 1
			}
		}
	})
	out := in + ".mkv"
	mustRun(t, pipeline.Options{Input: pipeline.Input{File: in, Deinterlace: pipeline.IgnoreFields}, Synthesis: pipeline.Synthesis{Mode: warp.Nearest}, Output: pipeline.Output{File: out}})
	if got := streamsOf(t, out, "a", "sample_rate"); !slices.Equal(got, []string{"48000", "32000"}) {
		t.Errorf("sound at %q", got)
	}
}
