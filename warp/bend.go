package warp

import (
	"math"

	"retime/flow"
	"retime/frame"
)

// bend describes how far moving things lie off the straight line between A and B.
//
// A point at x that moves with speed v and acceleration a is displaced by v s + a s²/2
// after s intervals. So the flows from a frame to the next and to the one before sum to
// a, and at the phase t the point lies -a t(1-t)/2 off the line. bend averages that
// over wide surroundings, from both frames' points of view, and applies it as far as
// the two agree. Bending covers outer frames that are nearer than an interval.
//
// bend works on cells of cellSize by cellSize pixels of the picture.
type bend struct {
	sides [2]bendSide
	cells frame.Image[[2]float32] // the bend of each cell, in pixels of the picture
	field flow.Field
}

// bends holds the evidence of an interval, from the points of view of A and of B.
type bends struct {
	ready bool
	how   Bending
	sides [2]changes
}

// cellBits is log2 of cellSize.
const (
	cellBits = 3
	cellSize = 1 << cellBits
)

// A change of the flow by more than largestChange pixels of the picture counts as an
// error. An error of creditKnee grey levels along the flow halves the credit of a
// change.
const (
	largestChange = 48
	creditKnee    = 6
	creditOne     = 256
)

// What B hides has a false flow in A, and so a false acceleration. A change does not count if the
// flow back misses by more than missLeast, and by more than missParts/missWhole of the change.
const (
	missParts = 3
	missWhole = 4
)

// creditTable is creditOne/(1 + (error/creditKnee)²) for errors in their units.
var creditTable = func() []int64 {
	var t []int64
	for d := 0; ; d++ {
		e := float64(d) / (creditKnee * differenceOne)
		w := creditOne / (1 + e*e)
		t = append(t, int64(w+0.5))
		if w < 0.5 {
			return t
		}
	}
}()

// change holds sums over a cell: accelerations, in 1/256 pixel of the guides, times
// their credit, and the credit.
type change struct{ x, y, credit int64 }

// changes holds the evidence from one frame.
type changes struct {
	errors frame.Image[uint16] // along the flow within the interval, the largest where its end does not lead back
	motion flow.Field          // a cell's mean flow within the interval
	cells  frame.Image[change] // of the frame
}

// bendSide holds the evidence from one frame at a made frame's time.
type bendSide struct {
	moved   frame.Image[change]
	means   frame.Image[[3]float32] // the same over wide surroundings, per pixel
	scratch frame.Image[[3]float32]
}

// prepare gathers the evidence for p.
func (b *bends) prepare(p *prepared) {
	in := &p.in
	b.ready = p.params.Acceleration && in.Before != nil && in.After != nil
	if !b.ready {
		return
	}
	b.how = in.Bending()
	f := in.Flows[0]
	b.sides[0].gather(p, f.Forward, p.pairs[0].errorA, in.Before, &b.how, 0)
	b.sides[1].gather(p, f.Backward, p.pairs[0].errorB, in.After, &b.how, 1)
}

// evidence is what the accelerations of a frame are taken from: the flow within the
// interval and the flow beyond it, the errors along them, and their factors.
type evidence struct {
	inner, outer             flow.Field
	innerError, outerError   frame.Image[uint16]
	innerFactor, outerFactor int64
	limit                    int64
	size                     int // of a cell in pixels of the guides
}

// gather sums up the accelerations in the cells of frame k. inner is the frame's flow
// within the interval, and e the error along it.
func (c *changes) gather(p *prepared, inner flow.Field, e frame.Image[uint16], outer *Outer, how *Bending, k int) {
	size := cellSize >> p.in.Level
	w, h := (inner.Width+size-1)/size, (inner.Height+size-1)/size
	c.cells.Resize(w, h)
	c.motion.Resize(w, h)
	c.errors.Resize(inner.Width, inner.Height)
	from := &evidence{
		inner: inner, outer: outer.Flow, innerError: c.errors, outerError: p.beyond[k].errors,
		innerFactor: int64(how.Inner[k]), outerFactor: int64(how.Outer[k]), limit: int64(how.Limit[k]), size: size,
	}
	p.params.Workers.Rows(inner.Height, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			from.refuse(c.errors.Row(y), e.Row(y), p.beyond[k].misses.Row(y), y)
		}
	})
	p.params.Workers.Rows(h, func(y0, y1 int) { loops.accelerations(c, from, y0, y1) })
}

// refuse sets out to the errors of row y, or to the largest where the flow back, from the end of the
// inner flow, misses by too much.
func (e *evidence) refuse(out, errors []uint16, misses []int32, y int) {
	inner, outer := e.inner.Row(y), e.outer.Row(y)
	for x, d := range errors {
		out[x] = d
		if misses[x] <= missLeast { // or leads out
			continue
		}
		if missWhole*int64(misses[x])*e.innerFactor > missParts*PhaseOne*largest(e.change(inner[x], outer[x])) {
			out[x] = math.MaxUint16
		}
	}
}

// change returns the acceleration, in 1/256 pixel of the guides.
func (e *evidence) change(inner, outer flow.Vec) (x, y int64) {
	x = (int64(inner.X)*e.innerFactor + int64(outer.X)*e.outerFactor + PhaseOne/2) >> 16
	y = (int64(inner.Y)*e.innerFactor + int64(outer.Y)*e.outerFactor + PhaseOne/2) >> 16
	return x, y
}

// gatherRows does the work of gather for rows [y0, y1) of cells.
func (c *changes) gatherRows(e *evidence, y0, y1 int) {
	w, size := c.cells.Width, e.size
	for cy := y0; cy < y1; cy++ {
		for cx := range w {
			var sum change
			var mx, my, n int64
			for y := cy * size; y < min((cy+1)*size, e.inner.Height); y++ {
				for i := y*e.inner.Width + cx*size; i < y*e.inner.Width+min((cx+1)*size, e.inner.Width); i++ {
					u, v := e.inner.Pix[i], e.outer.Pix[i]
					mx, my, n = mx+int64(u.X), my+int64(u.Y), n+1
					x, y := e.change(u, v)
					worst := int(max(e.innerError.Pix[i], e.outerError.Pix[i]))
					if x >= e.limit || x <= -e.limit || y >= e.limit || y <= -e.limit || worst >= len(creditTable) {
						continue
					}
					credit := creditTable[worst]
					sum.x, sum.y, sum.credit = sum.x+credit*x, sum.y+credit*y, sum.credit+credit
				}
			}
			c.cells.Pix[cy*w+cx] = sum
			c.motion.Pix[cy*w+cx] = flow.Vec{X: int32(mx / n), Y: int32(my / n)}
		}
	}
}

// at returns the bend at the phase, in 1/256 pixel of the guides, or an empty field if
// there is none.
func (b *bend) at(workers frame.Workers, p *prepared, phase Phase) flow.Field {
	from := &p.bends
	if !from.ready {
		return flow.Field{}
	}
	level := p.in.Level
	workers.Both(
		func() { b.sides[0].average(workers, &from.sides[0], level, phase) },
		func() { b.sides[1].average(workers, &from.sides[1], level, PhaseOne-phase) })
	t := float32(phase) / PhaseOne
	b.combine(&from.how, float32(float32(-0.5*t)*(1-t)), phase)
	b.spread(workers, p.in.GuideA.Width, p.in.GuideA.Height, level)
	return b.field
}

// average moves the changes of from by the phase and averages them over a Gaussian of about 12
// pixels.
func (c *bendSide) average(workers frame.Workers, from *changes, level int, phase Phase) {
	w, h := from.cells.Width, from.cells.Height
	c.moved.Resize(w, h)
	c.moved.Clear()
	shift := cellBits - level
	for y := range h {
		for x := range w {
			v, m := from.cells.Pix[y*w+x], from.motion.Pix[y*w+x]
			if v.credit != 0 {
				c.add(v, int32(x)<<positionBits+toward(m.X, phase)>>shift, int32(y)<<positionBits+toward(m.Y, phase)>>shift)
			}
		}
	}
	// The means are accelerations in pixels of the picture, and credits from 0 to 1.
	size := int64(cellSize >> level)
	unit := 1 / float32(positionOne*positionOne*creditOne*size*size)
	length := unit * float32(int64(1)<<level) / positionOne
	c.means.Resize(w, h)
	for i, v := range c.moved.Pix {
		c.means.Pix[i] = [3]float32{float32(v.x) * length, float32(v.y) * length, float32(v.credit) * unit}
	}
	for range 2 {
		c.blur(workers)
	}
}

// add divides v among the four cells around (x, y), in 1/256 cell.
func (c *bendSide) add(v change, x, y int32) {
	ix, iy := int(x>>positionBits), int(y>>positionBits)
	fx, fy := int64(x&(positionOne-1)), int64(y&(positionOne-1))
	for k, weight := range [4]int64{
		(positionOne - fx) * (positionOne - fy), fx * (positionOne - fy), (positionOne - fx) * fy, fx * fy,
	} {
		cx, cy := ix+k&1, iy+k>>1
		if cx < 0 || cy < 0 || cx >= c.moved.Width || cy >= c.moved.Height {
			continue
		}
		p := &c.moved.Pix[cy*c.moved.Width+cx]
		p.x, p.y, p.credit = p.x+weight*v.x, p.y+weight*v.y, p.credit+weight*v.credit
	}
}

// blur applies the binomial kernel (1 4 6 4 1)/16 in both directions.
func (c *bendSide) blur(workers frame.Workers) {
	w, h := c.means.Width, c.means.Height
	c.scratch.Resize(w, h)
	workers.Rows(h, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			row, out := c.means.Row(y), c.scratch.Row(y)
			for x := range out {
				out[x] = binomial(&row[max(x-2, 0)], &row[max(x-1, 0)], &row[x], &row[min(x+1, w-1)], &row[min(x+2, w-1)])
			}
		}
	})
	workers.Rows(h, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			a, b, m := c.scratch.Row(max(y-2, 0)), c.scratch.Row(max(y-1, 0)), c.scratch.Row(y)
			d, e, out := c.scratch.Row(min(y+1, h-1)), c.scratch.Row(min(y+2, h-1)), c.means.Row(y)
			for x := range out {
				out[x] = binomial(&a[x], &b[x], &m[x], &d[x], &e[x])
			}
		}
	})
}

func binomial(a, b, c, d, e *[3]float32) (out [3]float32) {
	for i := range out {
		out[i] = float32((float32(6*c[i]) + float32(4*(b[i]+d[i])) + (a[i] + e[i])) / 16)
	}
	return out
}

// bendDoubt is the credit that stands for no evidence, and bendNoise the squared length
// of a bend, in pixels, that counts as noise.
const (
	bendDoubt = 0.05
	bendNoise = 0.01
)

// combine sets the cells' bends to factor times the mean of the two frames'
// accelerations, as far as the two agree.
func (b *bend) combine(how *Bending, factor float32, phase Phase) {
	wp, wq, dispute := how.Weights(phase)
	b.cells.Resize(b.sides[0].means.Width, b.sides[0].means.Height)
	for i := range b.cells.Pix {
		p, q := &b.sides[0].means.Pix[i], &b.sides[1].means.Pix[i]
		fp, fq := factor/(p[2]+bendDoubt), factor/(q[2]+bendDoubt)
		px, py := float32(p[0]*fp), float32(p[1]*fp)
		qx, qy := float32(q[0]*fq), float32(q[1]*fq)
		mx, my := float32(px*wp)+float32(qx*wq), float32(py*wp)+float32(qy*wq)
		dx, dy := px-qx, py-qy
		power := float32(mx*mx) + float32(my*my)
		k := power / (power + float32(dispute*(float32(dx*dx)+float32(dy*dy))) + bendNoise)
		k = float32(k * min(p[2], q[2], 1))
		b.cells.Pix[i] = [2]float32{float32(mx * k), float32(my * k)}
	}
}

// spread interpolates the bends of the cells at the pixels of the guides.
func (b *bend) spread(workers frame.Workers, width, height, level int) {
	b.field.Resize(width, height)
	workers.Rows(height, func(y0, y1 int) { loops.spread(b.field, b.cells, level, y0, y1) })
}

// bendScale is the number of 1/256 pixels of the guides in a pixel of the picture.
func bendScale(level int) float32 { return float32(positionOne) / float32(int(1)<<level) }

func spreadRows(dst flow.Field, cells frame.Image[[2]float32], level, y0, y1 int) {
	size := cellSize >> level
	scale := bendScale(level)
	w, h := cells.Width, cells.Height
	for y := y0; y < y1; y++ {
		cy, py := cellBefore(y, size)
		fy := float32(py) / float32(2*size)
		upper, lower := cells.Row(max(cy, 0)), cells.Row(min(cy+1, h-1))
		for x, out := 0, dst.Row(y); x < len(out); x++ {
			cx, px := cellBefore(x, size)
			fx := float32(px) / float32(2*size)
			l, r := max(cx, 0), min(cx+1, w-1)
			var v [2]int32
			for k := range v {
				top := upper[l][k] + float32(fx*(upper[r][k]-upper[l][k]))
				bottom := lower[l][k] + float32(fx*(lower[r][k]-lower[l][k]))
				v[k] = roundToInt(float32((top + float32(fy*(bottom-top))) * scale))
			}
			out[x] = flow.Vec{X: v[0], Y: v[1]}
		}
	}
}

// cellBefore returns the last cell of size pixels whose centre lies at or before pixel i,
// and the distance of i from that centre in 1/(2*size) cell.
func cellBefore(i, size int) (cell, part int) {
	twice := 2*i + 1 - size // twice the distance from the first centre
	cell = twice / (2 * size)
	if twice < 0 {
		cell = -1
	}
	return cell, twice - cell*2*size
}

// roundToInt rounds to the nearest integer, ties away from zero.
func roundToInt(v float32) int32 {
	if v < 0 {
		return -int32(0.5 - v)
	}
	return int32(v + 0.5)
}
