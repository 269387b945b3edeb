package exr

import (
	"bytes"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// sample is one for each place, of values that halves hold.
func sample(k int) func(x, y int) float32 {
	return func(x, y int) float32 { return float32(x-3*y)/4 + float32(k) }
}

// OpenEXR's own tools find the channels, and FFmpeg, which is no kin of theirs, the samples.
func TestOthersReadWhatIsWritten(t *testing.T) {
	if _, err := exec.LookPath("exrheader"); err != nil {
		t.Skip("no exrheader; install openexr")
	}
	for _, kind := range []Type{Half, Float} {
		for _, size := range [][2]int{{1, 1}, {7, 5}, {33, 16}, {64, 49}} {
			name := filepath.Join(t.TempDir(), "p.exr")
			var file bytes.Buffer
			channels := []Channel{{"forward.v", kind, sample(1)}, {"R", kind, sample(0)}, {"G", kind, sample(2)}, {"B", kind, sample(4)}, {"forward.u", Half, sample(3)}}
			if err := Write(&file, size[0], size[1], channels); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, file.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command("exrheader", name).CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			words := map[Type]string{Half: "16-bit floating-point", Float: "32-bit floating-point"}
			for _, want := range []string{"forward.u, 16-bit floating-point", "forward.v, " + words[kind], "R, " + words[kind], "zip, multi-scanline blocks"} {
				if !strings.Contains(string(out), want) {
					t.Errorf("%dx%d: exrheader does not say %q:\n%s", size[0], size[1], want, out)
				}
			}
			raw, err := exec.Command("ffmpeg", "-v", "error", "-i", name, "-f", "rawvideo", "-pix_fmt", "gbrpf32le", "-").Output()
			if err != nil || len(raw) != 3*4*size[0]*size[1] {
				t.Fatalf("FFmpeg: %d bytes, %v", len(raw), err)
			}
			for plane, k := range []int{2, 4, 0} {
				for i := range size[0] * size[1] {
					at := 4 * (plane*size[0]*size[1] + i)
					got := math.Float32frombits(uint32(raw[at]) | uint32(raw[at+1])<<8 | uint32(raw[at+2])<<16 | uint32(raw[at+3])<<24)
					if want := sample(k)(i%size[0], i/size[0]); got != want {
						t.Fatalf("%dx%d, type %d: plane %d has %v at %d, want %v", size[0], size[1], kind, plane, got, i, want)
					}
				}
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	c := Channel{"u", Half, sample(0)}
	for what, write := range map[string]func() error{
		"no channel":  func() error { return Write(io.Discard, 2, 2, nil) },
		"no pixel":    func() error { return Write(io.Discard, 0, 2, []Channel{c}) },
		"twice":       func() error { return Write(io.Discard, 2, 2, []Channel{c, c}) },
		"long name":   func() error { return Write(io.Discard, 2, 2, []Channel{{strings.Repeat("u", 32), Half, sample(0)}}) },
		"other types": func() error { return Write(io.Discard, 2, 2, []Channel{{"u", 0, sample(0)}}) },
	} {
		if write() == nil {
			t.Errorf("%s: no error", what)
		}
	}
}
