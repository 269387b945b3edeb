//go:build openexr

package pipeline_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"log/slog"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"retime/internal/cliptest"
	"retime/pipeline"
	"retime/pipeline/media/exr"
	"retime/warp"
)

// renderedScene is what a renderer's pictures show: a background that moves 6 pixels to the right each frame,
// and a square before it that moves 6 to the left.
type renderedScene struct {
	display, window image.Rectangle
}

func (s renderedScene) front(n float64, x, y int) bool {
	left := 70 - 6*n
	return float64(x) >= left && float64(x) < left+32 && y >= 16 && y < 48
}

func (s renderedScene) shade(n float64, x, y int) float32 {
	u, v := float64(x)-6*n, float64(y)
	if s.front(n, x, y) {
		u = float64(x) + 6*n + 300
	}
	return float32(0.5 + 0.2*math.Sin(u/3)*math.Cos(v/4) + 0.2*math.Sin(u/7+v/5))
}

// write writes picture n, with colour as halves and other channels.
func (s renderedScene) write(t *testing.T, name string, n int) {
	t.Helper()
	at := func(value func(x, y int) float32) func(x, y int) float32 {
		return func(x, y int) float32 { return value(x+s.window.Min.X, y+s.window.Min.Y) }
	}
	shade := func(x, y int) float32 { return s.shade(float64(n), x, y) }
	either := func(front, back float32) func(x, y int) float32 {
		return at(func(x, y int) float32 {
			if s.front(float64(n), x, y) {
				return front
			}
			return back
		})
	}
	var file bytes.Buffer
	err := exr.Write(&file, s.window.Dx(), s.window.Dy(), []exr.Channel{
		{Name: "R", Type: exr.Half, Sample: at(shade)},
		{Name: "G", Type: exr.Half, Sample: at(func(x, y int) float32 {
			if y > 54 {
				return -shade(x, y) // nothing that light could be, but what graded pictures have
			}
			return shade(x, y)
		})},
		{Name: "B", Type: exr.Half, Sample: at(func(x, y int) float32 {
			if y < 8 {
				return 100 * shade(x, y)
			}
			return shade(x, y)
		})},
		{Name: "diffuse.R", Type: exr.Half, Sample: at(func(x, y int) float32 { return shade(x, y) / 2 })},
		{Name: "Z", Type: exr.Float, Sample: either(2.5, 1000)},
		{Name: "id", Type: exr.Float, Sample: either(math.Float32frombits(1<<31+5), math.Float32frombits(7))},
	})
	if err != nil {
		t.Fatal(err)
	}
	data := file.Bytes()
	data[bytes.Index(data, []byte("\x00id\x00\x02"))+4] = byte(exr.Uint)
	parts, err := exr.Decode(data, 0)
	if err != nil {
		t.Fatal(err)
	}
	parts[0].Window = s.window
	if data, err = exr.Encode(data, parts, 0); err != nil {
		t.Fatal(err)
	}
	box := []byte("displayWindow\x00box2i\x00\x10\x00\x00\x00")
	for i, v := range []int{s.display.Min.X, s.display.Min.Y, s.display.Max.X - 1, s.display.Max.Y - 1} {
		k := bytes.Index(data, box) + len(box) + 4*i
		copy(data[k:], []byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24)})
	}
	plain := name + ".plain"
	if err := os.WriteFile(plain, data, 0o600); err != nil {
		t.Fatal(err)
	}
	cliptest.Program(t, "exrstdattr", "-timeCode", fmt.Sprint(100+n), "7", "-framesPerSecond", "24", "1", "-string", "shot", "ab_010", plain, name)
	if err := os.Remove(plain); err != nil {
		t.Fatal(err)
	}
}

// convertWhole converts pictures 1001 on, and returns the files that were written, and what was logged.
func convertWhole(t *testing.T, dir string, change func(o *pipeline.Options)) (files []string, said string) {
	t.Helper()
	out := t.TempDir()
	var log bytes.Buffer
	o := pipeline.Options{Input: pipeline.Input{File: filepath.Join(dir, "p.####.exr"), Rate: big.NewRat(25, 1)}, Output: pipeline.Output{File: filepath.Join(out, "q.####.exr")}}
	o.Timing.Rate = pipeline.Rate{Value: big.NewRat(50, 1)}
	o.Hooks.Log = slog.New(slog.NewTextHandler(&log, nil))
	change(&o)
	if _, err := pipeline.Run(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(out, "q.*.exr"))
	if err != nil {
		t.Fatal(err)
	}
	return files, log.String()
}

func decodeEXR(t *testing.T, name string) (parts []exr.Part, file []byte) {
	t.Helper()
	file, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if parts, err = exr.Decode(file, 0); err != nil {
		t.Fatal(err)
	}
	return parts, file
}

// Shot frames are the files that they were, and made ones have all channels, moved with the picture, and
// the nearer frame's header.
func TestChannels(t *testing.T) {
	dir := t.TempDir()
	s := renderedScene{display: image.Rect(0, 0, 160, 64), window: image.Rect(-8, -4, 168, 68)}
	for n := range 5 {
		s.write(t, filepath.Join(dir, fmt.Sprintf("p.%d.exr", 1001+n)), n)
	}
	files, said := convertWhole(t, dir, func(*pipeline.Options) {})
	if len(files) != 10 || strings.Contains(said, "OpenEXR") {
		t.Fatalf("%d files; %s", len(files), said)
	}
	shot := func(n int) []byte {
		file, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("p.%d.exr", 1001+n)))
		if err != nil {
			t.Fatal(err)
		}
		return file
	}
	for k := 0; k < 10; k += 2 {
		want := shot(k / 2)
		exr.SetRate(want, big.NewRat(50, 1))
		if _, got := decodeEXR(t, files[k]); !bytes.Equal(got, want) {
			t.Errorf("shot frame %d is another file", k/2)
		}
	}
	for k := 1; k < 8; k += 2 {
		parts, _ := decodeEXR(t, files[k])
		s.check(t, &parts[0], float64(k)/2)
		said := cliptest.Program(t, "exrheader", files[k])
		for _, want := range []string{"shot (type string): \"ab_010\"", "framesPerSecond (type rational): 50/1", "dataWindow (type box2i): (-8 -4) - (167 67)",
			"displayWindow (type box2i): (0 0) - (159 63)", "zip, multi-scanline", "R, 16-bit floating-point", "id, 32-bit unsigned integer"} {
			if !strings.Contains(said, want) {
				t.Errorf("frame %d: exrheader does not say %q:\n%s", k, want, said)
			}
		}
		a, err := os.ReadFile(files[k+1])
		b, e := os.ReadFile(files[k])
		code := []byte("timeCode\x00timecode\x00\x08\x00\x00\x00")
		if i, j := bytes.Index(a, code), bytes.Index(b, code); err != nil || e != nil || i < 0 || j < 0 || !bytes.Equal(a[i:i+len(code)+8], b[j:j+len(code)+8]) {
			t.Errorf("frame %d has not the time code of frame %d", k, k+1)
		}
	}
	back, _ := convertWhole(t, dir, func(o *pipeline.Options) {
		o.Timing.Curve = mustParse(t, "source output\n0.16 0\n0 0.16")
	})
	for k, n := range []float64{4, 3.5, 3, 2.5} {
		if parts, _ := decodeEXR(t, back[k]); k%2 == 1 {
			s.check(t, &parts[0], n)
		} else if want, _ := decodeEXR(t, filepath.Join(dir, fmt.Sprintf("p.%d.exr", 1001+int(n)))); !reflect.DeepEqual(parts, want) {
			t.Errorf("backward: frame %d is not picture %v", k, n)
		}
	}
	faded, _ := convertWhole(t, dir, func(o *pipeline.Options) { o.Synthesis.Mode = warp.Blend })
	parts, _ := decodeEXR(t, faded[1])
	for i := range parts[0].Planes {
		p := &parts[0].Planes[i]
		if at := 30*parts[0].Window.Dx() + 20; p.Name == "diffuse.R" {
			want := (s.shade(0, 12, 26) + s.shade(1, 12, 26)) / 4
			if got := p.Value(at); math.Abs(float64(got-want)) > 0.001 {
				t.Errorf("cross-faded: %v, want %v", got, want)
			}
		}
	}
	exposed, said := convertWhole(t, dir, func(o *pipeline.Options) {
		o.Timing.Rate, o.Timing.Shutter, o.Synthesis.Mode = pipeline.Rate{Value: big.NewRat(25, 1)}, big.NewRat(1, 2), warp.Blend
	})
	if parts, _ := decodeEXR(t, exposed[1]); len(parts[0].Planes) != 6 || !strings.Contains(said, "further channels are of the middle") {
		t.Errorf("by a shutter: %d channels; %s", len(parts[0].Planes), said)
	}
}

// check compares the channels of a made frame with the scene at its time.
func (s renderedScene) check(t *testing.T, p *exr.Part, n float64) {
	t.Helper()
	if p.Window != s.window || p.Display != s.display {
		t.Fatalf("windows %v, %v", p.Window, p.Display)
	}
	sums, wrong, count := map[string]float64{}, map[string]int{}, 0
	for y := p.Window.Min.Y; y < p.Window.Max.Y; y++ {
		for x := p.Window.Min.X; x < p.Window.Max.X; x++ {
			i := (y-p.Window.Min.Y)*p.Window.Dx() + x - p.Window.Min.X
			if x < 16 || x >= 144 {
				continue // what no shot frame shows
			}
			count++
			want := s.shade(n, x, y)
			for k := range p.Planes {
				c := &p.Planes[k]
				got := c.Value(i)
				off := func(scale float32) { sums[c.Name] += math.Pow(float64(got/scale-want), 2) }
				switch {
				case c.Name == "R", c.Name == "G" && y <= 54, c.Name == "B" && y >= 8:
					off(1)
				case c.Name == "G":
					off(-1)
				case c.Name == "B":
					off(100)
				case c.Name == "diffuse.R":
					off(0.5)
				case c.Name == "Z":
					if got != 2.5 && got != 1000 {
						t.Fatalf("a depth of %v", got)
					}
					if (got == 2.5) != s.front(n, x, y) {
						wrong["Z"]++
					}
				case c.Name == "id":
					if c.Bits[i] != 7 && c.Bits[i] != 1<<31+5 {
						t.Fatalf("an id of %d", c.Bits[i])
					}
					if (c.Bits[i] != 7) != s.front(n, x, y) {
						wrong["id"]++
					}
				}
			}
		}
	}
	for name, sum := range sums {
		if rms := math.Sqrt(sum / float64(count)); rms > 0.05 {
			t.Errorf("frame %v: channel %s is %.3f off", n, name, rms)
		}
	}
	for _, name := range []string{"Z", "id"} {
		if wrong[name] > count/50 {
			t.Errorf("frame %v: %d of %d pixels of %s are wrong", n, wrong[name], count, name)
		}
	}
}
