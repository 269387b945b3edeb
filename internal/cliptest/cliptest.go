// Package cliptest makes and reads the clips of tests.
package cliptest

import (
	"bytes"
	"context"
	"encoding/binary"
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
	"retime/pipeline/media"
	"retime/pipeline/timeline"
	"retime/pipeline/timeline/curve"
	"retime/testdata/scene"
)

// FFmpeg runs the ffmpeg program, which makes the inputs that YUV4MPEG2 cannot be.
func FFmpeg(t testing.TB, args ...string) string {
	t.Helper()
	return Program(t, "ffmpeg", append([]string{"-v", "error", "-nostdin", "-y"}, args...)...)
}

// Program returns what a program prints; the test fails if the program does.
func Program(t testing.TB, name string, args ...string) string {
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

// Samples returns f's samples without padding.
func Samples(f *frame.Frame) []byte {
	var b []byte
	for _, p := range f.Planes {
		for y := range p.Height {
			b = append(b, p.Pix[y*p.Stride:][:p.Width*f.Format.Bytes()]...)
		}
	}
	return b
}

// ReadAll decodes a file to copies of its frames.
func ReadAll(t testing.TB, name string) (frames [][]byte, times []*big.Rat, v media.Video) {
	t.Helper()
	v = Each(t, name, func(f *frame.Frame, v media.Video) {
		frames = append(frames, Samples(f))
		times = append(times, new(big.Rat).Mul(big.NewRat(f.PTS, 1), v.TimeBase))
	})
	return frames, times, v
}

// Each calls use with each frame of a file, and returns the file's video.
func Each(t testing.TB, name string, use func(*frame.Frame, media.Video)) media.Video {
	t.Helper()
	r, err := media.Open(context.Background(), name, media.ReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		f, err := r.Read()
		if errors.Is(err, io.EOF) {
			return r.Video()
		} else if err != nil {
			t.Fatal(err)
		}
		use(f, r.Video())
		f.Release()
	}
}

// Rewrite changes the bytes of a file.
func Rewrite(t testing.TB, name string, change func(data []byte)) {
	t.Helper()
	data, err := os.ReadFile(name)
	Must(t, err)
	change(data)
	Must(t, os.WriteFile(name, data, 0o600))
}

// Turn writes a matrix with the numbers a, b, c and d of ISO/IEC 14496-12 into the first track header of an MP4.
func Turn(t testing.TB, name string, a, b, c, d int32) {
	t.Helper()
	Rewrite(t, name, func(data []byte) {
		at := bytes.Index(data, []byte("tkhd"))
		if at < 0 {
			t.Fatal("no track header")
		}
		for i, v := range []int32{a, b, 0, c, d} {
			binary.BigEndian.PutUint32(data[at+44+4*i:], uint32(v<<16))
		}
	})
}

// PSNR is the peak signal-to-noise ratio of 8-bit samples in dB.
func PSNR(a, b []byte) float64 {
	var sum float64
	for i := range a {
		d := float64(a[i]) - float64(b[i])
		sum += d * d
	}
	return 10 * math.Log10(255*255*float64(len(a))/sum)
}

// WriteScene makes a YUV4MPEG2 file of the test scene.
func WriteScene(t testing.TB, width, height, frames, num, den int) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "scene.y4m")
	if err := scene.CreateY4M(name, width, height, frames, num, den); err != nil {
		t.Fatal(err)
	}
	return name
}

// WriteCut writes a clip of the given size and number of frames whose second half is another picture.
func WriteCut(t testing.TB, width, height, frames int) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "cut.y4m")
	if err := scene.CreateCutY4M(name, width, height, frames); err != nil {
		t.Fatal(err)
	}
	return name
}

// StreamsOf lists what ffprobe shows of a file's streams of a kind.
func StreamsOf(t testing.TB, name, kind, entries string) []string {
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

// ParseCurve returns the keyframes of a curve.
func ParseCurve(t testing.TB, text string) []curve.Keyframe {
	t.Helper()
	keys, err := timeline.ParseKeyframes(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// WantEmpty fails where a run has left a file behind.
func WantEmpty(t testing.TB, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		t.Errorf("left behind: %s", e.Name())
	}
}

// Ratio returns the number that a text such as "24000/1001" states.
func Ratio(s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		panic(s)
	}
	return r
}

// Must fails the test if there is an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
