//go:build openexr

package media_test

import (
	"bytes"
	"fmt"
	"image"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"retime/frame"
	"retime/internal/cliptest"
	"retime/pipeline/fault"
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

// Halves and floats in one picture are read as they would be alone, tiles of several parts as scan lines, and whatever no decoder shows is refused by its name.
func TestOtherOpenEXR(t *testing.T) {
	const w, h = 48, 32
	wave := func(x, y int) float32 { return float32(0.5 + 0.25*math.Sin(float64(x)/9)*math.Cos(float64(y)/7)) }
	write := func(change func(file []byte) []byte, channels ...exr.Channel) (pattern string) {
		var b bytes.Buffer
		if err := exr.Write(&b, w, h, channels); err != nil {
			t.Fatal(err)
		}
		pattern = filepath.Join(t.TempDir(), "p.%04d.exr")
		for n := range 2 {
			if err := os.WriteFile(fmt.Sprintf(pattern, 1001+n), change(b.Bytes()), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return pattern
	}
	same := func(file []byte) []byte { return file }
	colour := func(kinds ...exr.Type) (list []exr.Channel) {
		for i, name := range []string{"R", "G", "B", "A"} {
			list = append(list, exr.Channel{Name: name, Type: kinds[i], Sample: func(x, y int) float32 { // what halves hold
				return frame.HalfValue(frame.HalfBits(wave(x+11*i, y)))
			}})
		}
		return list
	}
	want, _, _ := readAll(t, write(same, colour(exr.Float, exr.Float, exr.Float, exr.Float)...))
	for _, kinds := range [][]exr.Type{{exr.Half, exr.Half, exr.Half, exr.Float}, {exr.Half, exr.Float, exr.Half, exr.Half}} {
		if got, _, _ := readAll(t, write(same, colour(kinds...)...)); len(got) != 2 || !bytes.Equal(got[0], want[0]) {
			t.Errorf("channels of types %v: %d pictures, or other samples", kinds, len(got))
		}
	}
	half := colour(exr.Half, exr.Half, exr.Half, exr.Half)
	small := slices.Clone(half)
	for i := range small {
		small[i].Name = strings.ToLower(small[i].Name)
	}
	for _, channels := range [][]exr.Channel{half, small} {
		pattern := write(same, channels...)
		for n := range 2 {
			name := fmt.Sprintf(pattern, 1001+n)
			cliptest.Program(t, "exrmaketiled", "-t", "16", "8", name, name+".tiles")
			cliptest.Program(t, "exrmultipart", "-combine", "-i", name+".tiles::beauty", name+"::again", "-o", name+".parts")
			cliptest.Must(t, os.Rename(name+".parts", name))
		}
		if got, _, _ := readAll(t, pattern); len(got) != 2 || !bytes.Equal(got[0], want[0]) {
			t.Errorf("tiles in the first of two parts, with channel %s: %d pictures, or other samples", channels[0].Name, len(got))
		}
	}
	deep := func(file []byte) []byte {
		file = append(bytes.Clone(file[:8]), append([]byte("type\x00string\x00\x0c\x00\x00\x00deepscanline"), file[8:]...)...)
		file[5] |= 8
		return file
	}
	later := func(file []byte) []byte {
		return bytes.Replace(file, []byte("compression\x00\x01\x00\x00\x00\x03"), []byte("compression\x00\x01\x00\x00\x00\x7f"), 1)
	}
	sparse := func(file []byte) []byte {
		file[bytes.Index(file, []byte("A\x00\x01\x00\x00\x00"))+10] = 2 // columns to a sample
		return file
	}
	whole := func(file []byte) []byte {
		return bytes.Replace(file, []byte("A\x00\x02\x00\x00\x00"), []byte("A\x00\x00\x00\x00\x00"), 1)
	}
	for says, name := range map[string]string{
		"neither R, G and B nor Y; it has N.X, Z": write(same, exr.Channel{Name: "N.X", Type: exr.Half, Sample: wave}, exr.Channel{Name: "Z", Type: exr.Float, Sample: wave}),
		"deep data in the first part":             write(deep, half...),
		"ompression":                              write(later, half...), // OpenEXR's words
		`channel "A" has fewer samples`:           write(sparse, half...),
		`channel "A" has whole numbers`:           write(whole, colour(exr.Half, exr.Half, exr.Half, exr.Float)...),
	} {
		for input, bad := range map[string]string{name: "p.1001.exr", fmt.Sprintf(name, 1002): "p.1002.exr"} {
			r, err := media.Open(t.Context(), input, media.ReaderOptions{Log: slog.New(slog.DiscardHandler)})
			if err == nil {
				r.Close()
			}
			if text := fmt.Sprint(err); fault.KindOf(err) != fault.BadData || !strings.Contains(text, says) || !strings.Contains(text, bad) {
				t.Errorf("%s: %v, want %q", input, err, says)
			}
		}
	}
}

// A picture of which a chunk was never written, in whichever part, or of which OpenEXR does not decode one that FFmpeg leaves black
// without a word, is read, and counts as damaged.
func TestTornOpenEXR(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	var b bytes.Buffer
	wave := func(x, y int) float32 { return float32(0.5 + 0.25*math.Sin(float64(x)/9)*math.Cos(float64(y)/7)) }
	cliptest.Must(t, exr.Write(&b, 48, 64, []exr.Channel{{Name: "R", Type: exr.Half, Sample: wave}, {Name: "G", Type: exr.Half, Sample: wave}, {Name: "B", Type: exr.Half, Sample: wave}}))
	cliptest.Must(t, os.WriteFile(at("lines"), b.Bytes(), 0o600))
	cliptest.Program(t, "exrmaketiled", "-t", "16", "8", at("lines"), at("tiles"))
	cliptest.Program(t, "exrmultipart", "-combine", "-i", at("tiles")+"::a", at("lines")+"::b", "-o", at("parts"))
	parts, err := os.ReadFile(at("parts"))
	cliptest.Must(t, err)
	spoilt := bytes.Clone(parts)
	clear(spoilt[len(parts)/4:][:40]) // in the first part
	if err := exr.CheckComplete(spoilt); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string][2][]byte{
		"lines": {b.Bytes(), b.Bytes()[:b.Len()-30]}, "second part": {parts, parts[:len(parts)-30]}, "spoilt": {parts, spoilt},
	} {
		pattern := filepath.Join(t.TempDir(), "p.%d.exr")
		for n := range 4 {
			file := c[0]
			if n == 2 {
				file = c[1]
			}
			cliptest.Must(t, os.WriteFile(fmt.Sprintf(pattern, n), file, 0o600))
		}
		r, err := media.Open(t.Context(), pattern, media.ReaderOptions{Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for n := range 4 {
			f, err := r.Read()
			if err != nil {
				t.Fatalf("%s, picture %d: %v", name, n, err)
			}
			if damaged := r.Damage().Frames; damaged != n/2 {
				t.Errorf("%s: %d pictures are damaged after picture %d", name, damaged, n)
			}
			f.Release()
		}
		r.Close()
	}
}
