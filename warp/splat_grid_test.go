package warp

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"retime/flow"
	"retime/frame"
)

func TestResampleMatchesReference(t *testing.T) {
	const seed = 1
	r := rand.New(rand.NewPCG(seed, 0))
	for _, size := range [][2]int{{1, 1}, {2, 5}, {7, 9}, {33, 18}} {
		for _, shift := range [][2]int{{0, 0}, {1, 0}, {1, 1}, {2, 0}, {2, 2}, {-1, -1}, {-1, 0}, {-2, 1}} {
			for _, kind := range []string{"extremes", "fractions"} {
				src := randomMotion(r, kind, size[0], size[1], 1)
				width, height := gridSize(size[0], shift[0]), gridSize(size[1], shift[1])
				name := fmt.Sprintf("seed %d, %v by %v, %s", seed, size, shift, kind)
				for _, workers := range []int{1, 2, 8} {
					w := frame.Workers{N: workers}
					vectors, intact := guardedImage(width, height, flow.Unknown)
					ResampleFlow(w, flow.Field{Image: vectors}, src.Flow, shift[0], shift[1])
					weights, weightsIntact := guardedImage[uint16](width, height, 5)
					ResampleWeights(w, weights, src.Weight, shift[0], shift[1])
					if !intact() || !weightsIntact() {
						t.Fatalf("%s: wrote outside the image", name)
					}
					for y := range height {
						for x := range width {
							v, weight := referenceResample(src, x, y, shift[0], shift[1])
							if got := vectors.Row(y)[x]; got != v {
								t.Fatalf("%s: vector (%d, %d) is %v, want %v", name, x, y, got, v)
							}
							if got := weights.Row(y)[x]; got != weight {
								t.Fatalf("%s: weight (%d, %d) is %d, want %d", name, x, y, got, weight)
							}
						}
					}
				}
			}
		}
	}
}

func gridSize(n, shift int) int {
	if shift < 0 {
		return n << -shift
	}
	return (n + 1<<shift - 1) >> shift
}

func referenceResample(m Motion, x, y, sx, sy int) (flow.Vec, uint16) {
	scaleX, scaleY := math.Ldexp(1, sx), math.Ldexp(1, sy)
	sum := [3]*big.Int{new(big.Int), new(big.Int), new(big.Int)}
	n := int64(0)
	// The loop takes every source pixel whose corner is within the new one, or the one
	// around it.
	for v := math.Floor(float64(y) * scaleY); v < float64(y+1)*scaleY; v++ {
		for u := math.Floor(float64(x) * scaleX); u < float64(x+1)*scaleX; u++ {
			i, j := min(int(u), m.Flow.Width-1), min(int(v), m.Flow.Height-1)
			vec := m.Flow.Row(j)[i]
			for k, c := range []int64{int64(vec.X), int64(vec.Y), int64(m.Weight.Row(j)[i])} {
				sum[k].Add(sum[k], big.NewInt(c))
			}
			n++
		}
	}
	// Units of 1/4 pixel of the source give finer grids whole divisors.
	component := func(s *big.Int, scale float64) int32 {
		mean := referenceMean(new(big.Int).Lsh(s, 2), big.NewInt(n*int64(4*scale)))
		return int32(min(max(mean, math.MinInt32), math.MaxInt32))
	}
	return flow.Vec{X: component(sum[0], scaleX), Y: component(sum[1], scaleY)},
		uint16(referenceMean(sum[2], big.NewInt(n)))
}

// Chroma of 4:2:0 moves half as far in its own samples.
func TestResampleFlowConstant(t *testing.T) {
	src := flow.NewField(5, 3)
	for i := range src.Pix {
		src.Pix[i] = flow.Vec{X: 513, Y: -513}
	}
	chroma, fine := flow.NewField(3, 2), flow.NewField(10, 6)
	ResampleFlow(frame.Workers{}, chroma, src, 1, 1)
	ResampleFlow(frame.Workers{}, fine, src, -1, -1)
	for i, v := range chroma.Pix {
		if want := (flow.Vec{X: 257, Y: -257}); v != want {
			t.Errorf("chroma vector %d is %v, want %v", i, v, want)
		}
	}
	for i, v := range fine.Pix {
		if want := (flow.Vec{X: 1026, Y: -1026}); v != want {
			t.Errorf("fine vector %d is %v, want %v", i, v, want)
		}
	}
}
