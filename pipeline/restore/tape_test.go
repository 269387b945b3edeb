package restore

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"retime/pipeline"
)

// What a tape of DV holds beside its pictures stays, of copied packets and of those whose picture was made: timecodes, dates of
// the recording, whether pictures are interlaced, and sound.
func TestSmartCopyKeepsTheTape(t *testing.T) {
	const frame, block, video = 144_000, 80, 4
	in := film(t, "a.dv", "-t", "0.2", "-c:v", "dvvideo", "-pix_fmt", "yuv420p", "-s", "720x576", "-ar", "48000", "-ac", "2")
	tape, err := os.ReadFile(in)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(tape); at += block {
		if kind := tape[at] >> 5; kind == 1 || kind == 2 {
			for i := 20; i < 40; i++ { // packs that FFmpeg's muxer would overwrite
				tape[at+i] = byte(at/frame + i)
			}
		}
	}
	if err := os.WriteFile(in, tape, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"o.dv", "o.mov"} {
		o := options(t, in)
		o.Damage, o.SmartCopy = frames(t, "2"), true
		o.Convert.Input.Deinterlace = pipeline.IgnoreFields
		o.Convert.Output = pipeline.Output{File: filepath.Join(t.TempDir(), name)}
		mustRun(t, o)
		got, err := os.ReadFile(o.Convert.Output.File)
		if name == "o.mov" {
			got, err = exec.Command("ffmpeg", "-v", "error", "-i", o.Convert.Output.File, "-map", "0:v", "-c", "copy", "-f", "data", "-").Output()
		}
		if err != nil || len(got) != len(tape) {
			t.Fatalf("%s: %d bytes, not %d (%v)", name, len(got), len(tape), err)
		}
		pictures := 0
		for at := 0; at < len(tape); at += block {
			switch same := bytes.Equal(got[at:at+block], tape[at:at+block]); {
			case !same && at/frame == 2 && tape[at]>>5 == video:
				pictures++
			case !same:
				t.Fatalf("%s: frame %d, block %d of kind %d changed", name, at/frame, at%frame/block, tape[at]>>5)
			}
		}
		if pictures == 0 {
			t.Errorf("%s: the picture was not made", name)
		}
	}
}
