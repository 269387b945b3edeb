package warp

import (
	"math"

	"retime/flow"
	"retime/frame"
)

// chooser divides each pixel among the hypotheses so that the choices of neighbouring
// pixels go together. It adds to the hypotheses' energies what semi-global aggregation
// says of the surroundings (H. Hirschmüller, "Stereo processing by semiglobal matching
// and mutual information", 2008) along four paths, on cells of choiceSize by
// choiceSize pixels of the guides.
//
// On the path from cell q to its successor p, with energies u and path costs L,
//
//	message(p, l) = min(P, min over k of L(q, k) - least L(q) + P min(|v(p, l) - v(q, k)|, jump)/jump)
//	L(p, l) = u(p, l) + message(p, l)
//
// where v are the motions, |v| is the sum of the components' magnitudes, and P falls
// with the difference between the made frame's brightness at p and at q. So motions
// that continue cost nothing, whichever hypothesis they come from. The sum of the four
// messages, interpolated between the cells, adds to the energies of the pixels.
type chooser struct {
	workers  frame.Workers
	labels   int
	energies []int16    // of the cells, by cell, then label
	motions  []flow.Vec // the same
	sums     []int16    // of the messages, the same
	guide    frame.Image[uint8]
}

// The parameters of the choice.
const (
	// mostPenalty is the largest penalty P for a change of motion, and edgeKnee the
	// difference in grey levels that halves the penalty.
	mostPenalty = 320
	edgeKnee    = 16
	// jumpBits is log2 of the change of motion, in 1/256 pixel of the guides, from which
	// on the whole penalty applies.
	jumpBits = 9
	// softness is the energy over which a share falls by e.
	softness = 30 * differenceOne
)

// penalties is the penalty for a change of motion, indexed by the difference in
// brightness in grey levels.
var penalties = func() (t [256]uint16) {
	for d := range t {
		t[d] = uint16(mostPenalty * edgeKnee / (edgeKnee + d))
	}
	return t
}()

// Weights are integers; weightOne is the largest.
const weightOne = 4096

// likelihood is weightOne * exp(-energy/softness), indexed by the energy. The table ends
// where the value reaches 0.
var likelihood = func() []uint16 {
	var t []uint16
	for d := 0; ; d++ {
		w := weightOne * math.Exp(-float64(d)/softness)
		t = append(t, uint16(w+0.5))
		if w < 0.5 {
			return t
		}
	}
}()

// choose sets the hypotheses' weights from their energies.
func (c *chooser) choose(hypotheses []*hypothesis, in *Interval, phase Phase) {
	c.gather(hypotheses, in, phase)
	c.aggregate()
	c.share(hypotheses)
}

// choiceBits is log2 of the side of a cell of the choice's grid, in pixels of the guides.
const (
	choiceBits = 2
	choiceSize = 1 << choiceBits
)

// gather sets the energies and motions of the cells to means over their pixels, and guide to the made frame's brightness along the best motion that both neighbours
// show.
func (c *chooser) gather(hypotheses []*hypothesis, in *Interval, phase Phase) {
	full := hypotheses[0].energy
	n := len(hypotheses)
	width, height := (full.Width+choiceSize-1)/choiceSize, (full.Height+choiceSize-1)/choiceSize
	c.labels = n
	c.energies = frame.Resize(c.energies, width*height*n)
	c.motions = frame.Resize(c.motions, width*height*n)
	c.sums = frame.Resize(c.sums, width*height*n)
	c.guide.Resize(width, height)
	c.workers.Rows(height, func(y0, y1 int) {
		loops.cellMeans(hypotheses, c.energies, c.motions, y0, y1)
		for y := y0; y < y1; y++ {
			row, moves := c.energies[y*width*n:][:width*n], c.motions[y*width*n:][:width*n]
			out := c.guide.Row(y)
			for x := range out {
				best := -1
				for l, h := range hypotheses {
					if h.kind.seen() == SeenInBoth && (best < 0 || row[x*n+l] < row[x*n+best]) {
						best = l
					}
				}
				v := moves[x*n+best]
				// The pixel's middle, in 1/256 pixel of the guides.
				ax := int32(choiceSize*x)<<positionBits + (choiceSize-1)*positionOne/2 - toward(v.X, phase)
				ay := int32(choiceSize*y)<<positionBits + (choiceSize-1)*positionOne/2 - toward(v.Y, phase)
				out[x] = uint8((lookup(in.GuideA, ax, ay) + lookup(in.GuideB, ax+v.X, ay+v.Y)) >> 17)
			}
		}
	})
}

// cellMeanRows sets the energies and motions of rows [y0, y1) of cells to means over the
// cells' pixels.
func cellMeanRows(hypotheses []*hypothesis, energies []int16, motions []flow.Vec, y0, y1 int) {
	full, n := hypotheses[0].energy, len(hypotheses)
	width := (full.Width + choiceSize - 1) / choiceSize
	for y := y0; y < y1; y++ {
		row, moves := energies[y*width*n:][:width*n], motions[y*width*n:][:width*n]
		for l, h := range hypotheses {
			for x, at := 0, l; x < width; x, at = x+1, at+n {
				e, vx, vy := int32(1<<(2*choiceBits-1)), int32(1<<(2*choiceBits-1)), int32(1<<(2*choiceBits-1))
				for j := range choiceSize {
					py := min(y*choiceSize+j, full.Height-1)
					for i := range choiceSize {
						px := min(x*choiceSize+i, full.Width-1)
						v := &h.motion.Pix[py*h.motion.Stride+px]
						e += int32(h.energy.Pix[py*full.Width+px])
						vx += v.X
						vy += v.Y
					}
				}
				row[at] = int16(e >> (2 * choiceBits))
				moves[at] = flow.Vec{X: vx >> (2 * choiceBits), Y: vy >> (2 * choiceBits)}
			}
		}
	}
}

// aggregate sets sums to the sums of the messages from the left, the right, above and
// below.
func (c *chooser) aggregate() {
	width, height := c.guide.Width, c.guide.Height
	c.workers.Rows(height, func(y0, y1 int) {
		clear(c.sums[y0*width*c.labels : y1*width*c.labels])
		loops.follow(c, y0*width, width, y1-y0, 1, width)
		loops.follow(c, (y0+1)*width-1, width, y1-y0, -1, width)
	})
	c.workers.Rows(width, func(x0, x1 int) {
		loops.follow(c, x0, 1, x1-x0, width, height)
		loops.follow(c, (height-1)*width+x0, 1, x1-x0, -width, height)
	})
}

// followAll adds the messages along paths of n cells that go on by step. The first path
// begins at cell i, and each of the others lies apart from the one before.
func (c *chooser) followAll(i, apart, paths, step, n int) {
	for range paths {
		c.follow(i, step, n)
		i += apart
	}
}

// follow adds the messages along a path of n cells that begins at cell i and goes on
// by step.
func (c *chooser) follow(i, step, n int) {
	var storage [2][maxHypotheses]int32
	cost, next := storage[0][:c.labels], storage[1][:c.labels]
	for l, u := range c.energies[i*c.labels:][:c.labels] {
		cost[l] = int32(u)
	}
	for range n - 1 {
		from := i
		i += step
		c.message(next, cost, from, i)
		sums := c.sums[i*c.labels:][:c.labels]
		for l, u := range c.energies[i*c.labels:][:c.labels] {
			sums[l] += int16(next[l])
			next[l] += int32(u)
		}
		cost, next = next, cost
	}
}

// message sets dst to the messages from cell q, with the given path costs, to p.
func (c *chooser) message(dst, cost []int32, q, p int) {
	from, to := c.motions[q*c.labels:][:len(cost)], c.motions[p*c.labels:][:len(cost)]
	d := int(c.guide.Pix[q]) - int(c.guide.Pix[p])
	penalty := int32(penalties[max(d, -d)])
	least := cost[0]
	for _, v := range cost {
		least = min(least, v)
	}
	for l := range dst {
		dst[l] = penalty
	}
	for k, v := range cost {
		lead := v - least
		if lead >= penalty {
			continue
		}
		for l, w := range to {
			dx, dy := w.X-from[k].X, w.Y-from[k].Y
			jump := min(max(dx, -dx)+max(dy, -dy), 1<<jumpBits)
			dst[l] = min(dst[l], lead+penalty*jump>>jumpBits)
		}
	}
}

// share sets the hypotheses' weights from their energies and the sums of the messages,
// interpolated bilinearly.
func (c *chooser) share(hypotheses []*hypothesis) {
	full := hypotheses[0].energy
	for _, h := range hypotheses {
		h.weight.Resize(full.Width, full.Height)
	}
	c.workers.Rows(full.Height, func(y0, y1 int) {
		loops.share(hypotheses, c.sums, c.guide.Width, c.guide.Height, y0, y1)
	})
}

// shareRows does the work of share for rows [y0, y1). sums are those of width by height
// cells.
func shareRows(hypotheses []*hypothesis, sums []int16, width, height, y0, y1 int) {
	full, n := hypotheses[0].energy, len(hypotheses)
	row := make([]int32, width*n) // of the sums, four times
	var energies [maxHypotheses]int32
	for y := y0; y < y1; y++ {
		cy, fy := cellBefore(y, choiceSize)
		upper := sums[max(cy, 0)*width*n:][:width*n]
		lower := sums[min(cy+1, height-1)*width*n:][:width*n]
		for i := range row {
			row[i] = int32(2*choiceSize-fy)*int32(upper[i]) + int32(fy)*int32(lower[i])
		}
		for x := range full.Width {
			cx, fx := cellBefore(x, choiceSize)
			left, right := row[max(cx, 0)*n:][:n], row[min(cx+1, width-1)*n:][:n]
			least := int32(math.MaxInt32)
			i := y*full.Width + x
			for l, h := range hypotheses {
				e := int32(h.energy.Pix[i]) + (int32(2*choiceSize-fx)*left[l]+int32(fx)*right[l]+1<<(2*choiceBits+1))>>(2*choiceBits+2)
				energies[l] = e
				least = min(least, e)
			}
			for l, h := range hypotheses {
				h.weight.Pix[i] = 0
				if e := int(energies[l] - least); e < len(likelihood) {
					h.weight.Pix[i] = likelihood[e]
				}
			}
		}
	}
}
