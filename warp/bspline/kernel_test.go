package bspline

import (
	"math"
	"math/big"
	"testing"
)

// The test evaluates the polynomial of the B-spline's samples at each pole's neighbours among the
// float64 numbers, in exact rational arithmetic: its sign must change between them. The samples
// come from the recurrence in the order, not from the closed sum.
func TestPolesAreRootsToTheLastBit(t *testing.T) {
	value := func(p []*big.Rat, z float64) int {
		x := new(big.Rat).SetFloat64(z)
		v := new(big.Rat)
		for i := len(p) - 1; i >= 0; i-- {
			v.Add(v.Mul(v, x), p[i])
		}
		return v.Sign()
	}
	for n := Order(2); n <= MaxOrder; n++ {
		p := sampledBSpline(int(n))
		poles := Poles(n)
		if len(poles) != int(n)/2 {
			t.Fatalf("order %v: %d poles, want %d", n, len(poles), int(n)/2)
		}
		last := -1.0
		for i, z := range poles {
			if z <= last || z >= 0 {
				t.Errorf("order %v: pole %d is %v after %v", n, i, z, last)
			}
			last = z
			below, above := math.Nextafter(z, -1), math.Nextafter(z, 0)
			if value(p, below)*value(p, above) >= 0 {
				t.Errorf("order %v: no sign change around pole %d, %v", n, i, z)
			}
		}
	}
}

// sampledBSpline returns β(k) at the integers of the support of order n.
func sampledBSpline(n int) []*big.Rat {
	// half[m][i] is the B-spline of order m at (i - m - 1)/2, from
	// m β_m(x) = ((m+1)/2 + x) β_(m-1)(x + 1/2) + ((m+1)/2 - x) β_(m-1)(x - 1/2).
	at := func(v []*big.Rat, i int) *big.Rat {
		if i < 0 || i >= len(v) {
			return new(big.Rat)
		}
		return v[i]
	}
	// Order 1 has these values at -1, -1/2, 0, 1/2 and 1.
	v := []*big.Rat{new(big.Rat), big.NewRat(1, 2), big.NewRat(1, 1), big.NewRat(1, 2), new(big.Rat)}
	for m := 2; m <= n; m++ {
		next := make([]*big.Rat, 2*m+3)
		for i := range next {
			// x + (m+1)/2 is i/2.
			a := new(big.Rat).Mul(big.NewRat(int64(i), 2), at(v, i))
			b := new(big.Rat).Mul(big.NewRat(int64(2*m+2-i), 2), at(v, i-2))
			next[i] = a.Mul(a.Add(a, b), big.NewRat(1, int64(m)))
		}
		v = next
	}
	var samples []*big.Rat
	for i := range v {
		if (i-n-1)%2 == 0 && v[i].Sign() != 0 {
			samples = append(samples, v[i])
		}
	}
	return samples
}

// The product of -z/(1-z)² over the poles is 1/γ, so a constant stays constant.
func TestNormalizationUndoesThePoles(t *testing.T) {
	for n := Order(2); n <= MaxOrder; n++ {
		g := Normalization(n)
		for _, z := range Poles(n) {
			g *= -z / ((1 - z) * (1 - z))
		}
		if math.Abs(g-1) > 1e-14 {
			t.Errorf("order %v: gain %v", n, g)
		}
	}
}

func TestTruncationIndicesFollowThePrecision(t *testing.T) {
	for n := Order(2); n <= MaxOrder; n++ {
		poles := Poles(n)
		last := truncation(poles, 1)
		for _, eps := range []float64{1e-3, 1e-6, 1e-12, 1e-300, 5e-324} {
			now := truncation(poles, eps)
			for i, z := range poles {
				if now[i] < last[i] {
					t.Errorf("order %v, pole %v: %d terms at %g after %d", n, z, now[i], eps, last[i])
				}
				// The omitted terms alone must be below the precision.
				if got := math.Pow(-z, float64(now[i])) / (1 + z); eps > 1e-100 && got > eps {
					t.Errorf("order %v, pole %v: omitted terms %g at precision %g", n, z, got, eps)
				}
			}
			last = now
		}
	}
}

func TestWeightsAreTheKernel(t *testing.T) {
	for n := Order(0); n <= MaxOrder; n++ {
		for _, x := range []float64{0, 0.125, 0.25, 0.499, 0.5, 0.75, 0.999, -0.3, 7.6} {
			first, frac := n.Locate(x)
			if frac < 0 || frac >= 1 {
				t.Fatalf("order %v: fraction %v at %v", n, frac, x)
			}
			w := make([]float64, n.Support())
			Weights(n, frac, w)
			for k, v := range w {
				want := factorial(n) * referenceKernel(n, x-float64(first+k))
				if n == 0 {
					want = 1
				}
				if math.Abs(v-want) > 1e-12*factorial(n) {
					t.Errorf("order %v at %v: weight %d is %v, want %v", n, x, k, v, want)
				}
			}
		}
	}
}

// Exact: quinticWeights is climb, written out.
func TestQuinticWeightsAreTheRecurrence(t *testing.T) {
	for i := range 1000 {
		x := float32(i) / 1000
		var got [6]float32
		Weights(5, x, got[:])
		var want [6]float32
		want[0], want[1], want[2], want[3] = cubicWeights(x)
		climb(x, want[:])
		if got != want {
			t.Fatalf("at %v: %v, want %v", x, got, want)
		}
	}
}

func TestWeightsSum(t *testing.T) {
	for n := CatmullRom; n <= MaxOrder; n++ {
		want := 2.0
		if n >= 0 {
			want = factorial(n)
		}
		for i := range 64 {
			var w32 [maxSupport]float32
			var w64 [maxSupport]float64
			Weights(n, float32(i)/64, w32[:])
			Weights(n, float64(i)/64, w64[:])
			var s32, s64 float64
			for k := range n.Support() {
				s32 += float64(w32[k])
				s64 += w64[k]
			}
			if math.Abs(s64-want) > 1e-14*want || math.Abs(s32-want) > 1e-6*want {
				t.Errorf("order %v at %d/64: sums %v and %v, want %v", n, i, s32, s64, want)
			}
		}
	}
}

func TestBoundaryIndex(t *testing.T) {
	tests := []struct {
		b    Boundary
		n    int
		want string // from -7 on
	}{
		{HalfSymmetric, 3, "aabccbaabccbaa"},
		{WholeSymmetric, 3, "bcbabcbabcba"},
		{Periodic, 3, "cabcabcabcabc"},
		{Constant, 3, "aaaaaaaabccccc"},
		{HalfSymmetric, 1, "aaaaaaaaaaa"},
		{WholeSymmetric, 1, "aaaaaaaaaaa"},
		{WholeSymmetric, 2, "babababababab"},
		{Periodic, 1, "aaaaaaaaaaa"},
		{Constant, 1, "aaaaaaaaaaa"},
	}
	for _, test := range tests {
		for i, want := range test.want {
			if got := 'a' + rune(test.b.Index(i-7, test.n)); got != want {
				t.Errorf("%v boundary of %d samples: %c at %d, want %c", test.b, test.n, got, i-7, want)
			}
		}
	}
}

func TestFourIndicesAtOnce(t *testing.T) {
	for _, b := range boundaries {
		for n := 1; n < 12; n++ {
			for i := -30; i < 30; i++ {
				i0, i1, i2, i3 := b.index4(i, n)
				got := [4]int{i0, i1, i2, i3}
				want := [4]int{b.Index(i, n), b.Index(i+1, n), b.Index(i+2, n), b.Index(i+3, n)}
				if got != want {
					t.Errorf("%v boundary of %d samples: %v from %d on, want %v", b, n, got, i, want)
				}
			}
		}
	}
}

func TestNamesOfOrdersAndBoundaries(t *testing.T) {
	for o := CatmullRom; o <= MaxOrder; o++ {
		if got, err := ParseOrder(o.String()); got != o || err != nil {
			t.Errorf("%q: %v, %v", o.String(), got, err)
		}
	}
	for _, b := range boundaries {
		if got, err := ParseBoundary(b.String()); got != b || err != nil {
			t.Errorf("%q: %v, %v", b.String(), got, err)
		}
	}
	for _, s := range []string{"", "-1", "17", "3.0", "cubic", "Catmull-Rom"} {
		if o, err := ParseOrder(s); err == nil {
			t.Errorf("order %q: %v", s, o)
		}
	}
	for _, s := range []string{"", "Half", "mirror", "0"} {
		if b, err := ParseBoundary(s); err == nil {
			t.Errorf("boundary %q: %v", s, b)
		}
	}
	if got := Boundary(7).String(); got != "Boundary(7)" {
		t.Error(got)
	}
}
