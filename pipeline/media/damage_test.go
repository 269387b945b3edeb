package media_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"retime/internal/cliptest"
	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/warp"
)

// damagedKinds are containers with what they usually hold.
var damagedKinds = []struct {
	name string
	args []string
}{
	{"a.mp4", []string{"-c:v", "libx264", "-g", "6", "-c:a", "aac"}},
	{"frag.mp4", []string{"-c:v", "libx264", "-g", "6", "-movflags", "frag_keyframe+empty_moov", "-c:a", "aac"}},
	{"a.mov", []string{"-c:v", "prores_ks", "-c:a", "pcm_s16le"}},
	{"a.mkv", []string{"-c:v", "libx264", "-g", "6", "-c:a", "flac"}},
	{"b.mkv", []string{"-c:v", "ffv1", "-c:a", "libopus", "-ar", "48000"}},
	{"a.webm", []string{"-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-c:a", "libopus", "-ar", "48000"}},
	{"a.ts", []string{"-c:v", "libx264", "-g", "6", "-c:a", "aac"}},
	{"a.mpg", []string{"-c:v", "mpeg2video", "-g", "6", "-c:a", "mp2"}},
	{"a.avi", []string{"-c:v", "mpeg4", "-g", "6", "-c:a", "libmp3lame"}},
	{"a.flv", []string{"-c:v", "flv1", "-g", "6", "-ar", "44100"}},
	{"a.ogv", []string{"-c:v", "libtheora", "-g", "6", "-c:a", "libvorbis"}},
	{"a.mxf", []string{"-c:v", "mpeg2video", "-g", "6", "-ar", "48000"}},
	{"a.asf", []string{"-c:v", "wmv2", "-g", "6", "-c:a", "wmav2"}},
	{"a.nut", []string{"-c:v", "rawvideo", "-c:a", "pcm_s16le"}},
	{"a.y4m", nil},
	{"a.gif", nil},
	{"a.h264", []string{"-c:v", "libx264", "-g", "6"}},
	{"a.hevc", []string{"-c:v", "libx265", "-x265-params", "log-level=error:keyint=6"}},
	{"a.ivf", []string{"-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "8"}},
	{"a.mjpeg", []string{"-c:v", "mjpeg"}},
	{"ass.mkv", []string{"-c:v", "libx264", "-g", "6", "-c:s", "ass"}},
	{"text.mp4", []string{"-c:v", "libx264", "-g", "6", "-c:s", "mov_text"}},
}

// spoil returns data with damage that the seed tells, and what it is.
func spoil(data []byte, seed uint64) ([]byte, string) {
	r := rand.New(rand.NewPCG(seed, 6))
	data = slices.Clone(data)
	at := func() int { return r.IntN(len(data)) }
	switch seed % 5 {
	case 0:
		n := len(data)/10 + r.IntN(len(data)*8/10)
		return data[:n], fmt.Sprintf("cut at %d", n)
	case 1:
		for range 1 + r.IntN(3) {
			data[at()] ^= 1 << r.IntN(8)
		}
		return data, "a few bits"
	case 2:
		for range len(data) / 200 {
			data[at()] = byte(r.Uint32())
		}
		return data, "a byte in 200"
	case 3:
		i := at()
		clear(data[i:min(len(data), i+len(data)/20+1)])
		return data, fmt.Sprintf("zeros at %d", i)
	}
	i, j := at(), at()
	return slices.Delete(data, min(i, j), min(max(i, j), min(i, j)+len(data)/4)), fmt.Sprintf("a hole at %d", min(i, j))
}

func TestDamagedInputs(t *testing.T) {
	each := 10
	if testing.Short() {
		each = 3
	}
	if n, err := strconv.Atoi(os.Getenv("RETIME_DAMAGED")); err == nil {
		each = n
	}
	others, _ := strconv.ParseUint(os.Getenv("RETIME_DAMAGED_SEED"), 10, 32)
	dir := t.TempDir()
	clip := writeScene(t, 64, 48, 36, 24, 1) // x265 3.5 writes beyond its heap for narrower pictures
	words := filepath.Join(dir, "words.srt")
	if err := os.WriteFile(words, []byte("1\n00:00:00,200 --> 00:00:00,700\n<i>One</i>\n\n2\n00:00:00,800 --> 00:00:01,400\nTwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, k := range damagedKinds {
		args := append([]string{"-i", clip, "-f", "lavfi", "-i", "sine=d=1.5", "-map", "0:v"}, k.args...)
		if slices.Contains(k.args, "-c:a") || slices.Contains(k.args, "-ar") {
			args = append(args, "-map", "1:a")
		}
		if slices.Contains(k.args, "-c:s") {
			args = append([]string{"-i", words}, append(args, "-map", "0:s")...)
			args[slices.Index(args, "0:v")] = "1:v"
		}
		ffmpeg(t, append(args, filepath.Join(dir, k.name))...)
	}
	handles, routines := cliptest.OpenFiles(t), runtime.NumGoroutine()
	cuts, kept := 0, 0
	for i, k := range damagedKinds {
		whole, err := os.ReadFile(filepath.Join(dir, k.name))
		if err != nil {
			t.Fatal(err)
		}
		for j := range each {
			seed := 1_000_000*others + uint64(1000*i+j)
			data, what := spoil(whole, seed)
			frames, err := convertDamaged(t, k.name, data, fmt.Sprintf("%s, seed %d, %s", k.name, seed, what))
			if share := float64(len(data)) / float64(len(whole)); strings.HasPrefix(what, "cut") && share > 0.5 && readableCut[k.name] {
				cuts++
				if float64(frames) > share*36*2*0.4 {
					kept++
				} else {
					t.Logf("%s, seed %d, %s: %d of 72 frames from %.0f %% of the file: %v", k.name, seed, what, frames, 100*share, err)
				}
			}
		}
	}
	if kept < cuts*9/10 {
		t.Errorf("of %d cut inputs %d kept their good part", cuts, kept)
	}
	if n := cliptest.OpenFiles(t); n > handles {
		t.Errorf("%d files are open, %d before", n, handles)
	}
	if n := cliptest.RoutinesLeft(routines); n > routines {
		t.Errorf("%d goroutines are left, %d before", n, routines)
	}
}

// Containers that state no duration mark their end, so that a cut is found wherever it is.
func TestMissingEnd(t *testing.T) {
	clip := writeScene(t, 64, 48, 24, 24, 1)
	for _, c := range []struct {
		name string
		args []string
	}{
		{"a.gif", nil},
		{"a.ogv", []string{"-c:v", "libtheora", "-g", "6"}},
		{"sound.ogv", []string{"-f", "lavfi", "-i", "sine=d=1", "-c:v", "libtheora", "-g", "6", "-c:a", "libvorbis"}},
	} {
		whole := filepath.Join(t.TempDir(), c.name)
		ffmpeg(t, append(append([]string{"-i", clip}, c.args...), whole)...)
		data, err := os.ReadFile(whole)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := convertDamaged(t, c.name, data, c.name); err != nil {
			t.Errorf("%s, whole: %v", c.name, err)
		}
		for _, cut := range []int{1, 20, len(data) / 4, len(data) / 2} {
			frames, err := convertDamaged(t, c.name, data[:len(data)-cut], fmt.Sprintf("%s without %d bytes", c.name, cut))
			if fault.KindOf(err) != fault.BadData || frames == 0 {
				t.Errorf("%s without its last %d bytes: %d frames, %v", c.name, cut, frames, err)
			}
		}
	}
}

// A file that breaks off within a packet is truncated, however little of it is missing, and
// so is an AVI file with fewer frames than its header states. What was recorded into a pipe
// is whole without a stated length.
func TestCutWithinPacket(t *testing.T) {
	clip := writeScene(t, 96, 64, 48, 24, 1)
	video, sound := []string{"-c:v", "mpeg4", "-g", "1", "-q:v", "2"}, []string{"-f", "lavfi", "-i", "sine=d=2.2:r=44100"}
	for _, c := range []struct {
		name string
		pipe bool // the file is recorded into a pipe
		args []string
	}{
		{"a.mkv", false, video},
		{"sound.mkv", false, append(append(slices.Clone(sound), video...), "-c:a", "flac")},
		{"a.webm", false, []string{"-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-b:v", "3M"}},
		{"a.avi", false, video},
		{"sound.avi", false, append(append(slices.Clone(sound), video...), "-c:a", "pcm_s16le")},
		{"a.flv", false, []string{"-c:v", "flv1", "-g", "1", "-q:v", "2"}},
		{"frag.mp4", false, append(slices.Clone(video), "-movflags", "frag_keyframe+empty_moov")},
		{"live.mkv", true, video},
		{"live.avi", true, video},
	} {
		whole := filepath.Join(t.TempDir(), c.name)
		args := append([]string{"-i", clip}, c.args...)
		if c.pipe {
			args = append(args, "-f", map[string]string{".mkv": "matroska", ".avi": "avi"}[filepath.Ext(c.name)], "-seekable", "0")
		}
		ffmpeg(t, append(args, "file:"+whole)...)
		data, err := os.ReadFile(whole)
		if err != nil {
			t.Fatal(err)
		}
		if frames, err := convertDamaged(t, c.name, data, c.name); err != nil || frames < 96 {
			t.Errorf("%s, whole: %d frames, %v", c.name, frames, err)
		}
		for _, percent := range []int{30, 60, 80, 90} {
			frames, err := convertDamaged(t, c.name, data[:len(data)*percent/100], fmt.Sprintf("%d %% of %s", percent, c.name))
			if fault.KindOf(err) != fault.BadData || frames == 0 || frames >= 96 {
				t.Errorf("%d %% of %s: %d frames, %v", percent, c.name, frames, err)
			}
		}
	}
}

// What looks as if its end were missing, but is whole, is no damage.
func TestWholeInputs(t *testing.T) {
	clip := writeScene(t, 96, 64, 48, 24, 1)
	sound := []string{"-f", "lavfi", "-i", "sine=d=5:r=44100"}
	for _, c := range []struct {
		name    string
		args    []string
		padding int // zeros at the end
	}{
		{"sound.wmv", append(slices.Clone(sound), "-c:v", "wmv2", "-c:a", "wmav2"), 0}, // states one length for both
		{"live.mkv", []string{"-c:v", "mpeg4", "-live", "1", "-seekable", "0"}, 1000},
		{"live.flv", []string{"-c:v", "flv1", "-seekable", "0", "-flvflags", "no_duration_filesize"}, 1000},
	} {
		whole := filepath.Join(t.TempDir(), c.name)
		ffmpeg(t, append(append([]string{"-i", clip}, c.args...), "file:"+whole)...)
		data, err := os.ReadFile(whole)
		if err != nil {
			t.Fatal(err)
		}
		if frames, err := convertDamaged(t, c.name, append(data, make([]byte, c.padding)...), c.name); err != nil || frames < 96 {
			t.Errorf("%s: %d frames, %v", c.name, frames, err)
		}
	}
}

// Timestamps that begin late are no damage; a file that is cut still is.
func TestLateTimestampsAreWhole(t *testing.T) {
	for _, name := range []string{"late.mkv", "late.webm", "late.nut", "late.mp4", "late.ts"} {
		for _, offset := range []string{"5", "3600"} {
			codecs := []string{"-c:v", "libx264", "-c:a", "aac"}
			if name == "late.webm" {
				codecs = []string{"-c:v", "libvpx", "-b:v", "200k", "-c:a", "libopus"}
			}
			args := append([]string{"-f", "lavfi", "-i", "sine=d=3:r=48000"}, codecs...)
			whole := broadcast(t, name, 3, append(args, "-g", "10", "-output_ts_offset", offset)...)
			o := lossless(t, whole)
			o.Synthesis.Mode = warp.Nearest
			if report := mustRun(t, o); report.Frames != 75 {
				t.Errorf("%s at %s s: %d frames, want 75", name, offset, report.Frames)
			}
			if name != "late.mkv" {
				continue
			}
			data, err := os.ReadFile(whole)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(whole, data[:len(data)/2], 0o600); err != nil {
				t.Fatal(err)
			}
			o.Timing.From = big.NewRat(1, 2)
			if _, err := pipeline.Run(t.Context(), o); fault.KindOf(err) != fault.BadData {
				t.Errorf("half of %s at %s s: %v", name, offset, err)
			}
		}
	}
}

// readableCut are the containers that need nothing at their ends to be read.
var readableCut = map[string]bool{
	"frag.mp4": true, "a.mkv": true, "b.mkv": true, "a.webm": true, "a.ts": true, "a.mpg": true, "a.avi": true, "a.flv": true,
	"a.nut": true, "a.y4m": true, "a.h264": true, "a.hevc": true, "a.ivf": true, "a.mjpeg": true, "a.asf": true,
}

// convertDamaged converts damaged data and checks all that must hold whatever the
// damage. It returns how many frames are in the output.
func convertDamaged(t *testing.T, name string, data []byte, what string) (frames int64, err error) {
	t.Helper()
	in, out := t.TempDir(), t.TempDir()
	input := filepath.Join(in, name)
	if err := os.WriteFile(input, data, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute) // for what never ends
	defer cancel()
	o := pipeline.Options{
		Input:     pipeline.Input{File: input, Deinterlace: pipeline.IgnoreFields},
		Output:    pipeline.Output{File: filepath.Join(out, "out.nut"), VideoCodec: "rawvideo"},
		Synthesis: pipeline.Synthesis{Mode: warp.Blend},
		Timing:    pipeline.Timing{Rate: pipeline.Rate{Value: big.NewRat(48, 1)}},
		Compute:   pipeline.Compute{Threads: 2},
		Hooks:     pipeline.Hooks{Log: slog.New(slog.DiscardHandler)},
	}
	// Damage to a header's time base may make hours of the clip, which is long, but no hang.
	long := false
	o.Hooks.Progress = func(p pipeline.Progress) {
		if p.Frames > 5000 {
			long = true
			cancel()
		}
	}
	began := time.Now()
	report, err := pipeline.Run(ctx, o)
	if d := time.Since(began); d > 2*time.Second {
		t.Logf("%s: took %s", what, d)
	}
	if long {
		t.Logf("%s: more than 5000 frames", what)
		return 0, err
	}
	if ctx.Err() != nil {
		t.Errorf("%s: hangs", what)
		return 0, err
	}
	if err != nil {
		if kind := fault.KindOf(err); kind != fault.BadData {
			t.Errorf("%s: kind %d: %v", what, kind, err)
		}
		if strings.Contains(err.Error(), "\n") || len(err.Error()) > 600 {
			t.Errorf("%s: the message is no line: %q", what, err)
		}
	}
	entries, _ := os.ReadDir(out)
	switch {
	case report == nil:
		if err == nil || len(entries) != 0 {
			t.Errorf("%s: %d files are left without a report, error %v", what, len(entries), err)
		}
		return 0, err
	case len(entries) != 1 || filepath.Base(report.Output) != entries[0].Name():
		t.Errorf("%s: reported %s beside %v", what, report.Output, entries)
		return 0, err
	}
	if partial := strings.Contains(report.Output, ".partial."); partial != (err != nil) {
		t.Errorf("%s: %s with error %v", what, report.Output, err)
	}
	if n, readErr := countFrames(report.Output); readErr != nil || n != report.Frames {
		t.Errorf("%s: %d frames can be read of the %d reported: %v", what, n, report.Frames, readErr)
	}
	return report.Frames, err
}

// countFrames decodes a file.
func countFrames(name string) (n int64, err error) {
	r, err := media.Open(context.Background(), name, media.ReaderOptions{})
	if err != nil {
		return 0, err
	}
	defer r.Close()
	for {
		f, err := r.Read()
		if errors.Is(err, io.EOF) {
			return n, nil
		} else if err != nil {
			return n, err
		}
		f.Release()
		n++
	}
}
