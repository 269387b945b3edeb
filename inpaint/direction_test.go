package inpaint

import (
	"math"
	"testing"
)

func TestDirections(t *testing.T) {
	for n := -4; n <= 70; n++ {
		directions, err := Directions(n)
		if valid := n >= 4 && n <= 64 && n%4 == 0; valid != (err == nil) {
			t.Errorf("%d directions: error %v", n, err)
		}
		if err != nil {
			continue
		}
		if len(directions) != n {
			t.Fatalf("%d directions, want %d", len(directions), n)
		}
		for k, d := range directions {
			dx, dy := float64(d.Sign)*slopeOne, float64(d.Sign*d.Slope)
			if d.Vertical {
				dx, dy = dy, dx
			}
			want := 2 * math.Pi * float64(k) / float64(n)
			off := math.Remainder(math.Atan2(dy, dx)-want, 2*math.Pi)
			// The bound is half a unit of the slope.
			if math.Abs(off) > 0.5/slopeOne {
				t.Errorf("direction %d of %d is off by %g rad", k, n, off)
			}
			if length := 256 * math.Hypot(dx, dy) / slopeOne; math.Abs(float64(d.Step)-length) > 0.51 {
				t.Errorf("direction %d of %d has a step of %d, want %g", k, n, d.Step, length)
			}
		}
	}
}

// Lines of one direction must partition the plane; otherwise workers that trace them in
// parallel would race.
func TestLinesOfADirectionNeverMeet(t *testing.T) {
	const size = 40
	directions, err := Directions(maxDirections)
	if err != nil {
		t.Fatal(err)
	}
	for k, d := range directions {
		before := make(map[[2]int][2]int)
		for y := range size {
			for x := range size {
				at := [2]int{x, y}
				to := next(d, at)
				if p, ok := before[to]; ok {
					t.Fatalf("direction %d: %v follows %v and %v", k, to, p, at)
				}
				before[to] = at
				if max(abs(to[0]-x), abs(to[1]-y)) != 1 {
					t.Fatalf("direction %d: a step from %v to %v", k, at, to)
				}
			}
		}
	}
}

// next returns the pixel after at on its line, by the formula of Direction.
func next(d Direction, at [2]int) [2]int {
	major, minor := 0, 1
	if d.Vertical {
		major, minor = 1, 0
	}
	line := func(v int) int { return int(math.Floor((float64(v*d.Slope) + 0.5*65536) / 65536)) }
	to := at
	to[major] += d.Sign
	to[minor] += line(to[major]) - line(at[major])
	return to
}

func abs(v int) int { return max(v, -v) }

func TestWeight(t *testing.T) {
	directions, err := Directions(maxDirections)
	if err != nil {
		t.Fatal(err)
	}
	var sum uint64
	for _, d := range directions {
		for _, steps := range []int{1, 2, 3, 100, 8192} {
			exact := (1 << 32) / (float64(steps) * float64(d.Step))
			if got := d.Weight(steps); math.Abs(float64(got)-exact) > 0.5 || got == 0 {
				t.Errorf("%+v: weight %d after %d steps, want %g", d, got, steps, exact)
			}
		}
		sum += uint64(d.Weight(1))
	}
	// These are the bounds that the comment on accumulator states.
	if sum > 64<<24 || sum*65535 >= 1<<46 {
		t.Errorf("weights add up to %d", sum)
	}
}
