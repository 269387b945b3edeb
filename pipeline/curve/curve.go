// Package curve says which moment of a source an output shows when: exact
// functions from output time to source time, piecewise polynomials with rational
// coefficients. Curves are immutable; any output time may be asked for at any
// time. All times are in seconds.
package curve

import (
	"math/big"
	"sort"
)

// Curve maps the output's time to the source's.
type Curve struct{ pieces []piece }

// piece is source = c[0] + c[1] x + c[2] x^2 + ..., x being the output's time
// after begin. It is monotone.
type piece struct {
	begin, end *big.Rat // end is nil for ever, in the last piece only
	c          []*big.Rat
}

// Constant plays the source from a moment on, slow times as long as it lasts,
// without an end.
func Constant(from, slow *big.Rat) *Curve {
	return &Curve{[]piece{{begin: new(big.Rat), c: []*big.Rat{from, new(big.Rat).Inv(slow)}}}}
}

// Duration is the length of the output; nil for a curve without an end.
func (c *Curve) Duration() *big.Rat { return c.pieces[len(c.pieces)-1].end }

// Source returns what is shown at a time of the output. Before the curve's begin
// and behind its end its first and last piece go on.
func (c *Curve) Source(output *big.Rat) *big.Rat { return c.at(output).source(output) }

// at returns the piece that output lies in: the later of two that meet there.
func (c *Curve) at(output *big.Rat) *piece {
	i := sort.Search(len(c.pieces), func(i int) bool { return c.pieces[i].begin.Cmp(output) > 0 })
	return &c.pieces[max(i-1, 0)]
}

// source evaluates p by Horner's rule.
func (p *piece) source(output *big.Rat) *big.Rat {
	x := new(big.Rat).Sub(output, p.begin)
	v := new(big.Rat)
	for i := len(p.c) - 1; i >= 0; i-- {
		v.Mul(v, x)
		v.Add(v, p.c[i])
	}
	return v
}

// last is the moment that p ends with.
func (p *piece) last() *big.Rat { return p.source(p.end) }

// direction is 1 where p plays forward, -1 where backward, 0 where it stands.
func (p *piece) direction() int {
	if p.end == nil {
		return p.c[1].Sign()
	}
	return p.last().Cmp(p.c[0])
}

// Line returns the slow-down of a Constant curve, nil for any other.
func (c *Curve) Line() (slow *big.Rat) {
	if p := c.pieces[0]; len(c.pieces) == 1 && p.end == nil {
		return new(big.Rat).Inv(p.c[1])
	}
	return nil
}

// Stretch returns c with all output times multiplied by a positive factor.
func (c *Curve) Stretch(factor *big.Rat) *Curve {
	out := &Curve{make([]piece, len(c.pieces))}
	for i, p := range c.pieces {
		q := piece{begin: new(big.Rat).Mul(p.begin, factor), c: make([]*big.Rat, len(p.c))}
		if p.end != nil {
			q.end = new(big.Rat).Mul(p.end, factor)
		}
		power := big.NewRat(1, 1)
		for j, v := range p.c {
			q.c[j] = new(big.Rat).Quo(v, power)
			power = new(big.Rat).Mul(power, factor)
		}
		out.pieces[i] = q
	}
	return out
}

// Run is a longest part of a curve that never changes direction.
type Run struct {
	Begin, End *big.Rat // output times; End is nil where the curve has none
	From, To   *big.Rat // the source's moments there; To is nil with End
	Backward   bool
	pieces     []piece
}

// Runs cuts c where it turns, or jumps against its direction.
func (c *Curve) Runs() []Run {
	var runs []Run
	way := 0 // of the last run so far
	for i, p := range c.pieces {
		d := p.direction()
		turns := way != 0 && d != 0 && d != way
		if i > 0 {
			jump := p.c[0].Cmp(c.pieces[i-1].last())
			turns = turns || jump != 0 && (way == 0 && d != 0 && jump != d || way != 0 && jump != way)
			if way == 0 && jump != 0 && !turns {
				way = jump
			}
		}
		if i == 0 || turns {
			runs = append(runs, Run{Begin: p.begin, From: p.c[0]})
			way = 0
		}
		r := &runs[len(runs)-1]
		if way == 0 {
			way = d
		}
		r.Backward = way < 0
		r.pieces = append(r.pieces, p)
		if r.End = p.end; p.end != nil {
			r.To = p.last()
		}
	}
	return runs
}

// Mirror returns the run that plays a source whose time is negated: one that plays
// backward turns into one that plays forward.
func (r *Run) Mirror() Run {
	m := Run{Begin: r.Begin, End: r.End, From: new(big.Rat).Neg(r.From), Backward: !r.Backward}
	if r.To != nil {
		m.To = new(big.Rat).Neg(r.To)
	}
	for _, p := range r.pieces {
		q := piece{begin: p.begin, end: p.end, c: make([]*big.Rat, len(p.c))}
		for i, v := range p.c {
			q.c[i] = new(big.Rat).Neg(v)
		}
		m.pieces = append(m.pieces, q)
	}
	return m
}

// Source returns what is shown at a time of the output, as Curve.Source does.
func (r *Run) Source(output *big.Rat) *big.Rat { return (&Curve{r.pieces}).Source(output) }

// Tolerance is how far, in seconds, Output may be off on pieces that are not
// straight: 2^-40.
var Tolerance = big.NewRat(1, 1<<40)

// Output returns the first time in the run at which a moment of the source is
// shown, or passed over by a jump: its begin or end for moments before or behind
// it. Straight pieces are inverted exactly, others within Tolerance and never
// too late.
func (r *Run) Output(source *big.Rat) *big.Rat {
	passed := func(v *big.Rat) bool { // v lies at or behind source
		if r.Backward {
			return v.Cmp(source) <= 0
		}
		return v.Cmp(source) >= 0
	}
	for i := range r.pieces {
		p := &r.pieces[i]
		if passed(p.c[0]) {
			return new(big.Rat).Set(p.begin)
		}
		if p.end == nil || passed(p.last()) {
			return p.output(source, passed)
		}
	}
	return new(big.Rat).Set(r.End)
}

// output inverts p, which begins before source and reaches it.
func (p *piece) output(source *big.Rat, passed func(*big.Rat) bool) *big.Rat {
	if len(p.c) == 2 {
		x := new(big.Rat).Sub(source, p.c[0])
		return x.Add(x.Quo(x, p.c[1]), p.begin)
	}
	// Halving with denominators that are powers of two keeps the numbers short.
	low, length := new(big.Rat), roundUp(new(big.Rat).Sub(p.end, p.begin))
	for length.Cmp(Tolerance) > 0 {
		length = new(big.Rat).Quo(length, big.NewRat(2, 1))
		middle := new(big.Rat).Add(low, length)
		at := new(big.Rat).Add(p.begin, middle)
		if at.Cmp(p.end) < 0 && !passed(p.source(at)) {
			low = middle
		}
	}
	return low.Add(low, p.begin)
}

// roundUp returns v, positive, rounded up to whole seconds.
func roundUp(v *big.Rat) *big.Rat {
	n := new(big.Int).Add(v.Num(), v.Denom())
	n.Sub(n, big.NewInt(1))
	return new(big.Rat).SetInt(n.Div(n, v.Denom()))
}
