package frame

import (
	"image/color"
	"testing"
)

func TestRGBA(t *testing.T) {
	f := New(Format{Planes: 3, Depth: 8}, 5, 3)
	for i := range 3 {
		m := Samples[uint8](f.Planes[i])
		for y := range 3 {
			for x := range 5 {
				m.Row(y)[x] = uint8(100*i + 10*y + x)
			}
		}
	}
	m := RGBA(f)
	if m.Rect.Dx() != 5 || m.Rect.Dy() != 3 {
		t.Fatalf("the picture is %v", m.Rect)
	}
	for y := range 3 {
		for x := range 5 {
			v := uint8(10*y + x)
			if got, want := m.RGBAAt(x, y), (color.RGBA{200 + v, v, 100 + v, 255}); got != want {
				t.Errorf("%d,%d: %v, want %v", x, y, got, want)
			}
		}
	}
}
