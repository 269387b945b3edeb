package evaluate

import (
	"math"

	"retime/pipeline/frame"
	"retime/warp"
)

// cutDetector finds hard cuts, to group frames by shot, by how far the
// brightness histograms of a grid of blocks differ between one frame and the
// next.
type cutDetector struct {
	last     *signature
	distance float64 // between the last two frames
}

const (
	blocksX, blocksY = 4, 3
	levels           = 16
	// cutDistance is the least distance of a cut, and cutRatio how many times the
	// distance before it that must be: fast motion differs much all along.
	cutDistance, cutRatio = 0.3, 2
)

// signature is the brightness histogram of each block, in shares of the picture.
type signature [blocksY][blocksX][levels]float64

// before says whether a cut lies between the last frame and f.
func (d *cutDetector) before(f *frame.Frame) bool {
	s := sign(warp.Luma(f))
	previous := d.last
	d.last = &s
	if previous == nil {
		return false
	}
	before := d.distance
	d.distance = previous.distance(&s)
	return d.distance >= cutDistance && d.distance >= cutRatio*before
}

// sign reads about one pixel in 16.
func sign(m frame.Image[uint8]) (s signature) {
	const step = 4
	total := float64(((m.Width + step - 1) / step) * ((m.Height + step - 1) / step))
	var counts [blocksY][blocksX][256 / levels]int
	for y := 0; y < m.Height; y += step {
		row := m.Row(y)
		blocks := &counts[y*blocksY/m.Height]
		for x := 0; x < len(row); x += step {
			blocks[x*blocksX/len(row)][row[x]/(256/levels)]++
		}
	}
	for y := range s {
		for x := range s[y] {
			c := &counts[y][x]
			for i := range s[y][x] {
				// Neighbouring levels share, so that a small change of light is one.
				sum := c[max(i-1, 0)] + 2*c[i] + c[min(i+1, levels-1)]
				s[y][x][i] = float64(sum) / (4 * total)
			}
		}
	}
	return s
}

// distance is the share of the picture whose brightness has changed, 0 to 1.
func (s *signature) distance(o *signature) float64 {
	var d float64
	for y := range s {
		for x := range s[y] {
			for i, v := range s[y][x] {
				d += math.Abs(v - o[y][x][i])
			}
		}
	}
	return d / 2
}
