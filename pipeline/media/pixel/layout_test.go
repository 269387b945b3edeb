package pixel

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
)

// everyFormat calls f with each pixel format that FFmpeg knows.
func everyFormat(f func(astiav.PixelFormat)) {
	for p := astiav.PixelFormat(0); describe(p) != nil; p++ {
		f(p)
	}
}

// randomPicture returns a picture in a planar format.
func randomPicture(t *testing.T, width, height int, p astiav.PixelFormat, seed uint64) *astiav.Frame {
	t.Helper()
	f, err := newPicture(width, height, p)
	if err != nil {
		t.Fatal(err)
	}
	format, _ := PlanarFormat(p)
	planes, _ := Planes(f, format)
	random := rand.New(rand.NewPCG(seed, 0))
	for _, q := range planes {
		for y := range q.Height {
			row := q.Pix[y*q.Stride:]
			for x := range q.Width {
				v := random.IntN(format.Max() + 1)
				if format.Bytes() == 1 {
					row[x] = byte(v)
				} else {
					row[2*x], row[2*x+1] = byte(v), byte(v>>8)
				}
			}
		}
	}
	return f
}

// contents returns f's bytes without padding.
func contents(t *testing.T, f *astiav.Frame) []byte {
	t.Helper()
	n, err := f.ImageBufferSize(1)
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, n)
	if _, err := f.ImageCopyToBuffer(b, 1); err != nil {
		t.Fatal(err)
	}
	return b
}

// Pictures survive the conversion to their planar twin and back, even if their sizes are
// odd.
func TestEveryFormatComesBack(t *testing.T) {
	count := 0
	everyFormat(func(p astiav.PixelFormat) {
		twin, lossless, ok := PlanarTwin(p)
		if !ok || !restores(p, twin) {
			return
		}
		count++
		for _, size := range [][2]int{{34, 22}, {33, 21}, {1, 1}} {
			w, h := size[0], size[1]
			there, back := converter{to: layout{w, h, twin, 0, false}, twin: true}, converter{to: layout{w, h, p, 0, false}, twin: true}
			convert := func(r *converter, from *astiav.Frame) *astiav.Frame {
				out, err := r.convert(from, layout{w, h, from.PixelFormat(), 0, false})
				if err != nil {
					t.Fatalf("%s: %v", p, err)
				}
				return out
			}
			seed := uint64(p)
			planar := randomPicture(t, w, h, twin, seed)
			first := convert(&back, planar)
			again := convert(&there, first)
			second := convert(&back, again)
			if !bytes.Equal(contents(t, first), contents(t, second)) {
				t.Errorf("%s through %s at %dx%d, seed %d: it came back changed", p, twin, w, h, seed)
			}
			if depthOf(describe(p)) == depthOf(describe(twin)) && lossless && !bytes.Equal(contents(t, planar), contents(t, again)) && !isGray(p) {
				t.Errorf("%s holds %s at %dx%d, seed %d: it came back changed", p, twin, w, h, seed)
			}
			for _, f := range []*astiav.Frame{planar, first, again, second} {
				f.Free()
			}
			if there.scale != nil || back.scale != nil {
				t.Errorf("%s: samples were not only moved", p)
			}
		}
	})
	if count < 150 {
		t.Errorf("%d formats, want most of them", count)
	}
}

// isGray reports whether p has no colour: its twin then has chroma planes without
// content.
func isGray(p astiav.PixelFormat) bool { return colours(describe(p)) == 1 }

func TestLayoutOfKnownSamples(t *testing.T) {
	for _, c := range []struct {
		format string
		planes [][]byte // of one pixel
		want   []byte   // its planes
	}{
		{"rgb24", [][]byte{{1, 2, 3}}, []byte{2, 3, 1}},
		{"bgra", [][]byte{{1, 2, 3, 4}}, []byte{2, 1, 3, 4}},
		{"gray10be", [][]byte{{3, 0xfe}}, []byte{0xfe, 3}},
		{"rgb565le", [][]byte{{0x1f, 0xf8}}, []byte{0, 255, 255}},
		{"monow", [][]byte{{0x80}}, []byte{0}},
		{"monob", [][]byte{{0x80}}, []byte{255}},
		{"ya8", [][]byte{{7, 9}}, []byte{7, 128, 128, 9}},
		{"grayf32le", [][]byte{{0, 0, 0x80, 0x3f}}, []byte{0xa7, 0x94}}, // 1 is 58.07 % of PQ's range
		{"grayf32be", [][]byte{{0x42, 0x48, 0, 0}}, []byte{255, 255}},   // 50
		{"grayf32le", [][]byte{{0, 0, 0xc0, 0xff}}, []byte{0, 0}},       // NaN
		{"p010le", [][]byte{{0x40, 0}, {0x80, 0, 0xc0, 0}}, []byte{1, 0, 2, 0, 3, 0}},
	} {
		p := astiav.FindPixelFormatByName(c.format)
		twin, _, _ := PlanarTwin(p)
		f, err := newPicture(1, 1, p)
		if err != nil {
			t.Fatal(err)
		}
		for i, b := range c.planes {
			copy(unsafe.Slice((*byte)(unsafe.Pointer(av.PlaneData(f, i))), len(b)), b)
		}
		r := converter{to: layout{1, 1, twin, 0, false}, twin: true}
		out, err := r.convert(f, layout{1, 1, p, 0, false})
		if err != nil {
			t.Fatal(err)
		}
		if got := contents(t, out); !bytes.Equal(got, c.want) {
			t.Errorf("%s % x: %s % x, want % x", c.format, c.planes, twin, got, c.want)
		}
		out.Free()
		f.Free()
	}
}

// Levels keep their meaning at another depth.
func TestDepths(t *testing.T) {
	for _, c := range []struct {
		from, to string
		full     bool
		in, out  []byte
	}{
		{"yuv444p", "yuv444p16le", false, []byte{235, 16, 128}, []byte{0, 235, 0, 16, 0, 128}},
		{"yuva444p", "yuva444p16le", false, []byte{16, 128, 128, 255}, []byte{0, 16, 0, 128, 0, 128, 255, 255}},
		{"gray", "gray16le", true, []byte{255}, []byte{255, 255}},
		{"gbrp", "gbrp10le", true, []byte{255, 0, 128}, []byte{0xff, 3, 0, 0, 2, 2}},
	} {
		from, to := astiav.FindPixelFormatByName(c.from), astiav.FindPixelFormatByName(c.to)
		f, err := newPicture(1, 1, from)
		if err != nil {
			t.Fatal(err)
		}
		for i, b := range c.in {
			*(*byte)(unsafe.Pointer(av.PlaneData(f, i))) = b
		}
		r := converter{to: layout{1, 1, to, 1, c.full}}
		out, err := r.convert(f, layout{1, 1, from, 1, c.full})
		if err != nil {
			t.Fatal(err)
		}
		if got := contents(t, out); !bytes.Equal(got, c.out) || r.scale != nil {
			t.Errorf("%s to %s: % x became % x, want % x", c.from, c.to, c.in, got, c.out)
		}
		out.Free()
		f.Free()
	}
	r := converter{to: layout{1, 1, astiav.FindPixelFormatByName("yuv444p10le"), 1, true}}
	if r.moves(layout{1, 1, astiav.FindPixelFormatByName("yuv444p"), 1, true}) {
		t.Error("chroma of full range is moved between depths")
	}
}
