package media_test

import (
	"context"
	"errors"
	"io"
	"math"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/media"
	"retime/pipeline/timeline"
	"retime/pipeline/timeline/curve"
	"retime/testdata/scene"
)

// The tests of this package convert clips, as nothing else uses all of a Reader and a Writer.

// ffmpeg runs the ffmpeg program, which makes the inputs that YUV4MPEG2 cannot be.
func ffmpeg(t testing.TB, args ...string) string {
	t.Helper()
	return program(t, "ffmpeg", append([]string{"-v", "error", "-nostdin", "-y"}, args...)...)
}

// program returns what a program prints; the test fails if the program does.
func program(t testing.TB, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skipf("needs the %s program; make deps installs it", name)
	}
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// lossless returns options that keep every sample.
func lossless(t testing.TB, input string) pipeline.Options {
	return pipeline.Options{
		Input:  pipeline.Input{File: input},
		Output: pipeline.Output{File: filepath.Join(t.TempDir(), "out.nut"), VideoCodec: "rawvideo", Overwrite: true},
	}
}

func mustRun(t testing.TB, o pipeline.Options) *pipeline.Report {
	t.Helper()
	report, err := pipeline.Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// samples returns f's samples without padding.
func samples(f *frame.Frame) []byte {
	var b []byte
	for _, p := range f.Planes {
		for y := range p.Height {
			b = append(b, p.Pix[y*p.Stride:][:p.Width*f.Format.Bytes()]...)
		}
	}
	return b
}

// readAll decodes a file to copies of its frames.
func readAll(t testing.TB, name string) (frames [][]byte, times []*big.Rat, v media.Video) {
	t.Helper()
	r, err := media.Open(context.Background(), name, media.ReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		f, err := r.Read()
		if errors.Is(err, io.EOF) {
			return frames, times, r.Video()
		} else if err != nil {
			t.Fatal(err)
		}
		frames = append(frames, samples(f))
		times = append(times, new(big.Rat).Mul(big.NewRat(f.PTS, 1), r.Video().TimeBase))
		f.Release()
	}
}

// psnr is the peak signal-to-noise ratio of 8-bit samples in dB.
func psnr(a, b []byte) float64 {
	var sum float64
	for i := range a {
		d := float64(a[i]) - float64(b[i])
		sum += d * d
	}
	return 10 * math.Log10(255*255*float64(len(a))/sum)
}

// writeScene makes a YUV4MPEG2 file of the test scene.
func writeScene(t testing.TB, width, height, frames, num, den int) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "scene.y4m")
	if err := scene.CreateY4M(name, width, height, frames, num, den); err != nil {
		t.Fatal(err)
	}
	return name
}

// streamsOf lists what ffprobe shows of a file's streams of a kind.
func streamsOf(t *testing.T, name, kind, entries string) []string {
	t.Helper()
	out, err := exec.Command("ffprobe", "-v", "error", "-select_streams", kind, "-show_entries", "stream="+entries, "-of", "csv=p=0", name).Output()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	lines := strings.Fields(string(out))
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], ",") // behind fields that are not there
	}
	return lines
}

func mustParse(t *testing.T, text string) []curve.Keyframe {
	t.Helper()
	keys, err := timeline.ParseKeyframes(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// wantEmpty fails where a run has left a file behind.
func wantEmpty(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		t.Errorf("left behind: %s", e.Name())
	}
}
