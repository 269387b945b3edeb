package cliptest

import (
	"bytes"
	"fmt"
	"image"
	"math"
	"os"
	"testing"

	"retime/pipeline/media/exr"
)

// Render is what a renderer's pictures show: a background that moves to the right, and a square before it that
// moves to the left.
type Render struct {
	Display, Window image.Rectangle
	Step            float64 // pixels that both move each frame
}

// Front reports whether the square is at a pixel of picture n.
func (s Render) Front(n float64, x, y int) bool {
	left := 70 - s.Step*n
	return float64(x) >= left && float64(x) < left+32 && y >= 16 && y < 48
}

// Shade returns the grey of a pixel.
func (s Render) Shade(n float64, x, y int) float32 {
	u, v := float64(x)-s.Step*n, float64(y)
	if s.Front(n, x, y) {
		u = float64(x) + s.Step*n + 300
	}
	return float32(0.5 + 0.2*math.Sin(u/3)*math.Cos(v/4) + 0.2*math.Sin(u/7+v/5))
}

// Write writes picture n, with colour as halves and other channels.
func (s Render) Write(t testing.TB, name string, n int) {
	t.Helper()
	at := func(value func(x, y int) float32) func(x, y int) float32 {
		return func(x, y int) float32 { return value(x+s.Window.Min.X, y+s.Window.Min.Y) }
	}
	shade := func(x, y int) float32 { return s.Shade(float64(n), x, y) }
	either := func(front, back float32) func(x, y int) float32 {
		return at(func(x, y int) float32 {
			if s.Front(float64(n), x, y) {
				return front
			}
			return back
		})
	}
	var file bytes.Buffer
	err := exr.Write(&file, s.Window.Dx(), s.Window.Dy(), []exr.Channel{
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
	parts[0].Window = s.Window
	if data, err = exr.Encode(data, parts, 0); err != nil {
		t.Fatal(err)
	}
	box := []byte("displayWindow\x00box2i\x00\x10\x00\x00\x00")
	for i, v := range []int{s.Display.Min.X, s.Display.Min.Y, s.Display.Max.X - 1, s.Display.Max.Y - 1} {
		k := bytes.Index(data, box) + len(box) + 4*i
		copy(data[k:], []byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24)})
	}
	plain := name + ".plain"
	if err := os.WriteFile(plain, data, 0o600); err != nil {
		t.Fatal(err)
	}
	Program(t, "exrstdattr", "-timeCode", fmt.Sprint(100+n), "7", "-framesPerSecond", "24", "1", "-string", "shot", "ab_010", plain, name)
	if err := os.Remove(plain); err != nil {
		t.Fatal(err)
	}
}

// Check compares the channels of a made frame with the scene at its time. slack is how much they may differ: 1
// for frames half-way between neighbours.
func (s Render) Check(t testing.TB, p *exr.Part, n, slack float64) {
	t.Helper()
	if p.Window != s.Window || p.Display != s.Display {
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
			want := s.Shade(n, x, y)
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
					if (got == 2.5) != s.Front(n, x, y) {
						wrong["Z"]++
					}
				case c.Name == "id":
					if c.Bits[i] != 7 && c.Bits[i] != 1<<31+5 {
						t.Fatalf("an id of %d", c.Bits[i])
					}
					if (c.Bits[i] != 7) != s.Front(n, x, y) {
						wrong["id"]++
					}
				}
			}
		}
	}
	for name, sum := range sums {
		if rms := math.Sqrt(sum / float64(count)); rms > 0.05*slack {
			t.Errorf("frame %v: channel %s is %.3f off", n, name, rms)
		}
	}
	for _, name := range []string{"Z", "id"} {
		if float64(wrong[name]) > slack*float64(count)/50 {
			t.Errorf("frame %v: %d of %d pixels of %s are wrong", n, wrong[name], count, name)
		}
	}
}
