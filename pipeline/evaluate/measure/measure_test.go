package measure

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"retime/frame"
	"retime/pipeline/media"
)

// noisy returns an image of noise whose stride is wider than its rows.
func noisy[T frame.Sample](width, height, peak int, seed uint64) frame.Image[T] {
	rng := rand.New(rand.NewPCG(seed, 0))
	m := frame.Image[T]{Width: width, Height: height, Stride: width + 3, Pix: make([]T, (width+3)*height)}
	for i := range m.Pix {
		m.Pix[i] = T(rng.IntN(peak + 1))
	}
	return m
}

func TestSquaredError(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {7, 1}, {1, 9}, {33, 50}, {64, 129}} {
		a, b := noisy[uint16](size[0], size[1], 65535, 1), noisy[uint16](size[0], size[1], 65535, 2)
		var want uint64
		for y := range a.Height {
			for x, v := range a.Row(y) {
				d := max(v, b.Row(y)[x]) - min(v, b.Row(y)[x])
				want += uint64(d) * uint64(d)
			}
		}
		for _, n := range []int{1, 2, 8} {
			if got := squaredError(frame.Workers{N: n}, a, b); got != want {
				t.Errorf("%v, %d workers: %d, want %d", size, n, got, want)
			}
		}
	}
	// The largest errors in the largest picture do not overflow.
	white, black := frame.NewImage[uint16](4096, 16), frame.NewImage[uint16](4096, 16)
	for i := range white.Pix {
		white.Pix[i] = 65535
	}
	const rows = 1 << 26 / 4096 / 16
	if got := squaredError(frame.Workers{}, white, black); got != 65535*65535*4096*16 || got > math.MaxUint64/rows {
		t.Errorf("white against black: %d", got)
	}
}

func TestPSNR(t *testing.T) {
	for _, c := range []struct {
		mse  float64
		peak int
		want float64
	}{{1, 255, 48.130804}, {255 * 255, 255, 0}, {100, 1023, 40.197513}, {0, 255, math.Inf(1)}} {
		if got := PSNR(c.mse, c.peak); got != c.want && !(math.Abs(got-c.want) < 1e-6) {
			t.Errorf("mean squared error %f of peak %d: %f dB, want %f", c.mse, c.peak, got, c.want)
		}
	}
}

// naiveSSIM follows the definition, window by window.
func naiveSSIM[T frame.Sample](a, b frame.Image[T], peak int) float64 {
	var total float64
	windows := 0
	for y := 0; y+8 <= a.Height; y += 4 {
		for x := 0; x+8 <= a.Width; x += 4 {
			var ma, mb float64
			for j := range 64 {
				ma += float64(a.Row(y + j/8)[x+j%8]) / 64
				mb += float64(b.Row(y + j/8)[x+j%8]) / 64
			}
			var va, vb, cov float64
			for j := range 64 {
				da, db := float64(a.Row(y + j/8)[x+j%8])-ma, float64(b.Row(y + j/8)[x+j%8])-mb
				va, vb, cov = va+da*da/63, vb+db*db/63, cov+da*db/63
			}
			l := float64(peak)
			c1, c2 := 0.0001*l*l/64, 0.0009*l*l
			total += (2*ma*mb + c1) * (2*cov + c2) / ((ma*ma + mb*mb + c1) * (va + vb + c2))
			windows++
		}
	}
	return total / float64(windows)
}

func TestSSIM(t *testing.T) {
	var s ssim
	for _, size := range [][2]int{{8, 8}, {11, 9}, {40, 8}, {65, 43}, {128, 100}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			compareSSIM(t, &s, noisy[uint8](size[0], size[1], 255, 3), noisy[uint8](size[0], size[1], 255, 4), 255)
			compareSSIM(t, &s, noisy[uint16](size[0], size[1], 65535, 5), noisy[uint16](size[0], size[1], 65535, 6), 65535)
		})
	}
	for _, size := range [][2]int{{1, 1}, {7, 40}, {40, 7}, {3, 2}} {
		a, b := noisy[uint8](size[0], size[1], 255, 7), noisy[uint8](size[0], size[1], 255, 8)
		if v := similar(&s, frame.Workers{}, a, a, 255); v != 1 {
			t.Errorf("%v: a small picture is %f like itself", size, v)
		}
		if v := similar(&s, frame.Workers{}, a, b, 255); !(v > -1 && v < 1) {
			t.Errorf("%v: small pictures are %f alike", size, v)
		}
	}
}

func compareSSIM[T frame.Sample](t *testing.T, s *ssim, a, b frame.Image[T], peak int) {
	t.Helper()
	want := naiveSSIM(a, b, peak)
	first := similar(s, frame.Workers{N: 1}, a, b, peak)
	if math.Abs(first-want) > 1e-9 { // sums of integers against sums of rounded differences
		t.Errorf("similarity %.12f, want %.12f", first, want)
	}
	for _, n := range []int{2, 8} {
		if got := similar(s, frame.Workers{N: n}, a, b, peak); got != first {
			t.Errorf("%d workers: %.17f, one: %.17f", n, got, first)
		}
	}
	if v := similar(s, frame.Workers{}, a, a, peak); v != 1 {
		t.Errorf("a picture is %f like itself", v)
	}
}

func BenchmarkScore720p(b *testing.B) {
	format := frame.Format{Name: "yuv420p", Depth: 8, Planes: 3, ChromaX: 1, ChromaY: 1}
	truth, made := frame.New(format, 1280, 720), frame.New(format, 1280, 720)
	m, err := NewMeter(media.Video{Format: format, Width: 1280, Height: 720, TimeBase: big.NewRat(1, 25)}, frame.Workers{})
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	b.SetBytes(1280 * 720 * 3 / 2)
	for b.Loop() {
		if _, err := m.Score(truth, made); err != nil {
			b.Fatal(err)
		}
	}
}
