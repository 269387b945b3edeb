package media_test

import (
	"bytes"
	"encoding/binary"
	"log/slog"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"retime/internal/cliptest"
	"retime/pipeline"
	"retime/warp"
)

// joined puts files behind one another.
func joined(t *testing.T, name string, parts ...string) string {
	t.Helper()
	var all []byte
	for _, p := range parts {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b...)
	}
	name = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(name, all, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// Recordings whose clock is set anew, back or ahead, go on without a gap, with a
// word once.
func TestJumpsAreJoined(t *testing.T) {
	scene := writeScene(t, 64, 48, 24, 24, 1)
	part := func(offset string, sound bool) string {
		name := filepath.Join(t.TempDir(), "part.ts")
		args := []string{"-i", scene, "-f", "lavfi", "-i", "sine=duration=1:sample_rate=48000"}
		if !sound {
			args = append(args, "-map", "0")
		}
		ffmpeg(t, append(args, "-c:v", "libx264", "-qp", "0", "-bf", "2", "-c:a", "mp2", "-output_ts_offset", offset, name)...)
		return name
	}
	source, _, _ := readAll(t, part("0", false))
	for _, c := range []struct {
		name  string
		parts []string
	}{
		{"back to the start", []string{"0", "0"}},
		{"ahead", []string{"0", "5000"}},
		{"back", []string{"5000", "0", "5000"}},
		{"back with sound", []string{"0", "0", "0"}},
	} {
		with := strings.HasSuffix(c.name, "sound")
		var files []string
		for _, p := range c.parts {
			files = append(files, part(p, with))
		}
		o := lossless(t, joined(t, "clip.ts", files...))
		var log bytes.Buffer
		o.Hooks.Log = slog.New(slog.NewTextHandler(&log, nil))
		mustRun(t, o)
		got, times, _ := readAll(t, o.Output.File)
		if with {
			// A part's sound lasts a little longer than its pictures, which wait for it.
			if n := len(heard(t, o.Output.File, 48000)); n < 48000*len(files) || n > 50000*len(files) {
				t.Errorf("%s: %d samples of sound, want about %d", c.name, n, 48000*len(files))
			}
			if len(got) < 24*len(files) || len(got) > 25*len(files) {
				t.Errorf("%s: %d frames, want %d and at most one a part more", c.name, len(got), 24*len(files))
			}
			continue
		}
		if len(got) != 24*len(files) {
			t.Errorf("%s: %d frames, want %d\n%s", c.name, len(got), 24*len(files), log.String())
			continue
		}
		for k := range got {
			if !bytes.Equal(got[k], source[k%24]) {
				t.Errorf("%s: frame %d is not the source's", c.name, k)
			}
			if k > 0 && new(big.Rat).Sub(times[k], times[k-1]).Cmp(big.NewRat(1, 24)) != 0 {
				t.Errorf("%s: frame %d comes %s s after the last", c.name, k, new(big.Rat).Sub(times[k], times[k-1]).RatString())
			}
		}
		if n := strings.Count(log.String(), "jump"); n != 1 {
			t.Errorf("%s: said %d times\n%s", c.name, n, log.String())
		}
	}
}

// Streams without timestamps, with an edit list, or whose first decoding time is
// below 0 have the frames and the times that they should.
func TestOddTimestamps(t *testing.T) {
	scene := writeScene(t, 64, 48, 48, 24, 1)
	dir := t.TempDir()
	source := filepath.Join(dir, "source.mp4")
	ffmpeg(t, "-i", scene, "-c:v", "libx264", "-qp", "0", "-bf", "3", "-g", "12", source)
	all, _, _ := readAll(t, source)
	for _, c := range []struct {
		name  string
		args  []string
		first int // of the source's frames
	}{
		{"bare.h264", []string{"-c", "copy", "-bsf:v", "h264_mp4toannexb"}, 0}, // which ffmpeg adds by itself before 9
		{"edited.mp4", []string{"-c", "copy"}, 5},
		{"negative.mkv", []string{"-c", "copy", "-avoid_negative_ts", "disabled"}, 0},
		{"packed.avi", []string{"-c", "copy"}, 0}, // AVI's frames are one tick long
		{"late.nut", []string{"-c", "copy", "-output_ts_offset", "11.5"}, 0},
	} {
		clip := filepath.Join(dir, c.name)
		args := append([]string{"-i", source}, c.args...)
		if c.first > 0 {
			args = append([]string{"-ss", big.NewRat(int64(c.first), 24).FloatString(6)}, args...)
		}
		ffmpeg(t, append(args, clip)...)
		o := lossless(t, clip)
		o.Synthesis.Mode, o.Timing.Rate = warp.Blend, pipeline.Rate{Value: big.NewRat(48, 1)}
		mustRun(t, o)
		got, times, _ := readAll(t, o.Output.File)
		last := 2.0 // output frames that the last frame's stated length covers
		if filepath.Ext(clip) == ".avi" {
			_, _, v := readAll(t, clip)
			tick, _ := v.TimeBase.Float64()
			last = math.Round(48 * tick)
		}
		if want := 2*(48-c.first-1) + int(last); len(got) != want {
			t.Errorf("%s: %d frames, want %d", c.name, len(got), want)
			continue
		}
		for k := 0; k < len(got); k += 2 {
			if !bytes.Equal(got[k], all[c.first+k/2]) {
				t.Errorf("%s: frame %d is not the source's frame %d", c.name, k, c.first+k/2)
				break
			}
		}
		if times[0].Sign() != 0 && c.name != "late.nut" {
			t.Errorf("%s: begins at %s", c.name, times[0].RatString())
		}
	}
}

// AVI files state 23.976 frames per second as that number, and FFmpeg guesses 24000/1001. All shot
// frames pass through.
func TestDecimalRateOfAVI(t *testing.T) {
	clip := filepath.Join(t.TempDir(), "clip.avi")
	ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=32x32:r=23.976:d=60", "-c:v", "ffv1", clip)
	o := lossless(t, clip)
	o.Synthesis.Mode = warp.Nearest
	if r := mustRun(t, o); r.Made != 0 || r.Frames != r.Sources || r.Rate.RatString() != "2997/125" {
		t.Errorf("%d frames, %d made, from %d, at %s", r.Frames, r.Made, r.Sources, r.Rate.RatString())
	}
}

// Parts of an MP4 that its edit list plays one after the other stay so, although what lies between them has to be decoded.
func TestEditsFollowEachOther(t *testing.T) {
	in := filepath.Join(t.TempDir(), "in.mp4")
	ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=64x48:r=25:d=2", "-c:v", "libx264", "-g", "100", "-video_track_timescale", "25", "-movie_timescale", "100", "-output_ts_offset", "0.4", in)
	cliptest.Rewrite(t, in, func(data []byte) {
		at := bytes.Index(data, []byte("elst"))
		if at < 0 || data[at+11] != 2 {
			t.Fatal("FFmpeg has not written two edits")
		}
		edit := data[at+12:]
		first := binary.BigEndian.Uint32(edit[16:])
		binary.BigEndian.PutUint32(edit[4:], first)     // 0.4 s from the beginning
		binary.BigEndian.PutUint32(edit[12:], 40)       // and 0.4 s
		binary.BigEndian.PutUint32(edit[16:], first+25) // from 1 s on
	})
	o := lossless(t, in)
	mustRun(t, o)
	hashes := func(name string) string {
		return ffmpeg(t, "-i", name, "-fps_mode", "passthrough", "-f", "framemd5", "-")
	}
	if got, want := hashes(o.Output.File), hashes(in); got != want || strings.Count(got, "\n") < 20 {
		t.Errorf("the frames\n%s\nare not\n%s", got, want)
	}
}
