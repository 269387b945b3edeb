package boxsplines

import (
	"encoding/binary"
	"math/big"
	"slices"

	"retime/warp/boxspline"
	"retime/warp/boxspline/exact"
	"retime/warp/boxspline/lattice"
)

// reference evaluates an element's spline exactly, in integers: positions are multiples of 1/fine,
// samples are multiples of 2^-sampleBits, and the polynomials of a cell have a common denominator.
type reference struct {
	element *boxspline.Element
	samples *lattice.Samples
	planes  []knots
	cells   map[string]*cell
	// fold is set if the element has the symmetries of the cube, as sums of box splines do: then a
	// 48th of the cells is enough, which saves time computing polynomials.
	fold bool
}

// sampleBits is the number of bits that samples from noise have after the point.
const sampleBits = 52

// knots is a family of knot planes of the element and of its shifts to all sites:
// normal·x = offset + n for each offset, a multiple of 1/scale, and each integer n.
type knots struct {
	normal  [lattice.MaxDim]int64
	offsets []int64
	scale   int64
}

// cell holds the sites with nonzero weights between the same knot planes of all shifts, and their
// weights: for each site the factors of the monomials, times denominator.
type cell struct {
	sites       []lattice.Point
	monomials   []exact.Monomial
	factors     [][]*big.Int
	denominator *big.Int
	degree      int
}

func newReference(e *boxspline.Element, s *lattice.Samples) *reference {
	r := &reference{element: e, samples: s, cells: map[string]*cell{}, fold: len(e.Terms()) > 1}
	for _, f := range e.Planes() {
		k := knots{scale: 1}
		for i, a := range f.Normal {
			k.normal[i], _ = a.Fraction()
		}
		for _, o := range f.Offsets {
			_, den := o.Mul(exact.Int(int(k.scale))).Fraction()
			k.scale *= den
		}
		for _, o := range f.Offsets {
			n, _ := o.Sub(exact.Int(o.Floor())).Mul(exact.Int(int(k.scale))).Fraction()
			if !slices.Contains(k.offsets, n) {
				k.offsets = append(k.offsets, n)
			}
		}
		r.planes = append(r.planes, k)
	}
	return r
}

// at returns the value at x, rounded to float64.
func (r *reference) at(x []float64) float64 {
	from := r.samples.Nearest(x)
	var u [lattice.MaxDim]int64 // fine times the distance from that site
	for i, v := range x {
		u[i] = int64(v*fine) - int64(from[i])*fine
	}
	axes, signs := [lattice.MaxDim]int{0, 1, 2}, [lattice.MaxDim]int{1, 1, 1}
	if r.fold {
		for i := range u {
			if u[i] < 0 {
				u[i], signs[i] = -u[i], -1
			}
		}
		slices.SortFunc(axes[:], func(a, b int) int { return int(u[a] - u[b]) })
		u = [lattice.MaxDim]int64{u[axes[0]], u[axes[1]], u[axes[2]]}
	}
	c := r.cell(u)
	powers := c.powers(u)
	var sum, weight, product big.Int
	for i, m := range c.sites {
		weight.SetInt64(0)
		for k, f := range c.factors[i] {
			weight.Add(&weight, product.Mul(f, powers[k]))
		}
		site := from
		for k, a := range axes {
			site[a] += signs[a] * m[k]
		}
		sample := int64(r.samples.At(site) * (1 << sampleBits))
		sum.Add(&sum, product.Mul(&weight, big.NewInt(sample)))
	}
	one := new(big.Int).Lsh(c.denominator, uint(sampleBits+fineBits*c.degree))
	v, _ := new(big.Rat).SetFrac(&sum, one).Float64()
	return v
}

// cell returns the cell of a position relative to a site, in multiples of 1/fine.
func (r *reference) cell(u [lattice.MaxDim]int64) *cell {
	var key []byte
	for _, k := range r.planes {
		d := k.scale * (k.normal[0]*u[0] + k.normal[1]*u[1] + k.normal[2]*u[2])
		for _, o := range k.offsets {
			key = binary.AppendVarint(key, floorDiv(d-o*fine, k.scale*fine))
		}
	}
	c, ok := r.cells[string(key)]
	if !ok {
		c = r.compute(u)
		r.cells[string(key)] = c
	}
	return c
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// compute computes the cell that contains u, by the recurrence.
func (r *reference) compute(u [lattice.MaxDim]int64) *cell {
	dim := r.element.Dim()
	at := make(exact.Vec, dim)
	var low, high lattice.Point
	for i, reach := range r.element.Reach() {
		at[i] = exact.Frac(int(u[i]), fine)
		low[i], high[i] = at[i].Sub(reach).Floor(), at[i].Add(reach).Floor()+1
	}
	near := r.element.Near(at)
	c := &cell{denominator: big.NewInt(1)}
	var weights []exact.Poly
	all := exact.Poly{}
	for z := low[2]; z <= high[2]; z++ {
		for y := low[1]; y <= high[1]; y++ {
			for x := low[0]; x <= high[0]; x++ {
				m := lattice.Point{x, y, z}
				if !r.samples.Contains(m) {
					continue
				}
				w := near.Shifted(exact.Ints(m[:dim]...))
				if len(w) == 0 {
					continue
				}
				c.sites, weights = append(c.sites, m), append(weights, w)
				for m, a := range w {
					all[m] = exact.Int(1)
					den := a.Big().Denom()
					c.denominator.Mul(c.denominator, den.Div(den, new(big.Int).GCD(nil, nil, den, c.denominator)))
				}
			}
		}
	}
	c.monomials, c.degree = all.Monomials(), all.Degree()
	for _, w := range weights {
		factors := make([]*big.Int, len(c.monomials))
		for k, m := range c.monomials {
			a := w[m].Big()
			factors[k] = a.Mul(a, new(big.Rat).SetInt(c.denominator)).Num()
		}
		c.factors = append(c.factors, factors)
	}
	return c
}

// powers returns the monomials at u, times fine to the power of the degree.
func (c *cell) powers(u [lattice.MaxDim]int64) []*big.Int {
	var of [lattice.MaxDim][]*big.Int
	for i, v := range u {
		of[i] = []*big.Int{big.NewInt(1)}
		for k := range c.degree {
			of[i] = append(of[i], new(big.Int).Mul(of[i][k], big.NewInt(v)))
		}
	}
	list := make([]*big.Int, len(c.monomials))
	for k, m := range c.monomials {
		p := new(big.Int).Lsh(big.NewInt(1), uint(fineBits*(c.degree-m.Degree())))
		for i, e := range m {
			p.Mul(p, of[i][e])
		}
		list[k] = p
	}
	return list
}
