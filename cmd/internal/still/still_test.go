package still

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/image/tiff"

	"retime/frame"
	"retime/pipeline/fault"
)

// random returns a picture of whole numbers up to limit, or of floats if limit is 0.
// Its corners hold the extremes.
func random(seed uint64, width, height, channels, limit int) *Picture {
	r := rand.New(rand.NewPCG(seed, 1))
	p := newPicture(width, height, channels)
	p.Max = limit
	for c := range p.Channels {
		pix := p.Channels[c].Pix
		for i := range pix {
			if limit > 0 {
				pix[i] = float64(r.IntN(limit + 1))
			} else {
				pix[i] = float64(float32(r.NormFloat64() * 1e3))
			}
		}
		pix[0], pix[len(pix)-1] = float64(limit), 0
	}
	if limit == 0 {
		p.FloatBits = 32
	}
	return p
}

func encode(t testing.TB, name string, p *Picture) []byte {
	t.Helper()
	f, err := formatOf(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.holds(p); err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	if err := f.encode(&buf, p); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// same returns an error unless the pictures are equal, bit for bit.
func same(got, want *Picture) error {
	if got.String() != want.String() {
		return fmt.Errorf("a picture of %v, want %v", got, want)
	}
	for c, m := range want.Channels {
		for y := range m.Height {
			for x, v := range m.Row(y) {
				if g := got.Channels[c].Row(y)[x]; math.Float64bits(g) != math.Float64bits(v) {
					return fmt.Errorf("sample (%d, %d) of channel %d is %v, want %v", x, y, c, g, v)
				}
			}
		}
	}
	return nil
}

func TestRoundTrip(t *testing.T) {
	for _, f := range formats {
		for _, ext := range f.extensions {
			for _, channels := range f.channels {
				limits := []int{255, 65535}
				switch {
				case f.float:
					limits = []int{0}
				case f.name[0] == 'P' && f.name != "PNG":
					limits = []int{1, 2, 254, 255, 256, 1023, 65535}
				}
				for _, limit := range limits {
					for _, size := range [][2]int{{1, 1}, {7, 5}, {1, 9}, {130, 3}} {
						want := random(uint64(limit), size[0], size[1], channels, limit)
						for _, text := range []bool{false, true} {
							want.Text = text
							got, err := Decode(bytes.NewReader(encode(t, "out"+ext, want)))
							if err == nil {
								err = same(got, want)
							}
							if err != nil {
								t.Errorf("%s, %v, text %v: %v", ext, want, text, err)
							}
						}
					}
				}
			}
		}
	}
}

func TestFloat64(t *testing.T) {
	want := random(3, 5, 4, 1, 0)
	want.FloatBits = 64
	want.Channels[0].Pix[3] = math.Pi
	want.Channels[0].Pix[4] = -1e300
	want.Channels[0].Pix[5] = math.Copysign(0, -1)
	got, err := Decode(bytes.NewReader(encode(t, "a.npy", want)))
	if err != nil {
		t.Fatal(err)
	}
	if err := same(got, want); err != nil {
		t.Error(err)
	}
	if err := encodePFM(io.Discard, want); err == nil || !strings.Contains(err.Error(), "(4, 0)") {
		t.Errorf("-1e300 as a float32: %v", err)
	}
	want.Channels[0].Pix[4] = math.NaN()
	if err := encodeNPY(io.Discard, want); err == nil {
		t.Error("NaN was written")
	}
}

// TestStride encodes pictures whose stride is wider than their rows.
func TestStride(t *testing.T) {
	for _, f := range formats {
		for _, channels := range f.channels {
			limit := 65535
			if f.float {
				limit = 0
			}
			want := random(5, 6, 4, channels, limit)
			wide := *want
			wide.Channels = nil
			for _, m := range want.Channels {
				w := frame.Image[float64]{Width: m.Width, Height: m.Height, Stride: m.Width + 3, Pix: make([]float64, 4*(m.Width+3))}
				for i := range w.Pix {
					w.Pix[i] = math.NaN()
				}
				for y := range m.Height {
					copy(w.Row(y), m.Row(y))
				}
				wide.Channels = append(wide.Channels, w)
			}
			ext := f.extensions[0]
			if !bytes.Equal(encode(t, ext, &wide), encode(t, ext, want)) {
				t.Errorf("%s of %v depends on the stride", f.name, want)
			}
		}
	}
}

func TestQuantize(t *testing.T) {
	for _, c := range []struct {
		v     float64
		limit int
		want  int
	}{
		{0.49, 255, 0}, {0.5, 255, 1}, {1.5, 255, 2}, {-0.5, 255, 0}, {-0.51, 255, 0}, {-1e300, 255, 0},
		{254.5, 255, 255}, {255.5, 255, 255}, {1e300, 255, 255}, {math.NaN(), 255, 0}, {1.7, 1, 1}, {65534.49, 65535, 65534},
	} {
		if got := quantize(c.v, 1, c.limit); got != c.want {
			t.Errorf("%v is stored as %d of %d, want %d", c.v, got, c.limit, c.want)
		}
	}
	// PNG and TIFF scale up a maximum that they cannot have.
	for _, ext := range []string{".png", ".tif"} {
		for limit, full := range map[int]int{1: 255, 15: 255, 1023: 65535} {
			p := random(1, 8, 8, 1, limit)
			got, err := Decode(bytes.NewReader(encode(t, ext, p)))
			if err != nil || got.Max != full {
				t.Fatalf("%s of maximum %d: %v, %v", ext, limit, got, err)
			}
			for i, v := range p.Channels[0].Pix {
				if want := math.Round(v / float64(limit) * float64(full)); got.Channels[0].Pix[i] != want {
					t.Fatalf("%s: %v of %d became %v, want %v", ext, v, limit, got.Channels[0].Pix[i], want)
				}
			}
		}
	}
}

// TestGoDecoders reads the written files with the standard decoders.
func TestGoDecoders(t *testing.T) {
	for _, limit := range []int{255, 65535} {
		for _, channels := range []int{1, 3, 4} {
			p := random(9, 5, 3, channels, limit)
			for ext, decode := range map[string]func(io.Reader) (image.Image, error){".png": png.Decode, ".tif": tiff.Decode} {
				m, err := decode(bytes.NewReader(encode(t, ext, p)))
				if err != nil {
					t.Fatalf("%s: %v", ext, err)
				}
				for y := range 3 {
					for x := range 5 {
						c := color.NRGBA64Model.Convert(m.At(x, y)).(color.NRGBA64)
						for i, got := range []uint16{c.R, c.G, c.B, c.A}[:channels] {
							want := p.Channels[i].Row(y)[x] * 65535 / float64(limit)
							// color.NRGBA64 divides multiplied colour, which is exact
							// only in opaque pixels.
							if channels == 4 && i < 3 {
								switch m := m.(type) {
								case *image.NRGBA:
									got = 257 * uint16(m.Pix[m.PixOffset(x, y)+i])
								case *image.NRGBA64:
									got = binary.BigEndian.Uint16(m.Pix[m.PixOffset(x, y)+2*i:])
								default:
									t.Fatalf("%s is a %T", ext, m)
								}
							}
							if float64(got) != want {
								t.Errorf("%s, %v: (%d, %d)[%d] is %d, want %v", ext, p, x, y, i, got, want)
							}
						}
					}
				}
			}
		}
	}
}

// TestGoPictures decodes every type that the PNG and TIFF decoders return.
func TestGoPictures(t *testing.T) {
	encodePNG := func(m image.Image) []byte {
		var b bytes.Buffer
		if err := png.Encode(&b, m); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	encodeTIFF := func(m image.Image) []byte {
		var b bytes.Buffer
		if err := tiff.Encode(&b, m, &tiff.Options{Compression: tiff.Deflate, Predictor: true}); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	r := image.Rect(0, 0, 2, 1)
	palette := func(c ...color.Color) *image.Paletted {
		m := image.NewPaletted(r, c)
		m.Pix[1] = 1
		return m
	}
	for _, c := range []struct {
		name string
		data []byte
		want [][2]float64 // the two samples of each channel
		max  int
	}{
		{"PNG, palette", encodePNG(palette(color.NRGBA{1, 2, 3, 255}, color.NRGBA{4, 5, 6, 255})),
			[][2]float64{{1, 4}, {2, 5}, {3, 6}}, 255},
		{"PNG, palette with alpha", encodePNG(palette(color.NRGBA{1, 2, 3, 255}, color.NRGBA{200, 100, 6, 9})),
			[][2]float64{{1, 200}, {2, 100}, {3, 6}, {255, 9}}, 255},
		{"PNG, opaque", encodePNG(&image.RGBA{Pix: []byte{9, 8, 7, 255, 6, 5, 4, 255}, Stride: 8, Rect: r}),
			[][2]float64{{9, 6}, {8, 5}, {7, 4}}, 255},
		{"PNG, alpha", encodePNG(&image.NRGBA{Pix: []byte{9, 8, 7, 1, 6, 5, 4, 0}, Stride: 8, Rect: r}),
			[][2]float64{{9, 6}, {8, 5}, {7, 4}, {1, 0}}, 255},
		{"TIFF, gray 16", encodeTIFF(&image.Gray16{Pix: []byte{1, 0, 0, 1}, Stride: 4, Rect: r}),
			[][2]float64{{256, 1}}, 65535},
		{"TIFF, palette", encodeTIFF(palette(color.NRGBA{1, 2, 3, 255}, color.NRGBA{4, 5, 6, 255})),
			[][2]float64{{1, 4}, {2, 5}, {3, 6}}, 255},
		{"TIFF, multiplied alpha", encodeTIFF(&image.RGBA{Pix: []byte{10, 20, 30, 51, 0, 0, 0, 0}, Stride: 8, Rect: r}),
			[][2]float64{{50, 0}, {100, 0}, {150, 0}, {51, 0}}, 255},
		{"TIFF, alpha", encodeTIFF(&image.NRGBA{Pix: []byte{10, 20, 30, 51, 9, 9, 9, 0}, Stride: 8, Rect: r}),
			[][2]float64{{10, 9}, {20, 9}, {30, 9}, {51, 0}}, 255},
	} {
		p, err := Decode(bytes.NewReader(c.data))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if len(p.Channels) != len(c.want) || p.Max != c.max {
			t.Errorf("%s: %v", c.name, p)
			continue
		}
		for i, want := range c.want {
			if got := [2]float64(p.Channels[i].Pix); got != want {
				t.Errorf("%s: channel %d is %v, want %v", c.name, i, got, want)
			}
		}
	}
}

// TestTruncated cuts files of every format short at every byte.
func TestTruncated(t *testing.T) {
	for _, f := range formats {
		limit := 65535
		if f.float {
			limit = 0
		}
		for _, text := range []bool{false, true} {
			p := random(11, 3, 2, f.channels[0], limit)
			p.Text = text
			data := encode(t, f.extensions[0], p)
			if text && f.name[0] == 'P' {
				// The end of the last number is uncertain.
				data = bytes.TrimRight(data, "0123456789\n")
				data = append(data, '0')
			}
			for n := range len(data) - 1 {
				got, err := Decode(bytes.NewReader(data[:n]))
				if err == nil {
					// A PNG ends with a chunk without samples.
					if f.name != "PNG" || same(got, p) != nil {
						t.Errorf("%s: %d of %d bytes were enough", f.name, n, len(data))
					}
				} else if fault.KindOf(err) != fault.BadData {
					t.Errorf("%s: %d of %d bytes: %v, of kind %d", f.name, n, len(data), err, fault.KindOf(err))
				}
			}
		}
	}
}

func TestPNGChunks(t *testing.T) {
	chunk := func(kind, data string) []byte {
		b := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
		b = append(b, kind+data...)
		return binary.BigEndian.AppendUint32(b, crc(b[4:]))
	}
	plain := encode(t, ".png", random(1, 4, 4, 3, 255))
	head := pngSignature + pngIHDR
	data := append([]byte(nil), plain[:head]...)
	gamma, text := chunk("gAMA", "\x00\x00\xb1\x8f"), chunk("tEXt", "Author\x00someone")
	data = append(data, gamma...)
	data = append(data, chunk("tIME", "\x07\xe8\x01\x01\x00\x00\x00")...)
	data = append(data, text...)
	data = append(data, plain[head:]...)
	p, err := Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	want := append([]byte(nil), plain[:head]...)
	want = append(want, gamma...)
	want = append(want, text...)
	want = append(want, plain[head:]...)
	if got := encode(t, ".png", p); !bytes.Equal(got, want) {
		t.Errorf("the chunks that belong to the picture are lost:\n%q, want\n%q", got, want)
	}
	dir := t.TempDir()
	for name, want := range map[string]string{"a.png": "[]", "a.ppm": "[gAMA tEXt]"} {
		o, err := NewOutput(filepath.Join(dir, name), "", false)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(o.Dropped(p)); got != want {
			t.Errorf("%s drops %s, want %s", name, got, want)
		}
	}
}

func TestOutput(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.pgm"), filepath.Join(dir, "out.pgm")
	p := random(1, 4, 4, 1, 255)
	if err := os.WriteFile(in, encode(t, in, p), 0o600); err != nil {
		t.Fatal(err)
	}
	check := func(name, source string, overwrite bool, want fault.Kind) *Output {
		t.Helper()
		o, err := NewOutput(name, source, overwrite)
		if (err == nil) != (want == 0) || err != nil && fault.KindOf(err) != want {
			t.Errorf("output %s from %s: %v, want kind %d", name, source, err, want)
		}
		return o
	}
	check("", in, false, fault.Usage)
	check(filepath.Join(dir, "out"), in, false, fault.Usage)
	check(filepath.Join(dir, "out.jpg"), in, false, fault.Usage)
	check(in, in, true, fault.Usage)
	check(in, "", false, fault.CannotWrite)
	check(filepath.Join(dir, "none", "out.pgm"), in, false, fault.CannotWrite)
	check(filepath.Join(in, "out.pgm"), in, false, fault.CannotWrite)
	o := check(out, in, false, 0)
	if err := os.WriteFile(filepath.Join(dir, ".out.pgm.7.part"), nil, 0o600); err != nil { // as a kill leaves it
		t.Fatal(err)
	}
	if err := o.Write(p); err != nil {
		t.Fatal(err)
	}
	got, err := Read(out)
	if err != nil {
		t.Fatal(err)
	}
	if err := same(got, p); err != nil {
		t.Error(err)
	}
	check(out, in, false, fault.CannotWrite)
	check(out, in, true, 0)
	if files, _ := os.ReadDir(dir); len(files) != 2 {
		t.Errorf("%d files are left, want the input and the output", len(files))
	}
	if err := check(filepath.Join(dir, "b.PNG"), in, false, 0).Write(random(1, 2, 2, 1, 0)); fault.KindOf(err) != fault.Usage {
		t.Errorf("floats as PNG: %v", err)
	}
	for ext, p := range map[string]*Picture{
		".pgm": random(1, 2, 2, 3, 255), ".ppm": random(1, 2, 2, 1, 255), ".pnm": random(1, 2, 2, 4, 255),
		".npy": random(1, 2, 2, 3, 255), ".pfm": random(1, 2, 2, 4, 255),
	} {
		if err := check(filepath.Join(dir, "c"+ext), in, false, 0).Check(p); fault.KindOf(err) != fault.Usage {
			t.Errorf("%s with %d channels: %v", ext, len(p.Channels), err)
		}
	}
}

// TestWriteFails checks that a failed Write leaves nothing behind.
func TestWriteFails(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a.pfm")
	o, err := NewOutput(name, "", false)
	if err != nil {
		t.Fatal(err)
	}
	p := random(1, 2, 2, 1, 0)
	p.Channels[0].Pix[2] = math.Inf(1)
	if err := o.Write(p); fault.KindOf(err) != fault.CannotWrite {
		t.Errorf("an infinite sample: %v", err)
	}
	if files, _ := os.ReadDir(dir); len(files) != 0 {
		t.Errorf("%s was left behind", files[0].Name())
	}
	if _, err := os.Stat("/dev/full"); err == nil {
		link := filepath.Join(dir, "full.pgm")
		if err := os.Symlink("/dev/full", link); err != nil {
			t.Fatal(err)
		}
		if o, err = NewOutput(link, "", false); err != nil {
			t.Fatal(err)
		}
		if err := o.Write(random(1, 9, 9, 1, 255)); fault.KindOf(err) != fault.CannotWrite {
			t.Errorf("a full device: %v", err)
		}
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{dir, filepath.Join(dir, "none.pgm")} {
		if _, err := Read(name); fault.KindOf(err) != fault.NoInput {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Decode(iotestErr{}); fault.KindOf(err) != fault.NoInput || !errors.Is(err, errBroken) {
		t.Errorf("a broken reader: %v", err)
	}
	for _, data := range []string{"", "P", "P1 1 1 0", "P7\n", "GIF89a", "\xff\xd8\xff\xe0", "II*"} {
		if _, err := Decode(strings.NewReader(data)); fault.KindOf(err) != fault.BadData {
			t.Errorf("%q: %v", data, err)
		}
	}
}

var errBroken = errors.New("broken")

type iotestErr struct{}

func (iotestErr) Read([]byte) (int, error) { return 0, errBroken }
