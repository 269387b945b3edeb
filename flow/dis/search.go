package dis

import (
	"math"
	"slices"

	"retime/flow"
	"retime/frame/simd"
)

// vector is a displacement in 1/1024 pixel of its level.
type vector struct{ x, y int32 }

func (v vector) negated() vector { return vector{-v.x, -v.y} }

// best is the best vector that a patch has found so far. C has the same layout.
type best struct {
	vector
	cost int32
	// fixed is 1 if a descent from the vector is known to end there, and moved is 1 if the vector
	// differs from the one that the previous round began with. They only save work: a vector that
	// the patch has already tried cannot beat its best one.
	fixed, moved uint8
}

// search holds what all patches of one direction of a level have in common.
type search struct {
	options *Options
	level   *level
	a, b    []uint8 // pyramids
}

// kernels are the steps of a level for one row.
type kernels struct {
	// first sets dst to the best vectors of a row of patches, from the dense flow of the
	// next coarser level, or from no motion if coarse is empty.
	first func(s *search, dst []best, row int, coarser *level, coarse []vector, reach bool)
	// propagate sets dst to the best vectors of a row of patches after one more round. own and
	// other hold all patches of the level after the previous round, for this direction and the
	// other one.
	propagate func(s *search, dst []best, row int, own, other []best)
	// densify sets up to cellSize rows of the dense flow, from row cellSize*row on, to weighted
	// means of the vectors of the patches around each pixel. dst begins with the first of these
	// rows.
	densify func(s *search, dst []vector, row int, patches []best)
	// settle converts vectors of level 0 into vectors of the result.
	settle func(dst []flow.Vec, src []vector, limit int32)
	// settleHalved converts two rows of level 0 into a row of the halved result.
	settleHalved func(dst []flow.Vec, upper, lower []vector, limit int32)
}

// cellSize is the number of rows that a call to densify sets.
const cellSize = 4

// portable is the kernels in Go, which define the others.
var portable = kernels{(*search).first, (*search).propagate, (*search).densify, settle, settleHalved}

// variant is the kernels for a level of instructions.
type variant struct {
	level simd.Level
	kernels
}

// variants returns the kernels that this processor can run, slowest first, up to level most.
func variants(most simd.Level) []variant {
	all := []variant{{simd.Go, portable}}
	for _, v := range vectorized() {
		if v.level <= most && slices.Contains(simd.Levels(), v.level) {
			all = append(all, v)
		}
	}
	return all
}

// fastest is the kernels that an estimator uses.
var fastest = func() kernels {
	all := variants(simd.Chosen())
	return all[len(all)-1].kernels
}()

// patch is a patch of a under search.
type patch struct {
	*search
	x, y     int
	prepared bool
	gradient [2][patchPixels]int32
	sumX     int32
	sumY     int32
	// The solver's matrix.
	a11, a12, a22 float32
}

func (s *search) patch(column, row int) patch {
	l := s.level
	return patch{search: s, x: patchOrigin(column, l.stride, l.width), y: patchOrigin(row, l.stride, l.height)}
}

// place returns the sample and the fraction at which b is read for position x + v/1024, in pixels,
// on a side of size samples. The position is clamped to at most outside samples before the first,
// and to the last.
func place(x int, v int32, size, outside int) (whole int, fraction int32) {
	p := min(max(int32(x)*vectorOne+v, int32(-outside*vectorOne)), int32((size-1)*vectorOne))
	return int(p >> vectorBits), p & (vectorOne - 1) >> unseenBits
}

// interpolation holds the fractions at which it reads between samples of b.
type interpolation struct{ fx, fy int32 }

func (i interpolation) difference(upper, lower []uint8, x int, a uint8) int32 {
	const half = 1 << (2*fractionBits - differenceBits - 1)
	t := int32(upper[x])*(fractionOne-i.fx) + int32(upper[x+1])*i.fx
	u := int32(lower[x])*(fractionOne-i.fx) + int32(lower[x+1])*i.fx
	return (t*(fractionOne-i.fy)+u*i.fy+half)>>(2*fractionBits-differenceBits) - int32(a)<<differenceBits
}

// rows returns the samples of a patch's row j, in a and in the two rows of b.
func (p *patch) rows(x, y, j int) (a, upper, lower []uint8) {
	l := p.level
	start := l.origin + (p.y+j)*l.pitch + p.x
	other := l.origin + (y+j)*l.pitch + x
	return p.a[start : start+patchSize], p.b[other : other+patchSize+1], p.b[other+l.pitch : other+l.pitch+patchSize+1]
}

// cost returns the cost of v.
func (p *patch) cost(v vector) int32 {
	x, fx := place(p.x, v.x, p.level.width, patchSize-1)
	y, fy := place(p.y, v.y, p.level.height, patchSize-1)
	in := interpolation{fx, fy}
	var sd, sdd int32
	for j := range patchSize {
		a, upper, lower := p.rows(x, y, j)
		for i := range patchSize {
			d := in.difference(upper, lower, i, a[i])
			sd += d
			sdd += d * d
		}
	}
	return p.total(sd, sdd)
}

func (p *patch) total(sd, sdd int32) int32 {
	if p.options.MeanNormalization {
		sdd -= int32(int64(sd) * int64(sd) >> normalBits)
	}
	return sdd
}

// slope returns the cost of v and the right-hand side of the step from there.
func (p *patch) slope(v vector) (cost, bx, by int32) {
	x, fx := place(p.x, v.x, p.level.width, patchSize-1)
	y, fy := place(p.y, v.y, p.level.height, patchSize-1)
	in := interpolation{fx, fy}
	var sd, sdd int32
	for j := range patchSize {
		a, upper, lower := p.rows(x, y, j)
		gx, gy := p.gradient[0][patchSize*j:][:patchSize], p.gradient[1][patchSize*j:][:patchSize]
		for i := range patchSize {
			d := in.difference(upper, lower, i, a[i])
			sd += d
			sdd += d * d
			bx += d * gx[i]
			by += d * gy[i]
		}
	}
	if p.options.MeanNormalization {
		bx -= int32(int64(sd) * int64(p.sumX) >> normalBits)
		by -= int32(int64(sd) * int64(p.sumY) >> normalBits)
	}
	return p.total(sd, sdd), bx, by
}

// prepare computes the gradients and the solver's matrix.
func (p *patch) prepare() {
	p.prepared = true
	l := p.level
	var gx, gy, xx, xy, yy int64
	for j := range patchSize {
		at := l.origin + (p.y+j)*l.pitch + p.x
		for i := range patchSize {
			dx := gradientGain * (int32(p.a[at+i+1]) - int32(p.a[at+i-1]))
			dy := gradientGain * (int32(p.a[at+i+l.pitch]) - int32(p.a[at+i-l.pitch]))
			p.gradient[0][patchSize*j+i], p.gradient[1][patchSize*j+i] = dx, dy
			gx += int64(dx)
			gy += int64(dy)
			xx += int64(dx * dx)
			xy += int64(dx * dy)
			yy += int64(dy * dy)
		}
	}
	p.sumX, p.sumY = int32(gx), int32(gy)
	if p.options.MeanNormalization {
		xx -= gx * gx >> normalBits
		xy -= gx * gy >> normalBits
		yy -= gy * gy >> normalBits
	}
	xx += damping
	yy += damping
	k := stepGain / float32(max(xx*yy-xy*xy, 1))
	p.a11, p.a12, p.a22 = float32(yy)*k, -float32(xy)*k, float32(xx)*k
}

// descend returns the best vector of the descent from v. It does nothing if v is fixed.
func (p *patch) descend(v best) best {
	if v.fixed != 0 || p.options.Iterations == 0 {
		return v
	}
	if !p.prepared {
		p.prepare()
	}
	from, next := v.vector, v.vector
	_, bx, by := p.slope(next)
	for range p.options.Iterations {
		dx := step(float32(p.a11*float32(bx)) + float32(p.a12*float32(by)))
		dy := step(float32(p.a12*float32(bx)) + float32(p.a22*float32(by)))
		if dx == 0 && dy == 0 {
			v.fixed = 1
			break
		}
		next.x -= dx
		next.y -= dy
		if far(next.x-from.x) || far(next.y-from.y) {
			break
		}
		var cost int32
		if cost, bx, by = p.slope(next); cost >= v.cost {
			v.fixed = 1
			break
		}
		v.vector, v.cost = next, cost
	}
	return v
}

func step(d float32) int32 {
	return int32(math.RoundToEven(float64(min(max(d, -stepLimit), stepLimit))))
}

func far(d int32) bool { return d > stepLimit || d < -stepLimit }

// unseenBits is the number of low bits of a vector that evaluation ignores.
const unseenBits = vectorBits - fractionBits

// try replaces v if the candidate costs less.
func (p *patch) try(v *best, candidate vector) {
	if (candidate.x^v.x)>>unseenBits == 0 && (candidate.y^v.y)>>unseenBits == 0 {
		return
	}
	if cost := p.cost(candidate); cost < v.cost {
		*v = best{vector: candidate, cost: cost}
	}
}

// reach returns the best vector of whole pixels. Its cost includes the toll on its length.
func (p *patch) reach() best {
	r := int32(p.options.Reach)
	found := best{cost: math.MaxInt32}
	for y := -r; y <= r; y++ {
		for x := -r; x <= r; x++ {
			v := vector{x * vectorOne, y * vectorOne}
			if e := p.cost(v) + reachToll*(max(x, -x)+max(y, -y)); e < found.cost {
				found = best{vector: v, cost: e}
			}
		}
	}
	return found
}

func (s *search) first(dst []best, row int, coarser *level, coarse []vector, reach bool) {
	for column := range dst {
		p := s.patch(column, row)
		var v best
		if len(coarse) == 0 {
			v.cost = p.cost(v.vector)
		} else {
			v = p.inherit(coarser, coarse)
		}
		if reach {
			if r := p.reach(); 2*r.cost < v.cost {
				v = best{vector: r.vector, cost: p.cost(r.vector)}
			}
		}
		v = p.descend(v)
		v.moved = 1
		dst[column] = v
	}
}

// inherit returns the best of the coarser level's vectors around the patch.
func (p *patch) inherit(coarser *level, coarse []vector) (v best) {
	for i := range p.options.Candidates {
		x := p.x + patchSize/2 + neighbourX[i]*p.options.CandidateDistance
		y := p.y + patchSize/2 + neighbourY[i]*p.options.CandidateDistance
		x, y = min(max(x>>1, 0), coarser.width-1), min(max(y>>1, 0), coarser.height-1)
		c := coarse[y*coarser.width+x]
		c = vector{2 * c.x, 2 * c.y}
		if i == 0 {
			v = best{vector: c, cost: p.cost(c)}
		} else {
			p.try(&v, c)
		}
	}
	return v
}

func (s *search) propagate(dst []best, row int, own, other []best) {
	l := s.level
	for column := range dst {
		p := s.patch(column, row)
		before := own[row*l.columns+column]
		v := before
		for i := 1; i <= s.options.Neighbours; i++ {
			x, y := column+neighbourX[i], row+neighbourY[i]
			if x < 0 || x >= l.columns || y < 0 || y >= l.rows {
				continue
			}
			if c := own[y*l.columns+x]; c.moved != 0 {
				p.try(&v, c.vector)
			}
		}
		x, y := l.patchNear(p.x, before.x, l.columns), l.patchNear(p.y, before.y, l.rows)
		if c := other[y*l.columns+x]; c.moved != 0 || before.moved != 0 {
			p.try(&v, c.negated())
		}
		v = p.descend(v)
		v.moved = 0
		if v.vector != before.vector {
			v.moved = 1
		}
		dst[column] = v
	}
}

// patchNear returns which of n patches along a side is nearest to where v leads from x.
func (l *level) patchNear(x int, v int32, n int) int {
	x += int((v + vectorOne/2) >> vectorBits)
	return min(max((x+l.stride/2)/l.stride, 0), n-1)
}
