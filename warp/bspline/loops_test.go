//go:build linux

package bspline

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"retime/frame"
	"retime/frame/simd"
	"retime/frame/simd/simdtest"
)

// guardedTile returns a tile of random samples, also denormal ones, between pages that fault.
func guardedTile(t testing.TB, r *rand.Rand, length int, end bool) *tile[float32, float32] {
	regions := (length + Region - 1) / Region
	m := &tile[float32, float32]{simdtest.Guarded[float32](t, length*lanes, end), simdtest.Guarded[[lanes]float32](t, regions, end)}
	value := func() float32 {
		if r.IntN(16) == 0 {
			return []float32{0, 1e-41, -1e-39, 65535, -1e30}[r.IntN(5)]
		}
		return r.Float32()*300 - 20
	}
	for i := range m.pix {
		m.pix[i] = value()
	}
	for i := range m.carry {
		for j := range m.carry[i] {
			m.carry[i][j] = value()
		}
	}
	return m
}

// Exact: the portable loops define the others.
func TestLoopsRecursion(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 9))
	for i, length := range []int{1, 2, 7, 255, 256, 257, 511, 512, 700, 1024, 1025, 1400, 2049} {
		want := guardedTile(t, r, length, i%2 == 0)
		got := guardedTile(t, r, length, i%2 == 0)
		source := append([]float32(nil), want.pix...)
		copy(got.carry, want.carry)
		for _, z := range []float32{-0.26794919, -0.96, 0.5} {
			for _, level := range simd.Levels()[1:] {
				l := variant(level)
				check := func(name string, run func(l loopTable, t *tile[float32, float32])) {
					copy(want.pix, source)
					copy(got.pix, source)
					run(portable, want)
					run(l, got)
					for i := range want.pix {
						if got.pix[i] != want.pix[i] {
							t.Fatalf("%v %s, %d samples: sample %d of lane %d: %v, want %v", level, name, length, i/lanes, i%lanes, got.pix[i], want.pix[i])
						}
					}
				}
				check("causal", func(l loopTable, t *tile[float32, float32]) { l.causal(t, z) })
				check("anticausal", func(l loopTable, t *tile[float32, float32]) { l.anticausal(t, z, length-1) })
				check("anticausal, whole", func(l loopTable, t *tile[float32, float32]) { l.anticausal(t, z, length) })
			}
		}
	}
}

func TestLoopsTranspose(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 9))
	for n := 1; n < 40; n++ {
		end := n%2 == 0
		img := frame.Image[float32]{Width: n, Height: half, Stride: n + n%5, Pix: simdtest.Guarded[float32](t, (half-1)*(n+n%5)+n, end)}
		for i := range img.Pix {
			img.Pix[i] = r.Float32()
		}
		for _, level := range simd.Levels()[1:] {
			l := variant(level)
			// The lanes begin at the first or the ninth, and end with the tile.
			first := half * (n % 2)
			want, got := simdtest.Guarded[float32](t, n*lanes, end), simdtest.Guarded[float32](t, n*lanes, end)
			portable.transposeIn(want[first:], img, 0, 0, n)
			l.transposeIn(got[first:], img, 0, 0, n)
			compare(t, fmt.Sprint(level, " in, ", n), got, want)
			back := img
			back.Pix = simdtest.Copy(t, img.Pix, end)
			for y := range half {
				clear(back.Row(y))
			}
			l.transposeOut(got[first:], back, 0, 0, n)
			compare(t, fmt.Sprint(level, " out, ", n), back.Pix, img.Pix)
		}
	}
}

func compare(t *testing.T, name string, got, want []float32) {
	t.Helper()
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%s: element %d: %v, want %v", name, i, got[i], want[i])
		}
	}
}

func BenchmarkLoops(b *testing.B) {
	defer func(before loopTable) { loops = before }(loops)
	p, err := NewPrefilter[float32](Cubic, WholeSymmetric, 1e-6)
	if err != nil {
		b.Fatal(err)
	}
	img := frame.NewImage[float32](1920, 1080)
	for _, level := range simd.Levels() {
		loops = variant(level)
		b.Run("prefilter/"+level.String(), func(b *testing.B) {
			for b.Loop() {
				if err := p.Apply(frame.Workers{N: 1}, img); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
