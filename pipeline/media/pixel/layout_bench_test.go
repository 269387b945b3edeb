package pixel

import (
	"testing"

	"github.com/asticode/go-astiav"
)

// BenchmarkMoveSamples moves the samples of a 1920x1080 picture to its planar twin.
func BenchmarkMoveSamples(b *testing.B) {
	for _, name := range []string{"nv12", "p010le", "rgb24", "yuv420p10be", "gbrpf32le"} {
		b.Run(name, func(b *testing.B) {
			p := astiav.FindPixelFormatByName(name)
			twin, _, _ := PlanarTwin(p)
			src, err := newPicture(1920, 1080, p)
			if err != nil {
				b.Fatal(err)
			}
			defer src.Free()
			dst, err := newPicture(1920, 1080, twin)
			if err != nil {
				b.Fatal(err)
			}
			defer dst.Free()
			clearPlanes(src, describe(p))
			for b.Loop() {
				moveSamples(dst, src, true, name == "gbrpf32le")
			}
		})
	}
}
