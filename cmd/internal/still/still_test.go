package still

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

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
