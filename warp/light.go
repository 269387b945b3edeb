package warp

import (
	"math"
	"sync"

	"retime/frame"
)

// lightShift is how many of a float32's lower bits do not count in the index of LightTable.Below.
const lightShift = 12

// lights returns the table, which it computes once.
var lights = sync.OnceValue(func() *LightTable {
	t := &LightTable{Of: make([]float32, 1<<16)}
	for i := range t.Of {
		// float32 drops the digits in which machines may differ.
		t.Of[i] = float32(frame.PQLuminance(float64(i) / float64(len(t.Of)-1)))
	}
	at := 0
	first := math.Float32bits(t.Of[1]) >> lightShift
	t.First = int(first)
	for b := first; b <= math.Float32bits(t.Of[len(t.Of)-1])>>lightShift; b++ {
		for at+1 < len(t.Of) && t.Of[at+1] <= math.Float32frombits(b<<lightShift) {
			at++
		}
		t.Below = append(t.Below, uint16(at))
	}
	return t
})

// lightOf returns the table for f's samples, or nil if they are taken as they are.
func lightOf(f *frame.Frame) *LightTable {
	if !f.Floats {
		return nil
	}
	return lights()
}

// sample returns the signal from least to most whose light is nearest to v; on a tie the lower one. least is below most.
func (t *LightTable) sample(v float32, least, most uint16) uint16 {
	switch {
	case !(v > t.Of[least]):
		return least
	case v >= t.Of[most]:
		return most
	}
	// v has more light than signal 0, and less than the last.
	low := least
	if b := int(math.Float32bits(v)>>lightShift) - t.First; b >= 0 {
		low = max(low, t.Below[b])
	}
	for t.Of[low+1] <= v {
		low++
	}
	if t.Of[low+1]-v < v-t.Of[low] {
		low++
	}
	return low
}

// limits returns the least and the most of the samples next to a position in m: one, two or four, as its fractions fx
// and fy are 0 or not. (x, y) is its integer part. m continues whole-symmetrically.
func limits[T frame.Sample](m frame.Image[T], x, y int, fx, fy uint8) (least, most T) {
	right, below := x, y
	if fx > 0 {
		right++
	}
	if fy > 0 {
		below++
	}
	if x < 0 || y < 0 || right >= m.Width || below >= m.Height {
		x, y, right, below = mirror(x, m.Width), mirror(y, m.Height), mirror(right, m.Width), mirror(below, m.Height)
	}
	upper, lower := m.Pix[y*m.Stride:], m.Pix[below*m.Stride:]
	a, b, c, d := upper[x], upper[right], lower[x], lower[right]
	return min(a, b, c, d), max(a, b, c, d)
}

// addLight adds w times the block at (x, y) to sums. The sum is of samples, as others are.
func addLight[T frame.Sample](sums *[maxBlock]float32, from frame.Image[T], c *coefficients, t *taps, x, y int32, w float32, g geometry) {
	ix, iy, fx, fy := c.locate(x, y, max(g.width, g.height)-1)
	for j := range g.height {
		for i := range g.width {
			sums[j*g.width+i] += float32(float32(readLight(from, c, t, ix+i, iy+j, fx, fy)) * w)
		}
	}
}

// readLight returns the sample at the fractions fx and fy after (x, y). It is as bright as the spline through the light, within the
// limits of the samples next to it, because that spline overshoots far at a hard edge.
func readLight[T frame.Sample](from frame.Image[T], c *coefficients, t *taps, x, y int, fx, fy uint8) T {
	least, most := limits(from, x, y, fx, fy)
	if least == most {
		return least
	}
	var v float32
	c.one(c.index(x, y), &t[fx], &t[fy], 1, &v)
	return T(c.light.sample(v, uint16(least), uint16(most)))
}
