package dis

import (
	"math"

	"retime/flow"
	"retime/frame"
)

// reference estimates flow exactly as the package comment says: it evaluates every candidate, one
// patch and one sample after the other, in 64 bits.
type reference struct {
	Options
	pictures [2][]plane // levels of a and b
}

// plane is a picture that repeats its border.
type plane struct {
	w, h int64
	at   []int64
}

func (p plane) sample(x, y int64) int64 {
	x, y = min(max(x, 0), p.w-1), min(max(y, 0), p.h-1)
	return p.at[y*p.w+x]
}

type pair struct{ x, y int64 }

func (v pair) plus(w pair) pair { return pair{v.x + w.x, v.y + w.y} }

// grid holds the patches of a level in one direction.
type grid struct {
	ws, hs int64
	v      []pair
	cost   []int64
}

func (g grid) clone() grid {
	return grid{g.ws, g.hs, append([]pair(nil), g.v...), append([]int64(nil), g.cost...)}
}

func referenceFlow(o Options, a, b frame.Image[uint8]) (forward, backward flow.Field) {
	r := reference{Options: o}
	for i, m := range []frame.Image[uint8]{a, b} {
		r.pictures[i] = pyramidOf(m)
	}
	var dense [2][]pair
	last := len(r.pictures[0]) - 1
	for l := last; l >= 0; l-- {
		var grids [2]grid
		for d := range 2 {
			grids[d] = r.first(l, d, dense[d])
		}
		for range o.Rounds {
			old := [2]grid{grids[0].clone(), grids[1].clone()}
			for d := range 2 {
				r.propagate(l, d, grids[d], old[d], old[1-d])
			}
		}
		for d := range 2 {
			dense[d] = r.densify(l, d, grids[d])
		}
	}
	fields := [2]flow.Field{flow.NewField(a.Width, a.Height), flow.NewField(a.Width, a.Height)}
	w := int(r.pictures[0][0].w)
	for d, f := range fields {
		limit := int64(f.Limit())
		for y := range f.Height {
			for x := range f.Width {
				v := dense[d][y*w+x]
				f.Row(y)[x] = flow.Vec{
					X: int32(min(max((v.x+2)>>2, -limit), limit)),
					Y: int32(min(max((v.y+2)>>2, -limit), limit)),
				}
			}
		}
	}
	return fields[0], fields[1]
}

func pyramidOf(m frame.Image[uint8]) []plane {
	p := plane{w: int64(max(m.Width, 8)), h: int64(max(m.Height, 8))}
	for y := range p.h {
		for x := range p.w {
			p.at = append(p.at, int64(m.Row(min(int(y), m.Height-1))[min(int(x), m.Width-1)]))
		}
	}
	n := 0
	for lv := 1; lv < 20; lv++ {
		long, short := max(p.w, p.h), min(p.w, p.h)
		if 2*long*long >= 1024*int64(math.Pow(4, float64(lv))) && short>>lv >= 8 {
			n = lv
		}
	}
	all := []plane{p}
	for range n {
		finer := all[len(all)-1]
		half := plane{w: (finer.w + 1) / 2, h: (finer.h + 1) / 2}
		weights := [4]int64{1, 3, 3, 1}
		for y := range half.h {
			for x := range half.w {
				sum := int64(32)
				for j, wy := range weights {
					for i, wx := range weights {
						sum += wy * wx * finer.sample(2*x-1+int64(i), 2*y-1+int64(j))
					}
				}
				half.at = append(half.at, sum>>6)
			}
		}
		all = append(all, half)
	}
	return all
}

// patchReference is a patch of 64 samples with its sums.
type patchReference struct {
	*reference
	a, b          plane
	x, y          int64
	gx, gy        [8][8]int64
	sumX, sumY    int64
	a11, a12, a22 float32
}

func (r *reference) patch(l, d int, column, row int64) *patchReference {
	p := &patchReference{reference: r, a: r.pictures[d][l], b: r.pictures[1-d][l]}
	s := int64(r.Stride)
	p.x, p.y = min(s*column, p.a.w-8), min(s*row, p.a.h-8)
	var xx, xy, yy int64
	for j := range int64(8) {
		for i := range int64(8) {
			x, y := p.x+i, p.y+j
			gx, gy := 4*(p.a.sample(x+1, y)-p.a.sample(x-1, y)), 4*(p.a.sample(x, y+1)-p.a.sample(x, y-1))
			p.gx[j][i], p.gy[j][i] = gx, gy
			p.sumX, p.sumY = p.sumX+gx, p.sumY+gy
			xx, xy, yy = xx+gx*gx, xy+gx*gy, yy+gy*gy
		}
	}
	if r.MeanNormalization {
		xx, xy, yy = xx-(p.sumX*p.sumX>>6), xy-(p.sumX*p.sumY>>6), yy-(p.sumY*p.sumY>>6)
	}
	xx, yy = xx+1024, yy+1024
	det := xx*yy - xy*xy
	k := 512 / float32(max(det, 1))
	p.a11, p.a12, p.a22 = float32(float32(yy)*k), float32(-float32(xy)*k), float32(float32(xx)*k)
	return p
}

func (p *patchReference) evaluate(v pair) (cost int64, b pair) {
	px := min(max(p.x*1024+v.x, -7*1024), (p.b.w-1)*1024)
	py := min(max(p.y*1024+v.y, -7*1024), (p.b.h-1)*1024)
	var sd, sdd int64
	for j := range int64(8) {
		for i := range int64(8) {
			d := between(p.b, px, py, i, j) - 16*p.a.sample(p.x+i, p.y+j)
			sd, sdd = sd+d, sdd+d*d
			b.x, b.y = b.x+d*p.gx[j][i], b.y+d*p.gy[j][i]
		}
	}
	for _, s := range []int64{sd, sdd, b.x, b.y} {
		if s != int64(int32(s)) {
			panic("a sum exceeds 32 bits")
		}
	}
	if p.MeanNormalization {
		return sdd - (sd * sd >> 6), pair{b.x - (sd * p.sumX >> 6), b.y - (sd * p.sumY >> 6)}
	}
	return sdd, b
}

// between interpolates m, with 4 fraction bits, at i and j samples from position (px, py).
func between(m plane, px, py, i, j int64) int64 {
	fx, fy := (px&1023)>>3, (py&1023)>>3
	x, y := px>>10+i, py>>10+j
	t := m.sample(x, y)*(128-fx) + m.sample(x+1, y)*fx
	u := m.sample(x, y+1)*(128-fx) + m.sample(x+1, y+1)*fx
	return (t*(128-fy) + u*fy + 512) >> 10
}

func (p *patchReference) descend(v0 pair) (pair, int64) {
	v, best, least := v0, v0, int64(math.MaxInt64)
	for t := 0; ; t++ {
		cost, b := p.evaluate(v)
		if cost >= least {
			break
		}
		best, least = v, cost
		if t == p.Iterations {
			break
		}
		bx, by := float32(b.x), float32(b.y)
		dx := float32(p.a11*bx) + float32(p.a12*by)
		dy := float32(p.a12*bx) + float32(p.a22*by)
		step := func(d float32) int64 { return int64(math.RoundToEven(min(max(float64(d), -8192), 8192))) }
		sx, sy := step(dx), step(dy)
		if sx == 0 && sy == 0 {
			break
		}
		v = pair{v.x - sx, v.y - sy}
		if max(v.x-v0.x, v0.x-v.x) > 8192 || max(v.y-v0.y, v0.y-v.y) > 8192 {
			break
		}
	}
	return best, least
}

func (r *reference) first(l, d int, coarse []pair) grid {
	m := r.pictures[d][l]
	s := int64(r.Stride)
	g := grid{ws: (m.w-8+s-1)/s + 1, hs: (m.h-8+s-1)/s + 1}
	for row := range g.hs {
		for column := range g.ws {
			p := r.patch(l, d, column, row)
			var candidates []pair
			if coarse == nil {
				candidates = []pair{{0, 0}}
			} else {
				half := r.pictures[d][l+1]
				off := int64(r.CandidateDistance)
				at := []pair{{0, 0}, {off, 0}, {-off, 0}, {0, off}, {0, -off}, {off, off}, {-off, -off}, {off, -off}, {-off, off}}
				for _, o := range at[:r.Candidates] {
					x := min(max((p.x+4+o.x)>>1, 0), half.w-1)
					y := min(max((p.y+4+o.y)>>1, 0), half.h-1)
					v := coarse[y*half.w+x]
					candidates = append(candidates, pair{2 * v.x, 2 * v.y})
				}
			}
			best, least := p.best(candidates)
			if l >= len(r.pictures[0])-2 && r.Reach > 0 {
				far, e := p.reach()
				if 2*e < least {
					best = far
				}
			}
			v, cost := p.descend(best)
			g.v, g.cost = append(g.v, v), append(g.cost, cost)
		}
	}
	return g
}

// best returns the first of the candidates of least cost.
func (p *patchReference) best(candidates []pair) (pair, int64) {
	best, least := pair{}, int64(math.MaxInt64)
	for _, v := range candidates {
		if cost, _ := p.evaluate(v); cost < least {
			best, least = v, cost
		}
	}
	return best, least
}

func (p *patchReference) reach() (pair, int64) {
	best, least := pair{}, int64(math.MaxInt64)
	r := int64(p.Reach)
	for y := -r; y <= r; y++ {
		for x := -r; x <= r; x++ {
			cost, _ := p.evaluate(pair{x * 1024, y * 1024})
			e := cost + 256*(max(x, -x)+max(y, -y))
			if e < least {
				best, least = pair{x * 1024, y * 1024}, e
			}
		}
	}
	return best, least
}

func (r *reference) propagate(l, d int, g, own, other grid) {
	s := int64(r.Stride)
	around := []pair{{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {-1, -1}, {1, -1}, {-1, 1}}[:r.Neighbours]
	for row := range g.hs {
		for column := range g.ws {
			p := r.patch(l, d, column, row)
			v := own.v[row*g.ws+column]
			candidates := []pair{v}
			for _, o := range around {
				n := o.plus(pair{column, row})
				if n.x >= 0 && n.x < g.ws && n.y >= 0 && n.y < g.hs {
					candidates = append(candidates, own.v[n.y*g.ws+n.x])
				}
			}
			x := min(max((p.x+((v.x+512)>>10)+s/2)/s, 0), g.ws-1)
			y := min(max((p.y+((v.y+512)>>10)+s/2)/s, 0), g.hs-1)
			back := other.v[y*g.ws+x]
			candidates = append(candidates, pair{-back.x, -back.y})
			best, _ := p.best(candidates)
			g.v[row*g.ws+column], g.cost[row*g.ws+column] = p.descend(best)
		}
	}
}

func (r *reference) densify(l, d int, g grid) []pair {
	a, b := r.pictures[d][l], r.pictures[1-d][l]
	s := int64(r.Stride)
	var dense []pair
	for y := range a.h {
		for x := range a.w {
			var sum pair
			var weight int64
			for row := range g.hs {
				for column := range g.ws {
					// The patches of the last column and row, moved back to fit, still count only
					// where their nominal places are.
					if x < s*column || x >= s*column+8 || y < s*row || y >= s*row+8 {
						continue
					}
					v := g.v[row*g.ws+column]
					px := min(max(x*1024+v.x, 0), (a.w-1)*1024)
					py := min(max(y*1024+v.y, 0), (a.h-1)*1024)
					diff := between(b, px, py, 0, 0) - 16*a.sample(x, y)
					m := float64(max(diff, -diff, 16))
					w := int64(max(math.Round(4096*256/(m*m)), 1))
					sum = sum.plus(pair{w * v.x, w * v.y})
					weight += w
				}
			}
			at := func(n int64) int64 { return int64(math.RoundToEven(float64(float32(n) / float32(weight)))) }
			dense = append(dense, pair{at(sum.x), at(sum.y)})
		}
	}
	return dense
}
