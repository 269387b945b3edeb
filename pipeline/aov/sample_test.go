package aov

import (
	"image"
	"math"
	"testing"

	"retime/pipeline/media/exr"
)

// of returns a view of floats.
func of(window, display image.Rectangle, value func(x, y int) float32) *view {
	p := &exr.Plane{Type: exr.Float, Bits: make([]uint32, window.Dx()*window.Dy())}
	for y := window.Min.Y; y < window.Max.Y; y++ {
		for x := window.Min.X; x < window.Max.X; x++ {
			p.Set((y-window.Min.Y)*window.Dx()+x-window.Min.X, value(x, y))
		}
	}
	return newView(&exr.Part{Window: window, Display: display}, p, true)
}

// A plane comes back from the cubic, samples come back exactly, and nothing overshoots.
func TestSmooth(t *testing.T) {
	r := image.Rect(-3, 2, 9, 12)
	v := of(r, r, func(x, y int) float32 { return float32(2*x - 3*y) })
	for _, p := range [][2]int{{0, 5 << 8}, {128, 5<<8 + 64}, {3<<8 + 17, 7<<8 + 200}, {-1 << 8, 4<<8 + 1}} {
		if got, want := v.smooth(p[0], p[1]), float64(2*p[0]-3*p[1])/256; math.Abs(float64(got)-want) > 1e-5 {
			t.Errorf("at %v: %v, want %v", p, got, want)
		}
	}
	step := of(r, r, func(x, y int) float32 {
		if x > 2 {
			return 60000
		}
		return -0.25
	})
	for x := range 6 << 8 {
		if got := step.smooth(x, 6<<8+x%256); got < -0.25 || got > 60000 {
			t.Fatalf("at %d: %v", x, got)
		}
	}
	holed := of(r, r, func(x, y int) float32 {
		if x == 2 {
			return float32(math.Inf(1))
		}
		return 7
	})
	if got := holed.smooth(1<<8+60, 6<<8); got != 7 {
		t.Errorf("beside an infinite sample: %v", got)
	}
}

// What is shown and not stored is 0, and beyond both the edge goes on.
func TestEdges(t *testing.T) {
	v := of(image.Rect(4, 4, 8, 8), image.Rect(0, 0, 8, 10), func(x, y int) float32 { return float32(10*x + y) })
	for _, c := range []struct {
		x, y int
		want float32
	}{{4, 4, 44}, {7, 7, 77}, {3, 5, 0}, {-9, 5, 0}, {20, 5, 75}, {7, 9, 0}, {7, -5, 0}} {
		if got := v.value(c.x, c.y); got != c.want {
			t.Errorf("at %d, %d: %v, want %v", c.x, c.y, got, c.want)
		}
		if got := math.Float32frombits(v.nearest(c.x<<8+100, c.y<<8-100)); got != c.want {
			t.Errorf("near %d, %d: %v, want %v", c.x, c.y, got, c.want)
		}
	}
}
