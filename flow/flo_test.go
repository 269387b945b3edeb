package flow

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"retime/frame"
)

// floFile writes a file by hand.
func floFile(tag float32, w, h int32, values ...float32) []byte {
	var b bytes.Buffer
	for _, v := range []any{tag, w, h, values} {
		_ = binary.Write(&b, binary.LittleEndian, v) // memory takes every write
	}
	return b.Bytes()
}

func TestReadFlo(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	file := floFile(202021.25, 3, 2,
		1, -2.5, 0.001, 0.002, 1e10, 1e10,
		0, nan, inf, 0, 100, -100)
	f, err := ReadFlo(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	want := []Vec{{256, -640}, {0, 1}, Unknown, Unknown, Unknown, {6 * One, -6 * One}}
	if f.Width != 3 || f.Height != 2 || f.Stride != 3 || !slices.Equal(f.Pix, want) {
		t.Errorf("got %dx%d %v, want 3x2 %v", f.Width, f.Height, f.Pix, want)
	}
}

func TestReadFloStopsAtEnd(t *testing.T) {
	one := floFile(202021.25, 1, 1, 1, 2)
	r := bytes.NewReader(append(slices.Clone(one), one...))
	for range 2 {
		if f, err := ReadFlo(r); err != nil || f.Pix[0] != (Vec{One, 2 * One}) {
			t.Fatalf("got %v, error %v", f.Pix, err)
		}
	}
}

func TestReadFloDamaged(t *testing.T) {
	whole := floFile(202021.25, 2, 2, 1, 2, 3, 4, 5, 6, 7, 8)
	for n := range whole {
		if _, err := ReadFlo(bytes.NewReader(whole[:n])); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("cut to %d bytes: error %v, want unexpected EOF", n, err)
		}
	}
	tests := []struct {
		name string
		file []byte
		want string
	}{
		{"tag", floFile(202021, 1, 1, 0, 0), "not a .flo file"},
		{"zero width", floFile(202021.25, 0, 1), "size 0x1"},
		{"negative height", floFile(202021.25, 1, -1), "size 1x-1"},
		{"smallest int", floFile(202021.25, math.MinInt32, math.MinInt32), "size -2147483648"},
		{"wide", floFile(202021.25, 100000, 1), "99999 in a side"},
		{"large", floFile(202021.25, 99999, 99999), "pixels"},
	}
	for _, tt := range tests {
		if _, err := ReadFlo(bytes.NewReader(tt.file)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.want)
		}
	}
	broken := errors.New("broken pipe")
	if _, err := ReadFlo(io.MultiReader(bytes.NewReader(whole[:20]), iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Errorf("error %v, want the reader's", err)
	}
}

// A header may promise a gigabyte; ReadFlo allocates only what arrives.
func TestReadFloMemory(t *testing.T) {
	file := floFile(202021.25, 10000, 10000, make([]float32, 1000)...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := ReadFlo(bytes.NewReader(file)); err == nil {
		t.Fatal("no error")
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("%d bytes allocated for a file of %d", n, len(file))
	}
}

// Exact, for every vector of a picture of up to 32768 pixels in a side.
func TestFloRoundTrip(t *testing.T) {
	const seed = 4
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for _, s := range [][2]int{{1, 1}, {7, 5}, {17, 3}, {641, 271}, {32768, 1}} {
		f := Field{frame.Image[Vec]{Width: s[0], Height: s[1], Stride: s[0] + 2, Pix: make([]Vec, (s[0]+2)*s[1])}}
		limit := int(f.Limit())
		for i := range f.Pix {
			f.Pix[i] = Vec{int32(rng.IntN(2*limit+1) - limit), int32(rng.IntN(2*limit+1) - limit)}
			if rng.IntN(10) == 0 {
				f.Pix[i] = Unknown
			}
		}
		f.Pix[0] = Vec{f.Limit(), -f.Limit()}
		var file bytes.Buffer
		if err := WriteFlo(&file, f); err != nil {
			t.Fatal(err)
		}
		if want := 12 + 8*s[0]*s[1]; file.Len() != want {
			t.Errorf("%dx%d: %d bytes, want %d", s[0], s[1], file.Len(), want)
		}
		g, err := ReadFlo(iotest.HalfReader(bytes.NewReader(file.Bytes())))
		if err != nil {
			t.Fatal(err)
		}
		for y := range s[1] {
			if !slices.Equal(f.Row(y), g.Row(y)) {
				t.Fatalf("%dx%d: row %d differs", s[0], s[1], y)
			}
		}
	}
}

func TestWriteFlo(t *testing.T) {
	f := NewField(2, 1)
	f.Pix[0], f.Pix[1] = Vec{384, -One}, Unknown
	var file bytes.Buffer
	if err := WriteFlo(&file, f); err != nil {
		t.Fatal(err)
	}
	if want := floFile(202021.25, 2, 1, 1.5, -1, 1e10, 1e10); !bytes.Equal(file.Bytes(), want) {
		t.Errorf("got % x, want % x", file.Bytes(), want)
	}
	if err := WriteFlo(io.Discard, Field{}); err == nil {
		t.Error("an empty field was written")
	}
	broken := errors.New("disk full")
	if err := WriteFlo(failing{broken}, NewField(100, 100)); !errors.Is(err, broken) {
		t.Errorf("error %v, want the writer's", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func FuzzReadFlo(f *testing.F) {
	f.Add(floFile(202021.25, 2, 2, 1, 2, 3, 4, 5, 6, 7, 8))
	f.Add(floFile(202021.25, 1, 1, float32(math.NaN()), 1e10))
	f.Add(floFile(202021.25, 99999, 1, 130000.7, -0.001))
	f.Add(floFile(202021.25, -1, 1<<30))
	f.Add([]byte("PIEH"))
	f.Fuzz(func(t *testing.T, file []byte) {
		first, err := ReadFlo(bytes.NewReader(file))
		if err != nil {
			return
		}
		if first.Width < 1 || first.Height < 1 || len(first.Pix) != first.Width*first.Height || 12+8*len(first.Pix) > len(file) {
			t.Fatalf("%dx%d with %d vectors from %d bytes", first.Width, first.Height, len(first.Pix), len(file))
		}
		limit := first.Limit()
		for i, v := range first.Pix {
			if v != Unknown && max(v.X, -v.X, v.Y, -v.Y) > limit {
				t.Fatalf("vector %d is %v, beyond %d", i, v, limit)
			}
		}
		var again bytes.Buffer
		if err := WriteFlo(&again, first); err != nil {
			t.Fatal(err)
		}
		second, err := ReadFlo(&again)
		if err != nil || !slices.Equal(first.Pix, second.Pix) {
			t.Fatalf("what was read does not survive being written: error %v", err)
		}
	})
}
