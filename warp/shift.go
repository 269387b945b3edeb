package warp

import "retime/flow"

// shiftRadius is the distance over which guesses attract each other, in 1/256 pixel of the
// picture.
const shiftRadius = 12 * positionOne

// shift moves each of a pixel's guesses to where guesses are dense around it, by a step of the mean
// shift (Y. Cheng, "Mean shift, mode seeking, and clustering", 1995), and takes up to half of its
// share where they are sparse. It returns the guesses that differ then.
//
// Guesses a few pixels apart that fit nearly alike are rivals: one of them is right, or all are
// nearly. The mean of their readings would be a smear; a reading along the mean of their motions
// is sharp.
//
// At distances d, below the radius r, from a guess i, and with the shares w,
//
//	density(i) = Σ (r² - d²)² w
//	motion(i) += Σ (r² - d²)² w² (motion - motion(i)) / Σ (r² - d²)² w²
//	share(i) *= (1 + density(i) / the largest density) / 2
//
// Only guesses that the same neighbours show attract each other, but all of them are dense together.
// Sums are in the list's order.
func shift(list []guess, level int) []guess {
	if len(list) < 2 {
		return list
	}
	radius := float32(int32(shiftRadius) >> level)
	var moved [maxHypotheses]flow.Vec
	var densities [maxHypotheses]float32
	var most float32
	for i := range list {
		moved[i], densities[i] = list[i].attracted(list, radius*radius)
		most = max(most, densities[i])
	}
	scale := 0.5 / most
	n := 0
next:
	for i, g := range list {
		g.x, g.y = moved[i].X, moved[i].Y
		g.share = uint32(float32(float32(g.share)*float32((densities[i]+most)*scale)) + 0.5)
		for k := range n {
			if list[k].joins(&g) {
				list[k].share += g.share
				continue next
			}
		}
		list[n] = g
		n++
	}
	return list[:n]
}

// attracted returns where g moves among the guesses of a list, and how dense they are around it.
// square is the radius, squared.
func (g *guess) attracted(list []guess, square float32) (to flow.Vec, density float32) {
	var x, y, sum float32
	for i := range list {
		o := &list[i]
		dx, dy := float32(o.x-g.x), float32(o.y-g.y)
		near := square - float32(float32(dx*dx)+float32(dy*dy))
		if near <= 0 {
			continue
		}
		share := float32(o.share)
		attraction := float32(float32(near*near) * share)
		density += attraction
		if o.seen != g.seen {
			continue
		}
		attraction = float32(attraction * share)
		sum += attraction
		x += float32(attraction * dx)
		y += float32(attraction * dy)
	}
	inverse := 1 / sum
	return flow.Vec{X: g.x + nearest(float32(x*inverse)), Y: g.y + nearest(float32(y*inverse))}, density
}

// nearest rounds a part of a motion, which is shorter than shiftRadius.
func nearest(v float32) int32 {
	const above = 1 << 12
	return int32(v+(above+0.5)) - above
}
