//go:build openexr

package media_test

import (
	"bytes"
	"fmt"
	"image"
	"math"
	"os"
	"path/filepath"
	"testing"

	"retime/frame"
	"retime/internal/cliptest"
	"retime/pipeline/media"
	"retime/pipeline/media/exr"
)

// Pictures that DWA compresses are read as others are, whatever their samples and further channels, which FFmpeg's
// decoder does not read.
func TestDWA(t *testing.T) {
	const w, h = 96, 64
	wave := func(n int) func(x, y int) float32 {
		return func(x, y int) float32 {
			return float32(0.5 + 0.3*math.Sin(float64(x+n)/9)*math.Cos(float64(y)/7))
		}
	}
	for _, kind := range []exr.Type{exr.Half, exr.Float} {
		var pictures [2][]*frame.Frame
		for i, compression := range []byte{3, 8, 9} { // zip, DWAA, DWAB
			pattern := filepath.Join(t.TempDir(), "p.%04d.exr")
			for n := range 2 {
				channels := []exr.Channel{{Name: "Z", Type: exr.Float, Sample: wave(n)}, {Name: "diffuse.G", Type: exr.Half, Sample: wave(n)}}
				for k, name := range []string{"R", "G", "B"} {
					channels = append(channels, exr.Channel{Name: name, Type: kind, Sample: wave(n + 30*k)})
				}
				var file bytes.Buffer
				if err := exr.Write(&file, w, h, channels); err != nil {
					t.Fatal(err)
				}
				parts, err := exr.Decode(file.Bytes(), 0)
				if err != nil {
					t.Fatal(err)
				}
				model := bytes.Replace(file.Bytes(), []byte("compression\x00\x01\x00\x00\x00\x03"), append([]byte("compression\x00\x01\x00\x00\x00"), compression), 1)
				parts[0].Window = image.Rect(0, -4, w, h-4)
				data, err := exr.Encode(model, parts, 0)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(fmt.Sprintf(pattern, 1001+n), data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var list []*frame.Frame
			v := cliptest.Each(t, pattern, func(f *frame.Frame, _ media.Video) { list = append(list, f.Retain()) })
			if v.Width != w || v.Height != h || len(list) != 2 {
				t.Fatalf("compression %d: %d pictures of %dx%d", compression, len(list), v.Width, v.Height)
			}
			pictures[min(i, 1)] = list
			if i == 0 {
				continue
			}
			for n, f := range list {
				high := func(f *frame.Frame) (b []byte) { // the upper bytes of the samples
					for i, v := range cliptest.Samples(f) {
						if i%2 == 1 {
							b = append(b, v)
						}
					}
					return b
				}
				if psnr := cliptest.PSNR(high(pictures[0][n]), high(f)); psnr < 40 {
					t.Errorf("type %d, compression %d: picture %d is %.1f dB from what it was", kind, compression, n, psnr)
				}
			}
		}
	}
}
