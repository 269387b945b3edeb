package media

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/asticode/go-astiav"

	"retime/pipeline/timeline/curve"
)

// userData returns the HDR10+ user data of picture k, built from fields of SMPTE ST
// 2094-40 with their sizes in bits.
func userData(k int) []byte {
	fields := [][2]int{
		{0xb5, 8}, {0x3c, 16}, {1, 16}, {4, 8}, {1, 8}, {1, 2}, // application 4, version 1, one window
		{400, 27}, {0, 1},
		{10000 + k, 17}, {20000 + 256*k, 17}, {0, 17}, {5000 + k, 17}, // maxscl, with zeros in a row, average
		{3, 4}, {1, 7}, {100, 17}, {50, 7}, {3000, 17}, {99, 7}, {90000, 17},
		{5, 10}, {0, 1},
		{1, 1}, {100, 12}, {200 + k, 12}, {3, 4}, {256, 10}, {512, 10}, {768, 10},
		{1, 1}, {9, 6},
	}
	var out []byte
	bits := 0
	for _, f := range fields {
		for i := f[1] - 1; i >= 0; i-- {
			if bits%8 == 0 {
				out = append(out, 0)
			}
			out[bits/8] |= byte(f[0]>>i&1) << (7 - bits%8)
			bits++
		}
	}
	return out
}

func ffmpegProgram(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, append([]string{"-v", "error"}, args...)...).CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("needs the ffmpeg program; make deps installs it")
	} else if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// dynamicClip makes a clip of five pictures, each with its own HDR10+ metadata.
func dynamicClip(t *testing.T) string {
	t.Helper()
	raw, clip := filepath.Join(t.TempDir(), "raw.hevc"), filepath.Join(t.TempDir(), "in.mkv")
	ffmpegProgram(t, "ffmpeg", "-f", "lavfi", "-i", "testsrc2=s=64x64:r=24", "-frames:v", "5", "-pix_fmt", "yuv420p10le", "-c:v", "libx265",
		"-x265-params", "log-level=error:aud=1:bframes=0:keyint=1", raw)
	data, err := os.ReadFile(raw)
	if err != nil {
		t.Fatal(err)
	}
	delimiter := []byte{0, 0, 0, 1, 35 << 1, 1}
	units := bytes.Split(data, delimiter)[1:]
	if len(units) != 5 {
		t.Fatalf("%d access units", len(units))
	}
	var all []byte
	for k, u := range units {
		all = append(all, withUnit(append(bytes.Clone(delimiter), u...), seiUnit(userData(k)))...)
	}
	if err := os.WriteFile(raw, all, 0o600); err != nil {
		t.Fatal(err)
	}
	ffmpegProgram(t, "ffmpeg", "-framerate", "24", "-i", raw, "-c", "copy", clip)
	return clip
}

// described returns the pictures' HDR10+ metadata as ffprobe prints it.
func described(t *testing.T, name string) []string {
	t.Helper()
	text := ffmpegProgram(t, "ffprobe", "-show_frames", name)
	return regexp.MustCompile(`(?s)side_data_type=HDR Dynamic Metadata SMPTE2094-40.*?\[/SIDE_DATA\]`).FindAllString(text, -1)
}

// convertDynamic converts clip, decoded and encoded, to out and returns what was said.
func convertDynamic(t *testing.T, clip, out string, encoder EncoderOptions) string {
	t.Helper()
	ctx := context.Background()
	source, err := Open(ctx, clip, ReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	var said strings.Builder
	w, err := Create(ctx, out, source, WriterOptions{
		Encoder: encoder, Rate: big.NewRat(24, 1), Verify: true, StreamOptions: StreamOptions{
			Curve: curve.Constant(new(big.Rat), big.NewRat(1, 1)), Log: slog.New(slog.NewTextHandler(&said, &slog.HandlerOptions{Level: slog.LevelWarn})),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for {
		f, err := source.Read()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if err := w.WriteFrame(f, nil, nil); err != nil {
			t.Fatal(err)
		}
		f.Release()
	}
	if _, err := w.Finish(false); err != nil {
		t.Fatal(err)
	}
	return said.String()
}

func TestHDR10Plus(t *testing.T) {
	clip := dynamicClip(t)
	want := described(t, clip)
	if len(want) != 5 || !strings.Contains(want[3], "maxscl=10003/100000") || !strings.Contains(want[2], "knee_point_y=202/4095") {
		t.Fatalf("FFmpeg reads %q", want)
	}
	for _, name := range []string{"out.mkv", "out.mp4", "out.hevc"} {
		out := filepath.Join(t.TempDir(), name)
		convertDynamic(t, clip, out, EncoderOptions{Codec: "libx265", CRF: 40})
		if got := described(t, out); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: %d descriptions\n%s\nwant\n%s", name, len(got), got, want)
		}
	}
}

// What FFmpeg's own encoders do with HDR10+ depends on its version; what is said to be lost
// is lost, and nothing else.
func TestHDR10PlusOfOtherEncoders(t *testing.T) {
	clip := dynamicClip(t)
	want := described(t, clip)
	for name, options := range map[string]map[string]string{"libaom-av1": {"cpu-used": "8"}, "libsvtav1": {"preset": "12"}, "libvpx-vp9": {"cpu-used": "8"}, "libx264": nil} {
		if astiav.FindEncoderByName(name) == nil {
			continue
		}
		out := filepath.Join(t.TempDir(), "out.mkv")
		said := convertDynamic(t, clip, out, EncoderOptions{Codec: name, CRF: -1, Options: options})
		got := described(t, out)
		if kept := strings.Join(got, "\n") == strings.Join(want, "\n"); kept == strings.Contains(said, nameHDR10Plus) || !kept && len(got) > 0 {
			t.Errorf("%s: %d descriptions of %d; said %q", name, len(got), len(want), said)
		}
	}
}

func TestUnits(t *testing.T) {
	unit := seiUnit([]byte{0, 0, 0, 0, 0, 1, 0, 0, 3})
	if want := []byte{0, 0, 0, 1, 39 << 1, 1, 4, 9, 0, 0, 3, 0, 0, 3, 0, 1, 0, 0, 3, 3, 0x80}; !bytes.Equal(unit, want) {
		t.Errorf("% x, want % x", unit, want)
	}
	if unit := seiUnit(make([]byte, 300)); unit[7] != 255 || unit[8] != 45 {
		t.Errorf("size % x", unit[6:10])
	}
	for _, c := range []struct{ access, want []byte }{
		{[]byte{0, 0, 0, 1, 35 << 1, 1, 0, 0, 1, 1 << 1, 1, 9}, []byte{0, 0, 0, 1, 35 << 1, 1, 7, 0, 0, 1, 1 << 1, 1, 9}},
		{[]byte{0, 0, 0, 1, 19 << 1, 1}, []byte{7, 0, 0, 0, 1, 19 << 1, 1}},
		{[]byte{0, 0, 1}, nil},
		{[]byte{1, 2, 3}, nil},
		{nil, nil},
	} {
		if got := withUnit(c.access, []byte{7}); !bytes.Equal(got, c.want) {
			t.Errorf("% x: % x, want % x", c.access, got, c.want)
		}
	}
}
