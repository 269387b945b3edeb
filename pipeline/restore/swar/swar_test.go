package swar

import (
	"math/rand/v2"
	"testing"
)

func plain(a, b []uint8, step int) (sum int) {
	for i := 0; i < min(len(a), len(b)); i += step {
		sum += max(int(a[i])-int(b[i]), int(b[i])-int(a[i]))
	}
	return sum
}

// Exact: words give what bytes do.
func TestRows(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for length := range 41 {
		for _, span := range []int{256, 2} { // 2: none but the least and the greatest
			for longer := range 3 {
				a, b := make([]uint8, length), make([]uint8, length+longer)
				for i := range a {
					a[i] = uint8(random.IntN(span) * 255 / (span - 1))
				}
				for i := range b {
					b[i] = uint8(random.IntN(span) * 255 / (span - 1))
				}
				if got, want := SumDifferences(a, b), plain(a, b, 1); got != want || SumDifferences(b, a) != want {
					t.Fatalf("%d and %d bytes: %d, %d, want %d", len(a), len(b), got, SumDifferences(b, a), want)
				}
				if got, want := SumEverySecond(a, b), plain(a, b, 2); got != want || SumEverySecond(b, a) != want {
					t.Fatalf("every second of %d and %d bytes: %d, %d, want %d", len(a), len(b), got, SumEverySecond(b, a), want)
				}
			}
		}
	}
}

// Exact: words give what bytes do.
func TestOutside(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for length := range 41 {
		for _, span := range []int{256, 40, 2} { // 2: none but the least and the greatest
			for _, step := range []int{0, 16, 254, 255} {
				var rows [3][]uint8
				for k := range rows {
					rows[k] = make([]uint8, length)
					for i := range rows[k] {
						rows[k][i] = uint8(random.IntN(span) * (255 / (span - 1)))
					}
				}
				want := 0
				for i, v := range rows[0] {
					p, q := int(rows[1][i]), int(rows[2][i])
					if int(v)-max(p, q) > step || min(p, q)-int(v) > step {
						want++
					}
				}
				if got := Outside(rows[0], rows[1], rows[2], step); got != want {
					t.Fatalf("%d of %d bytes lie outside by more than %d, want %d", got, length, step, want)
				}
			}
		}
	}
}

func BenchmarkRows(b *testing.B) {
	for _, length := range []int{11, 15, 24, 720} {
		p, q := make([]uint8, length), make([]uint8, length)
		for i := range p {
			p[i], q[i] = uint8(i*37), uint8(i*91)
		}
		for name, f := range map[string]func(a, b []uint8) int{
			"row": SumDifferences, "row plain": func(a, b []uint8) int { return plain(a, b, 1) },
			"second": SumEverySecond, "second plain": func(a, b []uint8) int { return plain(a, b, 2) },
		} {
			b.Run(name, func(b *testing.B) {
				for b.Loop() {
					f(p, q)
				}
			})
		}
	}
}
