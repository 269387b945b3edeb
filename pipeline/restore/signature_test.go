package restore

import (
	"math/rand/v2"
	"testing"

	"retime/frame"
)

// Exact: rows are summed eight samples at a time.
func TestRowSums(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for length := range 41 {
		for _, span := range []int{256, 2} { // 2: none but the least and the greatest
			a, b := make([]uint8, length), make([]uint8, length+length%3)
			sum, difference := 0, 0
			for i := range a {
				a[i], b[i] = uint8(random.IntN(span)*255/(span-1)), uint8(random.IntN(span)*255/(span-1))
				sum, difference = sum+int(a[i]), difference+abs(int(a[i])-int(b[i]))
			}
			if got := rowSum(a); got != sum {
				t.Fatalf("%d samples: sum %d, want %d", length, got, sum)
			}
			if got := rowDifference(a, b); got != difference {
				t.Fatalf("%d samples: difference %d, want %d", length, got, difference)
			}
		}
	}
}

// Exact: of a cell that fits the picture before, the one after is not asked.
func TestStrays(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	some := 0
	for range 40 {
		var s [4]*signature
		for i := range s {
			m := frame.NewImage[uint8](67, 41)
			for k := range m.Pix {
				m.Pix[k] = uint8(100 + random.IntN(1+12*i*i))
			}
			s[i] = &signature{small: m}
		}
		random.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
		a, f, b := s[0], s[1], s[2]
		fa, fb, ab, moved := distances(f.small, a.small), distances(f.small, b.small), distances(a.small, b.small), distances(s[3].small, a.small)
		want := 0
		for y := range cellsY {
			for x := range cellsX {
				if off := min(fa[y][x], fb[y][x]); off > odd && off > timesApart*max(ab[y][x], moved[y][x]) {
					want++
				}
			}
		}
		some += want
		if got := strays(a, f, b, fa, moved, cellsY); got != float64(want)/(cellsX*cellsY) {
			t.Fatalf("%v of the cells stray, want %d of %d", got, want, cellsX*cellsY)
		}
	}
	if some == 0 {
		t.Error("no cell strays")
	}
}
