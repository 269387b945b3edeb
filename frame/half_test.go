package frame

import (
	"math"
	"testing"
)

// Every binary16 becomes the float32 of its value, and comes back from every float32 that
// is nearer to it than to its neighbours.
func TestHalves(t *testing.T) {
	for h, want := range map[uint16]float32{
		0: 0, 1: 1. / (1 << 24), 0x3ff: 1023. / (1 << 24), 0x400: 1. / (1 << 14), 0x3555: 1365. / 4096,
		0x3c00: 1, 0x3c01: 1025. / 1024, 0x7bff: 65504, 0x7c00: float32(math.Inf(1)), 0xc000: -2,
	} {
		if got := HalfValue(h); got != want {
			t.Errorf("%#x is %v, want %v", h, got, want)
		}
	}
	if v := HalfValue(0x7e00); v == v {
		t.Errorf("NaN is %v", v)
	}
	value := func(h uint16) float64 { return float64(HalfValue(h)) }
	for h := range uint16(0x7bfe) {
		v, next := value(h), value(h+1)
		middle := (v + next) / 2 // exact in a float32
		even := h + h&1
		below, above := math.Nextafter32(float32(middle), 0), math.Nextafter32(float32(middle), 1e6)
		if a, b, c, d := HalfBits(float32(v)), HalfBits(below), HalfBits(float32(middle)), HalfBits(above); a != h || b != h || c != even || d != h+1 {
			t.Fatalf("around %v: %#x, %#x, %#x, %#x; want %#x, %#x, %#x, %#x", v, a, b, c, d, h, h, even, h+1)
		}
	}
}

// Halves are rounded to the nearest, ties to even.
func TestHalfBits(t *testing.T) {
	for v, want := range map[float32]uint16{
		0: 0, 1: 0x3c00, -2: 0xc000, 0.5: 0x3800, 65504: 0x7bff, 65520: 0x7c00, 1e9: 0x7c00, 1 + 1.0/2048: 0x3c00, 1 + 3.0/2048: 0x3c02,
		1.0 / (1 << 24): 1, 1.0 / (1 << 25): 0, 3.0 / (1 << 25): 2, 1023.0 / (1 << 24): 0x3ff, 1.0 / (1 << 14): 0x400, 1.0 / (1 << 26): 0,
		float32(math.Inf(-1)): 0xfc00,
	} {
		if got := HalfBits(v); got != want {
			t.Errorf("%v: %04x, want %04x", v, got, want)
		}
	}
	if got := HalfBits(float32(math.NaN())); got&0x7c00 != 0x7c00 || got&0x3ff == 0 {
		t.Errorf("NaN: %04x", got)
	}
}
