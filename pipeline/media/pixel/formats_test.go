package pixel

import (
	"testing"

	"github.com/asticode/go-astiav"
)

func TestPlanarTwin(t *testing.T) {
	for _, c := range []struct {
		name, twin string
		lossless   bool
	}{
		{"yuv420p", "yuv420p", true}, {"yuvj422p", "yuvj422p", true}, {"gray10le", "gray10le", true},
		{"yuva444p16le", "yuva444p16le", true}, {"gbrp12le", "gbrp12le", true}, {"yuv411p", "yuv411p", true},
		{"nv12", "yuv420p", true}, {"nv24", "yuv444p", true}, {"yuyv422", "yuv422p", true},
		{"p010le", "yuv420p10le", true}, {"p016le", "yuv420p16le", true}, {"yuv420p10be", "yuv420p10le", true},
		{"rgb24", "gbrp", true}, {"bgra", "gbrap", true}, {"rgb48be", "gbrp16le", true}, {"rgb565le", "gbrp", true},
		{"x2rgb10le", "gbrp10le", true}, {"pal8", "gbrap", true}, {"monow", "gray", true}, {"gray16be", "gray16le", true},
		{"ya8", "yuva420p", true}, {"gbrpf32le", "gbrp16le", false},
	} {
		twin, lossless, ok := PlanarTwin(astiav.FindPixelFormatByName(c.name))
		if !ok || twin.Name() != c.twin || lossless != c.lossless {
			t.Errorf("%s: %s, lossless %v, %v; want %s, %v", c.name, twin.Name(), lossless, ok, c.twin, c.lossless)
		}
	}
	if _, _, ok := PlanarTwin(astiav.FindPixelFormatByName("cuda")); ok {
		t.Error("a hardware format has a planar twin")
	}
}

func TestPlanarFormats(t *testing.T) {
	f, ok := PlanarFormat(astiav.FindPixelFormatByName("yuva420p10le"))
	if !ok || f.Depth != 10 || f.Planes != 4 || f.ChromaX != 1 || f.ChromaY != 1 || f.RGB || !f.Alpha() || f.Max() != 1023 {
		t.Errorf("yuva420p10le: %+v, %v", f, ok)
	}
	f, ok = PlanarFormat(astiav.FindPixelFormatByName("gbrp14le"))
	if !ok || f.Depth != 14 || f.Planes != 3 || !f.RGB || f.Alpha() {
		t.Errorf("gbrp14le: %+v, %v", f, ok)
	}
}

func TestNearestFormat(t *testing.T) {
	of := func(names ...string) []astiav.PixelFormat {
		var out []astiav.PixelFormat
		for _, n := range names {
			out = append(out, astiav.FindPixelFormatByName(n))
		}
		return out
	}
	for _, c := range []struct {
		source, want, lost string
		taken              []string
	}{
		{"yuv420p10le", "yuv420p10le", "nothing", nil},
		{"yuv422p", "yuv422p", "nothing", []string{"yuv420p", "yuv422p", "yuv444p"}},
		{"yuv422p12le", "yuv444p16le", "nothing", []string{"yuv420p", "yuv444p16le"}},
		{"gbrp", "yuv444p", "exact values", []string{"yuv420p", "yuv444p"}},
		{"rgb24", "yuv420p10le", "chroma resolution", []string{"yuv444p", "yuv420p10le"}},
		{"gbrp10le", "yuv444p", "2 bits of depth, exact values", []string{"yuv444p"}},
		{"rgb24", "yuv444p10le", "nothing", []string{"yuv420p", "yuv444p", "yuv420p10le", "yuv444p10le", "yuv444p12le"}},
		{"rgb24", "bgr0", "nothing", []string{"yuv444p10le", "gbrp16le", "bgr0"}},
		{"nv12", "yuv420p", "nothing", []string{"yuvj420p", "yuv422p", "yuv420p"}},
		{"yuvj420p", "yuv420p", "nothing", []string{"yuv420p", "yuv444p"}},
		{"gray", "gray10le", "nothing", []string{"yuv420p", "gray10le"}},
		{"gray12le", "yuv420p12le", "nothing", []string{"gray", "gray10le", "yuv420p12le", "yuv444p12le"}},
		{"yuva420p", "rgba", "exact values", []string{"yuv420p", "rgb24", "rgba"}},
		{"yuva444p10le", "yuv444p10le", "alpha", []string{"yuv420p10le", "yuv444p10le", "yuv444p12le"}},
		{"yuv420p12le", "yuv420p10le", "2 bits of depth", []string{"yuv420p", "yuv420p10le", "yuv444p10le"}},
		{"yuv444p", "yuv420p", "chroma resolution", []string{"gray", "yuv420p", "nv12"}},
		{"rgb24", "gray", "colour", []string{"gray", "monob"}},
	} {
		got, lost, ok := Nearest(of(c.source)[0], of(c.taken...), AnySize)
		if got.Name() != c.want || lost.String() != c.lost || !ok {
			t.Errorf("%s of %v: %s, which loses %s; want %s, %s", c.source, c.taken, got.Name(), lost, c.want, c.lost)
		}
	}
	if got, _, _ := Nearest(of("yuv420p")[0], of("yuv420p", "yuv422p", "yuv444p"), WholeBlocks(64, 47)); got.Name() != "yuv422p" {
		t.Errorf("64x47 goes in %s", got)
	}
	if _, _, ok := Nearest(of("yuv420p")[0], of("yuv420p"), WholeBlocks(63, 48)); ok {
		t.Error("63x48 goes in blocks of 2")
	}
}
