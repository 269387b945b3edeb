package segment

import (
	"bytes"
	"context"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"retime/pipeline"
	"retime/pipeline/fault"
)

// A join that waits begins before any segment is made, and joins what one that comes
// last does.
func TestJoinWaitsForSegments(t *testing.T) {
	p := newPlan(t, options(clip(t)), 4)
	dir, early, late := filepath.Join(t.TempDir(), "segments"), filepath.Join(t.TempDir(), "early.mkv"), filepath.Join(t.TempDir(), "late.mkv")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(manifestName(dir, 0), []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	left := len(p.Ranges) // made from the last one on
	local := pipeline.Options{Output: pipeline.Output{File: early}}
	local.Hooks.Progress = func(pipeline.Progress) {
		if left == 0 {
			return
		}
		left--
		if _, made, err := p.Make(t.Context(), dir, left, pipeline.Options{}); err != nil || !made {
			t.Error(made, err)
		}
	}
	if _, err := p.JoinArriving(t.Context(), dir, local); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Join(t.Context(), dir, pipeline.Options{Output: pipeline.Output{File: late}}); err != nil {
		t.Fatal(err)
	}
	if a, b := content(t, early), content(t, late); !slices.Equal(a, b) {
		t.Errorf("%d lines of packets and pictures, want %d", len(a), len(b))
	}
	// It ends with its context, and leaves nothing.
	ctx, cancel := context.WithCancel(t.Context())
	local.Hooks.Progress = func(pipeline.Progress) { cancel() }
	local.Output.File = filepath.Join(t.TempDir(), "never.mkv")
	if _, err := p.JoinArriving(ctx, filepath.Join(t.TempDir(), "none"), local); fault.KindOf(err) != fault.Cancelled {
		t.Errorf("cancelled: %v", err)
	}
	if left, err := os.ReadDir(filepath.Dir(local.Output.File)); err != nil || len(left) > 0 {
		t.Errorf("cancelled: %v is left, %v", left, err)
	}
}

// content returns the hashes of a file's pictures and sound packets with their times.
func content(t testing.TB, name string) []string {
	t.Helper()
	return strings.Split(ffmpeg(t, "-i", name, "-map", "0:v", "-f", "framemd5", "-")+
		ffmpeg(t, "-i", name, "-map", "0:a", "-c", "copy", "-f", "framemd5", "-"), "\n")
}

func TestJoinKeepsWhatOneRunWrites(t *testing.T) {
	o := options(clip(t))
	o.Output.VideoCodec, o.Output.Format = "libx264", "mp4"
	p := newPlan(t, o, 5)
	dir := t.TempDir()
	makeAll(t, p, dir, []int{0, 1, 2, 3, 4})
	joined := filepath.Join(t.TempDir(), "joined.mp4")
	if _, err := p.Join(context.Background(), dir, pipeline.Options{Output: pipeline.Output{File: joined}}); err != nil {
		t.Fatal(err)
	}
	entries := func(name string) string {
		out, err := exec.Command("ffprobe", "-v", "error", "-show_entries",
			"stream=codec_name,nb_frames,duration,start_time,has_b_frames,avg_frame_rate", "-of", "compact", name).CombinedOutput()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	one := filepath.Join(t.TempDir(), "whole.mp4")
	whole(t, o, one)
	if a, b := entries(one), entries(joined); a != b {
		t.Errorf("joined:\n%s\none run:\n%s", b, a)
	}
	// The file plays without complaint, and has every picture at its time.
	times := ffmpeg(t, "-xerror", "-i", joined, "-map", "0:v", "-f", "framemd5", "-")
	if n := strings.Count(times, "\n0,"); n != 200 {
		t.Errorf("%d pictures play, want 200", n)
	}
	_, err := p.Join(context.Background(), dir, pipeline.Options{Output: pipeline.Output{File: filepath.Join(t.TempDir(), "joined.ts")}})
	if fault.KindOf(err) != fault.Usage {
		t.Errorf("joining MP4's stream into a transport stream: %v", err)
	}
}

// The sound of a joined part holds nothing from before it.
func TestJoinOfAPartHasItsOwnSound(t *testing.T) {
	attack := filepath.Join(t.TempDir(), "attack.mkv")
	ffmpeg(t, "-i", clip(t), "-f", "lavfi", "-i", "aevalsrc='if(between(t,0.5,0.7),0.9*exp(-20*(t-0.5))*sin(2000*t),0)':s=48000:d=4",
		"-map", "0:v", "-map", "1:a", "-c:v", "libx264", "-g", "300", "-c:a", "pcm_s16le", attack)
	o := options(attack)
	o.Timing.Rate, o.Timing.From, o.Timing.Slow = pipeline.Rate{}, big.NewRat(2, 1), big.NewRat(2, 1)
	p := newPlan(t, o, 3)
	dir, joined := t.TempDir(), filepath.Join(t.TempDir(), "joined.mkv")
	makeAll(t, p, dir, []int{0, 1, 2})
	if _, err := p.Join(context.Background(), dir, pipeline.Options{Output: pipeline.Output{File: joined}}); err != nil {
		t.Fatal(err)
	}
	silence := bytes.Repeat([]byte{0}, 2*4*48000)
	if got := ffmpeg(t, "-i", joined, "-map", "0:a", "-f", "s16le", "-"); got != string(silence) {
		t.Errorf("%d bytes of sound, want %d of silence", len(got), len(silence))
	}
}

// What the joined file would be refused for is refused before the first part is made.
func TestPlansAreRefusedForWhatTheJoinedFileIs(t *testing.T) {
	in := filepath.Join(t.TempDir(), "in.mp4")
	ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=64x48:r=10:d=1", "-f", "lavfi", "-i", "sine=d=1", "-c:v", "libx264", "-c:a", "aac", in)
	for _, c := range []struct {
		set  func(*pipeline.Output)
		want string
	}{
		{func(o *pipeline.Output) { o.MuxOptions = map[string]string{"movflags": "blue"} }, "Output.MuxOptions movflags=blue"},
		{func(o *pipeline.Output) { o.MuxOptions = map[string]string{"encryption_scheme": "blue"} }, "unsupported encryption scheme blue"},
		{func(o *pipeline.Output) { o.AudioCodec = "blue" }, "Output.AudioCodec blue"},
		{func(o *pipeline.Output) { o.AudioCodec, o.AudioOptions = "aac", map[string]string{"profile": "blue"} }, "Output.AudioCodec: encoder aac"},
	} {
		o := pipeline.Options{Input: pipeline.Input{File: in}, Output: pipeline.Output{Format: "mp4"}}
		c.set(&o.Output)
		_, err := New(t.Context(), o, Options{Length: big.NewRat(1, 1), Program: "test"})
		if fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", c.want, err)
		}
	}
}

// An encoder that was chosen for the source is set up alike in every part and in the
// joined file, whose container gets the plan's options.
func TestChosenEncoderIsJoined(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.mp4")
	ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=64x64:r=25", "-t", "1", "-pix_fmt", "yuv420p10le", "-c:v", "libx265", "-x265-params", "log-level=error", in)
	o := pipeline.Options{
		Input: pipeline.Input{File: in}, Synthesis: pipeline.Synthesis{Mode: "blend"},
		Output: pipeline.Output{File: filepath.Join(dir, "out.mp4"), MuxOptions: map[string]string{"brand": "dash"}},
	}
	p := newPlan(t, o, 2)
	makeAll(t, p, dir, []int{1, 0})
	if p.Whole.Parameters.Encoder != "libx265" {
		t.Errorf("the encoder is %s", p.Whole.Parameters.Encoder)
	}
	if _, err := p.Join(t.Context(), dir, pipeline.Options{Output: pipeline.Output{File: o.Output.File}}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(o.Output.File)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(data[4:], []byte("ftypdash")) {
		t.Errorf("the file begins with %q", data[4:12])
	}
}
