package flow

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"retime/frame"
)

// rawFile writes a file by hand.
func rawFile(tag string, values ...int32) []byte {
	b := bytes.NewBufferString(tag)
	_ = binary.Write(b, binary.NativeEndian, values) // memory takes every write
	return b.Bytes()
}

// checked appends the checksum to a file, computed bit by bit: CRC-32C has the
// polynomial 0x1edc6f41, here with its lowest bit first.
func checked(file []byte) []byte {
	sum := ^uint32(0)
	for _, b := range file {
		sum ^= uint32(b)
		for range 8 {
			sum = sum>>1 ^ 0x82f63b78*(sum&1)
		}
	}
	return binary.NativeEndian.AppendUint32(slices.Clone(file), ^sum)
}

func TestWriteFields(t *testing.T) {
	a, b := NewField(2, 1), NewField(2, 1)
	a.Pix[0], b.Pix[1] = Vec{384, -One}, Vec{1, 1024}
	var file bytes.Buffer
	if err := WriteFields(&file, a, b); err != nil {
		t.Fatal(err)
	}
	if want := checked(rawFile("FLOW", 2, 2, 2, 1, 384, -One, 0, 0, 0, 0, 1, 1024)); !bytes.Equal(file.Bytes(), want) {
		t.Errorf("got % x, want % x", file.Bytes(), want)
	}
	beyond, unknown := NewField(2, 1), NewField(2, 1)
	beyond.Pix[1].Y, unknown.Pix[0] = beyond.Limit()+1, Unknown
	for name, fields := range map[string][]Field{"none": nil, "empty": {{}}, "of two sizes": {a, NewField(1, 2)}, "too long": {a, beyond}, "unknown": {unknown}} {
		if err := WriteFields(io.Discard, fields...); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	broken := errors.New("disk full")
	for room := range file.Len() {
		if err := WriteFields(&full{room, broken}, a, b); !errors.Is(err, broken) {
			t.Errorf("room for %d bytes: error %v, want the writer's", room, err)
		}
	}
}

// full is a writer with room for a given number of bytes.
type full struct {
	room int
	err  error
}

func (f *full) Write(b []byte) (int, error) {
	if len(b) > f.room {
		return f.room, f.err
	}
	f.room -= len(b)
	return len(b), nil
}

func TestFieldsRoundTrip(t *testing.T) {
	const seed = 9
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for _, s := range []struct{ n, width, height, stride int }{{1, 1, 1, 1}, {2, 7, 5, 9}, {4, 17, 3, 17}, {2, 641, 271, 643}, {1, 32768, 1, 32768}, {3, 1, 40, 2}} {
		fields := make([]Field, s.n)
		for k := range fields {
			f := Field{frame.Image[Vec]{Width: s.width, Height: s.height, Stride: s.stride, Pix: make([]Vec, s.stride*s.height)}}
			for i := range f.Pix {
				f.Pix[i] = Unknown // the padding keeps it
			}
			limit := int(f.Limit())
			for y := range s.height {
				for x := range f.Row(y) {
					f.Row(y)[x] = Vec{int32(rng.IntN(2*limit+1) - limit), int32(rng.IntN(2*limit+1) - limit)}
				}
			}
			f.Pix[0] = Vec{f.Limit(), -f.Limit()}
			fields[k] = f
		}
		var file bytes.Buffer
		if err := WriteFields(&file, fields...); err != nil {
			t.Fatal(err)
		}
		if want := rawHeader + 8*s.n*s.width*s.height + 4; file.Len() != want {
			t.Errorf("%+v: %d bytes, want %d", s, file.Len(), want)
		}
		got, err := ReadFields(iotest.HalfReader(&file), s.n, s.width, s.height)
		if err != nil {
			t.Fatal(err)
		}
		for k, f := range fields {
			for y := range s.height {
				if !slices.Equal(f.Row(y), got[k].Row(y)) {
					t.Fatalf("%+v: row %d of field %d differs", s, y, k)
				}
			}
			if g := got[k]; g.Width != s.width || g.Height != s.height || g.Stride != s.width || cap(g.Pix) != s.width*s.height {
				t.Errorf("%+v: field %d of %dx%d, stride %d, room for %d vectors", s, k, g.Width, g.Height, g.Stride, cap(g.Pix))
			}
		}
	}
}

func TestReadFieldsDamaged(t *testing.T) {
	whole := checked(rawFile("FLOW", 2, 2, 1, 2, 1, 2, 3, 4, 5, 6, 7, 8))
	if _, err := ReadFields(bytes.NewReader(whole), 2, 1, 2); err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		if _, err := ReadFields(bytes.NewReader(whole[:n]), 2, 1, 2); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("cut to %d bytes: error %v, want unexpected EOF", n, err)
		}
	}
	for i := range 8 * len(whole) {
		spoiled := slices.Clone(whole)
		spoiled[i/8] ^= 1 << (i % 8)
		if _, err := ReadFields(bytes.NewReader(spoiled), 2, 1, 2); err == nil {
			t.Errorf("bit %d turned: no error", i)
		}
	}
	other := slices.Clone(whole)
	for i := 4; i < len(other); i += 4 {
		slices.Reverse(other[i : i+4])
	}
	const limit = 4 * One
	for _, tt := range []struct {
		name string
		file []byte
		want string
	}{
		{"tag", rawFile("PIEH", 2, 2, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0), "no fields"},
		{"version", rawFile("FLOW", 1, 2, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0), "version 1"},
		{"byte order", other, "byte order"},
		{"number", rawFile("FLOW", 2, 1, 1, 2, 0, 0, 0, 0), "1 of 1x2, want 2 of 1x2"},
		{"size", rawFile("FLOW", 2, 2, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0), "2 of 2x1, want"},
		{"negative size", rawFile("FLOW", 2, 2, -1, math.MinInt32), "want"},
		{"checksum", append(slices.Clone(whole[:len(whole)-4]), 1, 2, 3, 4), "checksum"},
		{"more", append(slices.Clone(whole), 0), "follows"},
		{"first beyond", checked(rawFile("FLOW", 2, 2, 1, 2, limit+1, 0, 0, 0, 0, 0, 0, 0)), "beyond"},
		{"last beyond", checked(rawFile("FLOW", 2, 2, 1, 2, 0, 0, 0, 0, 0, 0, 0, -limit-1)), "beyond"},
		{"unknown", checked(rawFile("FLOW", 2, 2, 1, 2, 0, 0, math.MinInt32, math.MinInt32, 0, 0, 0, 0)), "beyond"},
	} {
		if _, err := ReadFields(bytes.NewReader(tt.file), 2, 1, 2); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.want)
		}
	}
	for _, size := range [][3]int{{0, 1, 2}, {2, 0, 2}, {2, 1, -1}} {
		if _, err := ReadFields(bytes.NewReader(whole), size[0], size[1], size[2]); err == nil {
			t.Errorf("%v: no error", size)
		}
	}
	broken := errors.New("stale file handle")
	for _, n := range []int{0, 10, rawHeader, len(whole) - 1, len(whole)} {
		if _, err := ReadFields(io.MultiReader(bytes.NewReader(whole[:n]), iotest.ErrReader(broken)), 2, 1, 2); !errors.Is(err, broken) {
			t.Errorf("after %d bytes: error %v, want the reader's", n, err)
		}
	}
}

// One component, at any index, is at a bound or beyond it.
func TestWithin(t *testing.T) {
	for _, limit := range []int32{2 * One, 3 * One, 960 * 2 * One, 32766 * 2 * One, 1 << 29} {
		half := int32(1) << 8
		for 2*half <= limit {
			half *= 2
		}
		for n := range 10 {
			for _, c := range []int32{0, -1, half - 1, half, -half, -half - 1, limit, limit + 1, -limit, -limit - 1, math.MaxInt32, math.MinInt32, -math.MaxInt32, math.MaxInt32 - limit, math.MinInt32 + limit} {
				want := n == 0 || int64(c) <= int64(limit) && int64(c) >= -int64(limit)
				for i := range 2 * max(n, 1) {
					for _, ground := range []int32{0, 1, -1, half - 1, -half} {
						v := slices.Repeat([]Vec{{ground, ground}}, n)
						if n > 0 {
							*[]*int32{&v[i/2].X, &v[i/2].Y}[i%2] = c
						}
						if got := within(v, limit); got != want {
							t.Fatalf("%d in place %d of %d vectors of %d, limit %d: %v", c, i, n, ground, limit, got)
						}
					}
				}
			}
		}
	}
}

func FuzzReadFields(f *testing.F) {
	f.Add(rawFile("FLOW", 2, 2, 1, 2, 1, 2, 3, 4, 5, 6, 7, 8), uint8(2), uint8(1), uint8(2))
	f.Add(rawFile("FLOW", 2, 1, 3, 1, 1536, -1536, 0, 0, 700, -1), uint8(1), uint8(3), uint8(1))
	f.Add(rawFile("FLOW", 2, 1, 1, 1, math.MinInt32, math.MaxInt32), uint8(1), uint8(1), uint8(1))
	f.Add(rawFile("FLOW", 2, 0, 0, 0), uint8(0), uint8(0), uint8(0))
	f.Add([]byte("FLOW"), uint8(1), uint8(255), uint8(255))
	f.Fuzz(func(t *testing.T, file []byte, n, width, height uint8) {
		file = checked(file) // otherwise ReadFields rejects the file before it reads vectors
		fields, err := ReadFields(bytes.NewReader(file), int(n), int(width), int(height))
		if err != nil {
			return
		}
		for k, f := range fields {
			limit := f.Limit()
			for i, v := range f.Pix {
				if max(v.X, v.Y) > limit || min(v.X, v.Y) < -limit {
					t.Fatalf("vector %d of field %d is %v, beyond %d", i, k, v, limit)
				}
			}
		}
		var again bytes.Buffer
		if err := WriteFields(&again, fields...); err != nil || !bytes.Equal(again.Bytes(), file) {
			t.Fatalf("what was read is written in other bytes: error %v", err)
		}
	})
}
