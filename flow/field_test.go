package flow

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestQuantize(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	const limit = 2 * One * 100
	tests := []struct {
		in    float32
		scale float32
		want  int32
	}{
		{0, One, 0},
		{1, One, 256},
		{-1, One, -256},
		{1, One / 2, 128},
		{0.5 / One, One, 1},
		{-0.5 / One, One, -1},
		{2.5 / One, One, 3},
		{-2.5 / One, One, -3},
		{math.Nextafter32(0.5/One, 0), One, 0},
		{math.Nextafter32(-0.5/One, 0), One, 0},
		{math.SmallestNonzeroFloat32, One, 0},
		{200, One, limit},
		{-200, One, -limit},
		{200.5, One, limit},
		{-1e30, One, -limit},
		{math.MaxFloat32, One, limit},
		{inf, One, 0},
		{-inf, One, 0},
		{nan, One, 0},
	}
	for _, tt := range tests {
		var got [1]Vec
		Quantize(got[:], [][2]float32{{tt.in, -tt.in}}, tt.scale, limit)
		if want := (Vec{tt.want, -tt.want}); got[0] != want {
			t.Errorf("Quantize(±%g, scale %g) = %v, want %v", tt.in, tt.scale, got[0], want)
		}
	}
}

// Exact: both round the same product, and scaling by a power of two is exact.
func TestQuantizeAgainstRound(t *testing.T) {
	const seed = 1
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	src := make([][2]float32, 20000)
	for i := range src {
		for k := range src[i] {
			switch i % 3 {
			case 0:
				src[i][k] = math.Float32frombits(rng.Uint32())
			case 1:
				src[i][k] = float32(rng.NormFloat64() * 100)
			case 2:
				src[i][k] = float32(rng.IntN(4096)-2048) / (2 * One)
			}
		}
	}
	for _, limit := range []int32{0, 512, 1 << 20, 1 << 29} {
		dst := make([]Vec, len(src)+2)
		canary := Vec{77, -77}
		dst[0], dst[len(dst)-1] = canary, canary
		Quantize(dst[1:len(dst)-1], src, One, limit)
		want := func(v float32) int32 {
			s := math.Round(float64(v) * One)
			if math.IsNaN(s) || math.IsInf(s, 0) {
				return 0
			}
			return int32(max(-float64(limit), min(float64(limit), s)))
		}
		for i, v := range src {
			if w := (Vec{want(v[0]), want(v[1])}); dst[i+1] != w {
				t.Fatalf("limit %d, vector %d: Quantize(%g) = %v, want %v", limit, i, v, dst[i+1], w)
			}
		}
		if dst[0] != canary || dst[len(dst)-1] != canary {
			t.Error("Quantize wrote beyond its destination")
		}
	}
}

func TestLimit(t *testing.T) {
	tests := []struct {
		w, h int
		want int32
	}{{1, 1, 512}, {1920, 1080, 983040}, {3, 700, 358400}, {99999, 1, 51199488}}
	for _, tt := range tests {
		if got := NewField(tt.w, tt.h).Limit(); got != tt.want {
			t.Errorf("%dx%d: limit %d, want %d", tt.w, tt.h, got, tt.want)
		}
	}
	var huge Field
	huge.Width = 1 << 30
	if got := huge.Limit(); got != 1<<29 {
		t.Errorf("limit of a huge field %d, want 2^29", got)
	}
}

func BenchmarkQuantize1080p(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 0))
	src := make([][2]float32, 1920*1080)
	for i := range src {
		src[i] = [2]float32{float32(rng.NormFloat64() * 4), float32(rng.NormFloat64() * 4)}
	}
	dst := NewField(1920, 1080)
	b.SetBytes(int64(8 * len(src)))
	for b.Loop() {
		Quantize(dst.Pix, src, One, dst.Limit())
	}
}
