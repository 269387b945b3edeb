package inpaint

import (
	"fmt"
	"math"
)

// DefaultDirections is the number of directions that Rosner et al. recommend as a
// compromise between quality and time.
const DefaultDirections = 16

const (
	minDirections = 4
	maxDirections = 64

	slopeBits = 16 // fraction bits of Direction.Slope
	slopeOne  = 1 << slopeBits
	stepOne   = 256 // length of one pixel in the units of Direction.Step
)

// Direction is a direction of propagation. A step moves one pixel along the major axis
// and, by Bresenham's rule, none or one along the minor axis. The error term depends on
// the position in the plane: the lines are
//
//	minor = c + floor((major*Slope + 1/2*65536) / 65536)
//
// for every integer c. So each pixel is on exactly one line, and lines of one direction
// never meet: several workers may trace them without atomics.
type Direction struct {
	// Vertical makes y the major axis; otherwise x is.
	Vertical bool
	// Sign is the change of the major coordinate in a step, +1 or -1.
	Sign int
	// Slope is the change of the minor coordinate for each +1 of the major one, in
	// 1/65536, from -65536 to 65536.
	Slope int
	// Step is the length of a step in 1/256 pixel.
	Step int
}

// Directions returns n directions, equally spaced over 360 degrees, starting with growing x. n must
// be a multiple of four, so that the axes are among them, from 4 to 64; otherwise Directions
// returns an error.
func Directions(n int) ([]Direction, error) {
	if n < minDirections || n > maxDirections || n%4 != 0 {
		return nil, fmt.Errorf("inpaint: %d directions, want a multiple of 4 from %d to %d",
			n, minDirections, maxDirections)
	}
	quarter := n / 4
	d := make([]Direction, n)
	for k := range quarter {
		// The angle to the nearer axis makes the set exactly symmetric.
		vertical := 2*k > quarter
		tan := math.Tan(2 * math.Pi * float64(min(k, quarter-k)) / float64(n))
		first := Direction{
			Vertical: vertical,
			Sign:     1,
			Slope:    int(math.Round(slopeOne * tan)),
			Step:     int(math.Round(stepOne * math.Hypot(1, tan))),
		}
		for quadrant := range 4 {
			d[quadrant*quarter+k] = first
			first = first.turn()
		}
	}
	return d, nil
}

// turn returns d rotated by 90 degrees, from growing x towards growing y.
func (d Direction) turn() Direction {
	// Rotation turns (dx, dy) into (-dy, dx).
	if d.Vertical {
		d.Sign = -d.Sign
	}
	d.Vertical = !d.Vertical
	d.Slope = -d.Slope
	return d
}

// Weight returns the weight of a sample after the given number of steps, at least 1:
// the inverse of the distance, 2^24 at one pixel, rounded half up.
func (d Direction) Weight(steps int) uint32 {
	distance := uint64(steps) * uint64(d.Step)
	return uint32((1<<32 + distance/2) / distance)
}

// extendWeights extends the tables of weights of the directions beyond the given number
// of steps. Directions of equal step length share a table.
func extendWeights(tables [][]uint32, directions []Direction, steps int) [][]uint32 {
	if len(tables) > 0 && len(tables[0]) > steps {
		return tables
	}
	tables = make([][]uint32, len(directions))
	byStep := make(map[int][]uint32)
	for i, d := range directions {
		t := byStep[d.Step]
		if t == nil {
			t = make([]uint32, steps+1)
			for n := 1; n <= steps; n++ {
				t[n] = d.Weight(n)
			}
			byStep[d.Step] = t
		}
		tables[i] = t
	}
	return tables
}
