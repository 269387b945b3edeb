package media

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// definedCombs is measureCombs as it is defined, one sample after the other.
func definedCombs(before, picture, after *thinned) (c combs) {
	for y := 2; y < picture.height-2; y++ {
		for x := range picture.width {
			at := func(t *thinned, dy int) int { return int(t.line(y + dy)[x]) }
			c.samples++
			moving := false
			for dy := -1; dy <= 1; dy++ {
				v := at(picture, dy)
				moving = moving || absolute(v-at(before, dy)) > moves || absolute(v-at(after, dy)) > moves
			}
			if !moving {
				continue
			}
			v := at(picture, 0)
			around := func(t *thinned) int { return absolute(2*v - at(t, -1) - at(t, 1)) }
			first, second := around(before), around(after)
			above, below := absolute(v-at(picture, -1)), absolute(v-at(picture, 1))
			if y%2 != 0 {
				first, second, above, below = second, first, below, above
			}
			c.moving++
			c.own += around(picture)
			c.top, c.bottom = c.top+first, c.bottom+second
			c.field += absolute(2*v - at(picture, -2) - at(picture, 2))
			c.pairs, c.between = c.pairs+below, c.between+above
		}
	}
	return c
}

func TestMeasureCombsMatchesDefinition(t *testing.T) {
	const seed = 7
	rng := rand.New(rand.NewPCG(seed, 0))
	for _, share := range []int{0, 1, 10, 100} { // per cent of samples that change
		for _, size := range [][2]int{{32, 32}, {33, 35}, {71, 34}, {320, 36}} {
			var p [3]thinned
			for i := range p {
				p[i] = thinned{size[0], size[1], make([]uint8, size[0]*size[1])}
				for k := range p[i].samples {
					switch {
					case i == 0 || rng.IntN(100) < share:
						p[i].samples[k] = uint8(rng.IntN(256))
					default: // noise next to the threshold
						p[i].samples[k] = uint8(min(max(int(p[i-1].samples[k])+(rng.IntN(3)-1)*(moves+rng.IntN(40)/39), 0), 255))
					}
				}
			}
			got, want := measureCombs(&p[0], &p[1], &p[2]), definedCombs(&p[0], &p[1], &p[2])
			if got != want {
				t.Errorf("%s, %d %% changing: %+v, want %+v", fmt.Sprint(size), share, got, want)
			}
		}
	}
}

// Every pair of samples, at each place of a word and beyond.
func TestMarkChanges(t *testing.T) {
	for a := range 256 {
		for b := range 256 {
			const n = 11
			before, line, after := bytes.Repeat([]uint8{uint8(b)}, n), bytes.Repeat([]uint8{uint8(b)}, n), bytes.Repeat([]uint8{uint8(b)}, n)
			i := (a + b) % n
			before[i], after[(i+3)%n] = uint8(a), uint8(a)
			marks := make([]uint8, n)
			markChanges(marks, before, line, after)
			for x, got := range marks {
				want := uint8(0)
				if (x == i || x == (i+3)%n) && absolute(a-b) > moves {
					want = 1
				}
				if got != want {
					t.Fatalf("samples %d and %d at %d: %d, want %d", a, b, x, got, want)
				}
			}
		}
	}
}
