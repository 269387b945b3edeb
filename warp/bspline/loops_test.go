//go:build linux

package bspline

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"retime/frame"
	"retime/frame/simd"
	"retime/frame/simd/simdtest"
)

// guardedTile returns a tile of random samples, some denormal, between pages that fault.
func guardedTile(t testing.TB, r *rand.Rand, length int, end bool) *tile[float32] {
	regions := (length + Region - 1) / Region
	m := &tile[float32]{simdtest.Guarded[float32](t, length*lanes, end), simdtest.Guarded[[lanes]float32](t, regions, end)}
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
				check := func(name string, run func(l loopTable, t *tile[float32])) {
					copy(want.pix, source)
					copy(got.pix, source)
					run(portable, want)
					run(l, got)
					for i := range want.pix {
						if got.pix[i] != want.pix[i] {
							t.Fatalf("%v %s, %d samples: sample %d of lane %d: %v, want %v", level, name, length, i/lanes, i%lanes, got.pix[i], want.pix[i])
						}
					}
					for i := range want.carry {
						if got.carry[i] != want.carry[i] {
							t.Fatalf("%v %s, %d samples: carry of subregion %d: %v, want %v", level, name, length, i, got.carry[i], want.carry[i])
						}
					}
				}
				check("causal", func(l loopTable, t *tile[float32]) { l.causal(t, z) })
				check("anticausal", func(l loopTable, t *tile[float32]) { l.anticausal(t, z, length-1) })
				check("anticausal, whole", func(l loopTable, t *tile[float32]) { l.anticausal(t, z, length) })
				for _, n := range []int{1, 12, Region} {
					check("start, causal", func(l loopTable, t *tile[float32]) { l.startCausal(t, z, n) })
					check("start, anticausal", func(l loopTable, t *tile[float32]) {
						l.startAnticausal(t, z, n, max(0, length-n)/Region)
					})
				}
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
			// The group of lanes begins at the first or the ninth, and the memory ends with the
			// tile.
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

func TestLoopsMove(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	for n := 1; n < 20; n++ {
		stride, end := lanes+n%7, n%2 == 0
		for _, strides := range [][2]int{{lanes, stride}, {stride, lanes}} {
			size := func(stride int) int { return (n-1)*stride + lanes }
			src := simdtest.Guarded[float32](t, size(strides[1]), end)
			for i := range src {
				src[i] = r.Float32()
			}
			want, got := simdtest.Guarded[float32](t, size(strides[0]), end), simdtest.Guarded[float32](t, size(strides[0]), end)
			portable.move(want, strides[0], src, strides[1], n)
			for _, level := range simd.Levels()[1:] {
				variant(level).move(got, strides[0], src, strides[1], n)
				compare(t, fmt.Sprint(level, ", ", n, " rows, strides ", strides), got, want)
			}
		}
	}
}

func TestLoopsWeightedSums(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 9))
	values := func(n int, end bool) []float32 {
		s := simdtest.Guarded[float32](t, n, end)
		for i := range s {
			s[i] = []float32{r.Float32() - 0.5, r.Float32() * 300, 0, float32(math.Copysign(0, -1)), -1e-39}[r.IntN(5)]
		}
		return s
	}
	for taps := 1; taps <= maxSupport; taps++ {
		for count := 1; count < 72; count += 1 + count/9 {
			end := count%2 == 0
			// The columns ascend by one, ascend by uneven steps, or descend.
			for step := range 3 {
				row := values(count+taps+2*step, end)
				first := make([]int, count)
				for i := range first {
					first[i] = min(i+i*step/3, len(row)-taps)
					if step == 2 {
						first[i] = max(0, len(row)-taps-i)
					}
				}
				weights := values(count*taps, end)
				want, got := simdtest.Guarded[float32](t, count, end), simdtest.Guarded[float32](t, count, end)
				for _, level := range simd.Levels()[1:] {
					portable.across(want, row, first, weights, taps)
					variant(level).across(got, row, first, weights, taps)
					compareBits(t, fmt.Sprintf("%v across, %d columns of %d taps, step %d", level, count, taps, step), got, want)
				}
			}
			sums := frame.Image[float32]{Width: count, Height: taps, Stride: count + count%3, Pix: values((taps-1)*(count+count%3)+count, end)}
			weights := values(taps, end)
			want, got := simdtest.Guarded[float32](t, count, end), simdtest.Guarded[float32](t, count, end)
			for _, level := range simd.Levels()[1:] {
				first := r.IntN(taps)
				portable.down(want, sums, first, weights)
				variant(level).down(got, sums, first, weights)
				compareBits(t, fmt.Sprintf("%v down, %d columns of %d rows from %d", level, count, taps, first), got, want)
			}
		}
	}
}

// compareBits distinguishes 0 from -0.
func compareBits(t *testing.T, name string, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("%s: element %d: %v, want %v", name, i, got[i], want[i])
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
	img, out := frame.NewImage[float32](1920, 1080), frame.NewImage[float32](1920, 1080)
	spline, err := FromCoefficients(img, Cubic, WholeSymmetric, 0)
	if err != nil {
		b.Fatal(err)
	}
	for _, level := range simd.Levels() {
		loops = variant(level)
		b.Run("prefilter/"+level.String(), func(b *testing.B) {
			for b.Loop() {
				if err := p.Apply(frame.Workers{N: 1}, img); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("shift/"+level.String(), func(b *testing.B) {
			for b.Loop() {
				if err := spline.Warp(frame.Workers{N: 1}, out, Shift(0.5, 0.5)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
