package media_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/warp"
)

// Pictures go in and come out as numbered files, those that were shot unchanged.
func TestImageSequences(t *testing.T) {
	for _, c := range []struct{ ext, format string }{
		{"png", "rgb24"}, {"png", "rgb48be"}, {"png", "gray16be"}, {"png", "rgba"}, {"tiff", "rgb48le"}, {"tiff", "yuv422p"},
		{"dpx", "gbrp10be"}, {"dpx", "rgb48le"}, {"exr", "gbrpf32le"}, {"bmp", "bgr24"}, {"jpg", "yuvj444p"},
	} {
		in, out := t.TempDir(), t.TempDir()
		ffmpeg(t, "-i", writeScene(t, 64, 48, 3, 24, 1), "-pix_fmt", c.format, "-start_number", "37", filepath.Join(in, "f%04d."+c.ext))
		o := pipeline.Options{
			Input:     pipeline.Input{File: filepath.Join(in, "f%04d."+c.ext), Rate: big.NewRat(24, 1)},
			Output:    pipeline.Output{File: filepath.Join(out, "%03d."+c.ext)},
			Synthesis: pipeline.Synthesis{Mode: warp.Blend},
			Timing:    pipeline.Timing{Rate: pipeline.Rate{Value: big.NewRat(2, 1), Multiple: true}},
		}
		report := mustRun(t, o)
		if report.Frames != 6 || report.Rate.Cmp(big.NewRat(48, 1)) != 0 || report.Output != o.Output.File {
			t.Errorf("%s: %d frames at %s in %s", c.ext, report.Frames, report.Rate.RatString(), report.Output)
		}
		entries, _ := os.ReadDir(out)
		if len(entries) != 6 {
			t.Fatalf("%s: %d files, want 6: %v", c.ext, len(entries), entries)
		}
		if c.ext == "jpg" {
			continue // which loses
		}
		for i := range 3 {
			want, _, v := readAll(t, filepath.Join(in, fmt.Sprintf("f%04d.%s", 37+i, c.ext)))
			got, _, w := readAll(t, filepath.Join(out, fmt.Sprintf("%03d.%s", 37+2*i, c.ext)))
			if v.Source != w.Source || !bytes.Equal(want[0], got[0]) {
				t.Errorf("%s, %s: picture %d came through changed, in %s", c.ext, v.Source, i, w.Source)
			}
		}
	}
}

// Made frames of pictures in floating point keep what is brighter than white.
func TestFloatSequence(t *testing.T) {
	const w, h = 16, 16
	in, out := t.TempDir(), t.TempDir()
	var raw []byte
	for _, light := range []float32{8, 4} { // on a ground of 0.25, beside white
		for range 3 {
			for i := range w * h {
				v := [3]float32{0.25, 1, light}[i%w*3/w]
				raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
			}
		}
	}
	clip := filepath.Join(in, "raw")
	if err := os.WriteFile(clip, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	ffmpeg(t, "-f", "rawvideo", "-pix_fmt", "gbrpf32le", "-s", fmt.Sprintf("%dx%d", w, h), "-i", clip, filepath.Join(in, "%d.exr"))
	o := pipeline.Options{Input: pipeline.Input{File: filepath.Join(in, "%d.exr"), Rate: big.NewRat(24, 1)}, Output: pipeline.Output{File: filepath.Join(out, "%d.exr")}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}, Timing: pipeline.Timing{Rate: pipeline.Rate{Value: big.NewRat(2, 1), Multiple: true}}}
	mustRun(t, o)
	made := filepath.Join(out, "made")
	ffmpeg(t, "-i", filepath.Join(out, "2.exr"), "-f", "rawvideo", "-pix_fmt", "gbrpf32le", made)
	data, err := os.ReadFile(made)
	if err != nil || len(data) != 3*4*w*h {
		t.Fatalf("%d bytes, %v", len(data), err)
	}
	for _, c := range []struct {
		x         int
		low, high float32
	}{{1, 0.2499, 0.2501}, {8, 1, 1}, {w - 1, 5, 6.5}} { // halfway between 4 and 8 to the eye
		v := math.Float32frombits(binary.LittleEndian.Uint32(data[4*c.x:]))
		if v < c.low || v > c.high {
			t.Errorf("column %d of the made frame is %v, want %v to %v", c.x, v, c.low, c.high)
		}
	}
}

func TestSequenceFaults(t *testing.T) {
	dir := t.TempDir()
	pattern := filepath.Join(dir, "f%02d.png")
	ffmpeg(t, "-i", writeScene(t, 64, 48, 6, 24, 1), pattern)
	var said strings.Builder
	o := pipeline.Options{Input: pipeline.Input{File: pattern}, Output: pipeline.Output{File: filepath.Join(dir, "out.nut")}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}, Hooks: pipeline.Hooks{Log: slog.New(slog.NewTextHandler(&said, nil))}}
	if report := mustRun(t, o); report.Rate.Cmp(big.NewRat(25, 1)) != 0 || !strings.Contains(said.String(), "Input.Rate") {
		t.Errorf("without a rate: %s; said %q", report.Rate.RatString(), said.String())
	}
	if err := os.Remove(filepath.Join(dir, "f04.png")); err != nil {
		t.Fatal(err)
	}
	clip := writeScene(t, 64, 48, 3, 24, 1)
	for _, c := range []struct {
		input, output string
		rate          *big.Rat
		kind          fault.Kind
		says          string
	}{
		{pattern, filepath.Join(dir, "x.nut"), nil, fault.BadData, "number 4 is missing"},
		{filepath.Join(dir, "g%02d.png"), filepath.Join(dir, "x.nut"), nil, fault.NoInput, "no file"},
		{filepath.Join(dir, "no", "%02d.png"), filepath.Join(dir, "x.nut"), nil, fault.NoInput, "no file"},
		{o.Output.File, filepath.Join(dir, "x.nut"), big.NewRat(24, 1), fault.Usage, "timestamps of its own"},
		{clip, pattern, nil, fault.CannotWrite, "Output.Overwrite"},
		{clip, filepath.Join(dir, "no", "%02d.png"), nil, fault.CannotWrite, "no"},
		{clip, filepath.Join(dir, "one.png"), nil, fault.Usage, "%05d"},
	} {
		_, err := pipeline.Run(context.Background(), pipeline.Options{Input: pipeline.Input{File: c.input, Rate: c.rate}, Output: pipeline.Output{File: c.output}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}})
		if fault.KindOf(err) != c.kind || !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("%s to %s: %v, want kind %d and %q", c.input, c.output, err, c.kind, c.says)
		}
	}
	for name, spoil := range map[string]func(string) error{
		"is empty":       func(file string) error { return os.WriteFile(file, nil, 0o600) },
		"is a directory": func(file string) error { return os.Mkdir(file, 0o755) },
		"cannot be read": func(file string) error { return os.Symlink("nowhere", file) },
	} {
		for _, n := range []int{1, 4, 6} { // the first, one within and the last
			in := filepath.Join(t.TempDir(), "%d.png")
			ffmpeg(t, "-i", clip, "-vf", "loop=1:1,loop=-1:1", "-frames:v", "6", in)
			if err := errors.Join(os.Remove(fmt.Sprintf(in, n)), spoil(fmt.Sprintf(in, n))); err != nil {
				t.Fatal(err)
			}
			_, err := pipeline.Run(t.Context(), pipeline.Options{Input: pipeline.Input{File: in}, Output: pipeline.Output{File: filepath.Join(dir, "x.nut")}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}})
			if fault.KindOf(err) != fault.BadData || !strings.Contains(fmt.Sprint(err), fmt.Sprintf("%d.png %s", n, name)) {
				t.Errorf("picture %d %s: %v", n, name, err)
			}
		}
	}
	out := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	_, err := pipeline.Run(ctx, pipeline.Options{
		Input:     pipeline.Input{File: clip},
		Output:    pipeline.Output{File: filepath.Join(out, "%d.png")},
		Synthesis: pipeline.Synthesis{Mode: warp.Blend},
		Timing:    pipeline.Timing{Rate: pipeline.Rate{Value: big.NewRat(96, 1)}},
		Hooks: pipeline.Hooks{Progress: func(p pipeline.Progress) {
			if p.Frames == 2 {
				cancel()
			}
		}},
	})
	if fault.KindOf(err) != fault.Cancelled {
		t.Errorf("cancelled: %v", err)
	}
	wantEmpty(t, out)
}

// Streams, and parts of them, go through pipes, which cannot seek.
func TestPipesAsInput(t *testing.T) {
	for _, format := range []string{"yuv4mpegpipe", "nut", "matroska"} {
		clip := filepath.Join(t.TempDir(), "in."+format)
		args := []string{"-i", writeScene(t, 192, 108, 24, 24, 1), "-f", format}
		if format != "yuv4mpegpipe" {
			args = append(args, "-c:v", "ffv1")
		}
		ffmpeg(t, append(args, clip)...)
		data, err := os.ReadFile(clip)
		if err != nil {
			t.Fatal(err)
		}
		inRead, inWrite, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		outRead, outWrite, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			_, _ = inWrite.Write(data)
			inWrite.Close()
		}()
		received := make(chan []byte)
		go func() {
			all, _ := io.ReadAll(outRead)
			received <- all
		}()
		o := pipeline.Options{
			Input:     pipeline.Input{File: fmt.Sprintf("pipe:%d", inRead.Fd())},
			Output:    pipeline.Output{File: fmt.Sprintf("/dev/fd/%d", outWrite.Fd()), Format: format},
			Synthesis: pipeline.Synthesis{Mode: warp.Blend},
			Timing:    pipeline.Timing{Rate: pipeline.Rate{Value: big.NewRat(2, 1), Multiple: true}, From: big.NewRat(1, 12)},
		}
		if format != "yuv4mpegpipe" {
			o.Output.VideoCodec = "ffv1"
		}
		mustRun(t, o)
		outWrite.Close()
		back := filepath.Join(t.TempDir(), "back")
		if err := os.WriteFile(back, <-received, 0o600); err != nil {
			t.Fatal(err)
		}
		inRead.Close()
		outRead.Close()
		want, _, _ := readAll(t, clip)
		got, _, _ := readAll(t, back)
		if want = want[2:]; len(got) != 44 {
			t.Fatalf("%s: %d frames, want 44", format, len(got))
		}
		for i := range want {
			if !bytes.Equal(want[i], got[2*i]) {
				t.Errorf("%s: frame %d came through changed", format, i)
			}
		}
	}
}

// Pictures come in by a glob, and go out under numbers of choice.
func TestGlobAndStartNumber(t *testing.T) {
	in, out := t.TempDir(), t.TempDir()
	ffmpeg(t, "-i", writeScene(t, 64, 48, 12, 24, 1), "-pix_fmt", "rgb24", filepath.Join(in, "%d.png"))
	o := pipeline.Options{
		Input: pipeline.Input{File: filepath.Join(in, "*.png")}, Output: pipeline.Output{File: filepath.Join(out, "%03d.png"), StartNumber: new(0)},
		Synthesis: pipeline.Synthesis{Mode: warp.Nearest},
	}
	for _, first := range []int{0, 1001} {
		o.Output.StartNumber, o.Output.Overwrite = &first, true
		if report := mustRun(t, o); report.Frames != 12 {
			t.Errorf("%d frames", report.Frames)
		}
		for i := range 12 {
			want, _, _ := readAll(t, filepath.Join(in, fmt.Sprintf("%d.png", 1+i)))
			got, _, _ := readAll(t, filepath.Join(out, fmt.Sprintf("%03d.png", first+i)))
			if !bytes.Equal(want[0], got[0]) {
				t.Errorf("from %d: picture %d is another", first, i)
			}
		}
	}
	if err := os.Truncate(filepath.Join(in, "4.png"), 0); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*pipeline.Options)
		kind   fault.Kind
		says   string
	}{
		"an empty file": {func(*pipeline.Options) {}, fault.BadData, "4.png is empty"},
		"no sequence":   {func(o *pipeline.Options) { o.Output.File = filepath.Join(out, "a.nut") }, fault.Usage, "Output.StartNumber"},
		"far below 0":   {func(o *pipeline.Options) { o.Output.StartNumber = new(-2_000_000_000) }, fault.Usage, "Output.StartNumber -2000000000"},
		"no files":      {func(o *pipeline.Options) { o.Input.File = filepath.Join(in, "*.jpg") }, fault.NoInput, "no file goes by that pattern"},
	} {
		o := o
		c.change(&o)
		if _, err := pipeline.Run(t.Context(), o); fault.KindOf(err) != c.kind || !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
