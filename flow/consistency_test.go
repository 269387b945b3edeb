package flow

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"retime/frame"
)

func filled(w, h int, v Vec) Field {
	f := NewField(w, h)
	for i := range f.Pix {
		f.Pix[i] = v
	}
	return f
}

func check(t *testing.T, forward, backward Field, workers int) frame.Image[uint16] {
	t.Helper()
	var got frame.Image[uint16]
	if err := Consistency(&got, forward, backward, frame.Workers{N: workers}); err != nil {
		t.Fatal(err)
	}
	return got
}

// Exact.
func TestConsistencyConstant(t *testing.T) {
	const w, h = 9, 7
	tests := []struct {
		forward, backward Vec
		want              uint16 // inside the picture
		inside            func(x, y int) bool
	}{
		{Vec{0, 0}, Vec{0, 0}, 0, func(x, y int) bool { return true }},
		{Vec{3 * One, 0}, Vec{-3 * One, 0}, 0, func(x, y int) bool { return x <= w-4 }},
		{Vec{-2 * One, One}, Vec{2 * One, -One}, 0, func(x, y int) bool { return x >= 2 && y <= h-2 }},
		{Vec{One / 2, 0}, Vec{-One / 2, 0}, 0, func(x, y int) bool { return true }},
		{Vec{One/2 + 1, 0}, Vec{-One/2 - 1, 0}, 0, func(x, y int) bool { return x < w-1 }},
		{Vec{-One / 2, -One / 2}, Vec{One / 2, One / 2}, 0, func(x, y int) bool { return true }},
		{Vec{0, -One/2 - 1}, Vec{0, One/2 + 1}, 0, func(x, y int) bool { return y > 0 }},
		{Vec{0, 0}, Vec{300, -400}, 500, func(x, y int) bool { return true }},
		{Vec{0, 0}, Vec{1, 1}, 1, func(x, y int) bool { return true }},
		{Vec{0, 0}, Vec{65534, 0}, 65534, func(x, y int) bool { return true }},
		{Vec{0, 0}, Vec{0, -65535}, Inconsistent, func(x, y int) bool { return true }},
		{Vec{0, 0}, Vec{65534, 65534}, Inconsistent, func(x, y int) bool { return true }},
		{Vec{0, 0}, Vec{math.MaxInt32, math.MinInt32}, Inconsistent, func(x, y int) bool { return true }},
		{Unknown, Vec{0, 0}, 0, func(x, y int) bool { return false }},
		{Vec{0, 0}, Unknown, 0, func(x, y int) bool { return false }},
		{Vec{math.MaxInt32, 0}, Vec{0, 0}, 0, func(x, y int) bool { return false }},
	}
	for _, tt := range tests {
		got := check(t, filled(w, h, tt.forward), filled(w, h, tt.backward), 1)
		for y := range h {
			for x := range w {
				want := uint16(Inconsistent)
				if tt.inside(x, y) {
					want = tt.want
				}
				if got.Row(y)[x] != want {
					t.Errorf("forward %v, backward %v: %d at (%d,%d), want %d", tt.forward, tt.backward, got.Row(y)[x], x, y, want)
				}
			}
		}
	}
}

// An unknown neighbour matters only if its weight is not zero.
func TestConsistencyUnknownNeighbour(t *testing.T) {
	backward := NewField(4, 1)
	backward.Pix[2] = Unknown
	forward := NewField(4, 1)
	forward.Pix[0] = Vec{One, 0}     // reads 1 alone
	forward.Pix[1] = Vec{1, 0}       // reads 1 and 2
	forward.Pix[2] = Vec{One, 0}     // reads 3 alone
	forward.Pix[3] = Vec{-One, 0}    // reads 2 alone
	backward.Pix[1] = Vec{-One, 0}   // agrees with 0
	backward.Pix[3] = Vec{-One, One} // one pixel off
	got := check(t, forward, backward, 1)
	if want := []uint16{0, Inconsistent, One, Inconsistent}; !slices.Equal(got.Pix, want) {
		t.Errorf("got %v, want %v", got.Pix, want)
	}
}

// consistencyAt computes the definition in integers of arbitrary size.
func consistencyAt(f, b Field, x, y int) uint16 {
	v := f.Row(y)[x]
	qx, qy := x*One+int(v.X), y*One+int(v.Y)
	right, bottom := (f.Width-1)*One, (f.Height-1)*One
	if v == Unknown || qx < -One/2 || qy < -One/2 || qx > right+One/2 || qy > bottom+One/2 {
		return Inconsistent
	}
	qx, qy = min(max(qx, 0), right), min(max(qy, 0), bottom)
	sum := [2]*big.Int{big.NewInt(int64(v.X) * One * One), big.NewInt(int64(v.Y) * One * One)}
	for ny := range b.Height {
		for nx := range b.Width {
			wx, wy := One-max(qx-nx*One, nx*One-qx), One-max(qy-ny*One, ny*One-qy)
			if wx <= 0 || wy <= 0 {
				continue
			}
			n := b.Row(ny)[nx]
			if n == Unknown {
				return Inconsistent
			}
			sum[0].Add(sum[0], big.NewInt(int64(wx*wy)*int64(n.X)))
			sum[1].Add(sum[1], big.NewInt(int64(wx*wy)*int64(n.Y)))
		}
	}
	square := new(big.Int)
	for _, s := range sum {
		s.Add(s, big.NewInt(One*One/2)).Rsh(s, 16)
		square.Add(square, new(big.Int).Mul(s, s))
	}
	root := square.Sqrt(square)
	if root.Cmp(big.NewInt(Inconsistent)) >= 0 {
		return Inconsistent
	}
	return uint16(root.Int64())
}

// Exact: integers against larger integers.
func TestConsistencyAgainstDefinition(t *testing.T) {
	const seed = 5
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for _, size := range [][2]int{{1, 1}, {1, 9}, {7, 1}, {13, 11}, {17, 40}} {
		for _, reach := range []int{3, 400, 3000, 1 << 26} {
			random := func() Field {
				f := Field{frame.Image[Vec]{Width: size[0], Height: size[1], Stride: size[0] + 3, Pix: make([]Vec, (size[0]+3)*size[1])}}
				for i := range f.Pix {
					f.Pix[i] = Vec{int32(rng.IntN(2*reach+1) - reach), int32(rng.IntN(2*reach+1) - reach)}
					if rng.IntN(20) == 0 {
						f.Pix[i] = Unknown
					}
				}
				return f
			}
			f, b := random(), random()
			if reach == 1<<26 { // large vectors that lead back from small ones
				for i, v := range f.Pix {
					f.Pix[i] = Vec{v.X % 300, v.Y % 300}
				}
			}
			for _, workers := range []int{1, 2, 8} {
				got := check(t, f, b, workers)
				for y := range size[1] {
					for x := range size[0] {
						if want := consistencyAt(f, b, x, y); got.Row(y)[x] != want {
							t.Fatalf("%dx%d, reach %d, %d workers: %d at (%d,%d), want %d", size[0], size[1], reach, workers, got.Row(y)[x], x, y, want)
						}
					}
				}
			}
		}
	}
}

func TestConsistencySizes(t *testing.T) {
	var got frame.Image[uint16]
	if err := Consistency(&got, NewField(3, 2), NewField(2, 3), frame.Workers{}); err == nil {
		t.Error("fields of different sizes were taken")
	}
}

func BenchmarkConsistency1080p(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 0))
	f, g := NewField(1920, 1080), NewField(1920, 1080)
	for i := range f.Pix {
		f.Pix[i] = Vec{int32(1000 + rng.IntN(300)), int32(rng.IntN(300) - 700)}
		g.Pix[i] = Vec{int32(-1000 - rng.IntN(300)), int32(700 - rng.IntN(300))}
	}
	var dst frame.Image[uint16]
	for b.Loop() {
		if err := Consistency(&dst, f, g, frame.Workers{N: 1}); err != nil {
			b.Fatal(err)
		}
	}
}
