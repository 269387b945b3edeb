package restore

import (
	"math/rand/v2"
	"testing"

	"retime/frame"
)

// Exact: rows are summed eight samples at a time, and in words of 16 bits.
func TestRowSums(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for length := range 41 {
		for _, span := range []int{256, 2} { // 2: none but the least and the greatest
			a := make([]uint8, length)
			for i := range a {
				a[i] = uint8(random.IntN(span) * 255 / (span - 1))
			}
			samples, steps := columns{sums: make([]int, length)}, columns{sums: make([]int, length)}
			const rows = 600
			for range rows {
				addRow(&samples, a)
				steps.addSteps(a)
			}
			samples.finish()
			steps.finish()
			for i, v := range a {
				if got, want := samples.sums[i], rows*int(v); got != want {
					t.Fatalf("%d columns: sum %d of column %d, want %d", length, got, i, want)
				}
				step := 0
				if i+1 < length {
					step = rows * abs(int(a[i+1])-int(v))
				}
				if got := steps.sums[i]; got != step {
					t.Fatalf("%d columns: %d after column %d, want %d", length, got, i, step)
				}
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
