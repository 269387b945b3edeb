// Package curve maps the time of an output to the time of its source. Its curves are
// exact: piecewise polynomials with rational coefficients. A Curve is immutable and may
// be asked for any output time in any order. All times are in seconds.
package curve

import (
	"math/big"
	"sort"
)

// Curve maps the output's time to the source's.
type Curve struct{ pieces []piece }

// piece is source = c[0] + c[1] x + c[2] x^2 + ..., with x = output - begin. It is
// monotone.
type piece struct {
	begin, end *big.Rat // end is nil if the piece never ends, in the last piece only
	c          []*big.Rat
}

// Constant returns a curve without an end that plays the source from the time from on,
// slow times as long as it lasts.
func Constant(from, slow *big.Rat) *Curve {
	return &Curve{[]piece{{begin: new(big.Rat), c: []*big.Rat{from, new(big.Rat).Inv(slow)}}}}
}

// Duration returns the length of the output; nil if the curve has no end.
func (c *Curve) Duration() *big.Rat { return c.pieces[len(c.pieces)-1].end }

// Source returns the source time that an output time shows. The first and the last
// piece go on before the curve's begin and after its end.
func (c *Curve) Source(output *big.Rat) *big.Rat { return c.at(output).source(output) }

// at returns the piece that contains output: the later of two that meet there.
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

// last returns the source time at which p ends.
func (p *piece) last() *big.Rat { return p.source(p.end) }

// direction returns 1 if p plays forward, -1 if backward, and 0 if p stands still.
func (p *piece) direction() int {
	if p.end == nil {
		return p.c[1].Sign()
	}
	return p.last().Cmp(p.c[0])
}

// Line returns the slow-down of a curve that Constant made, nil for any other curve.
func (c *Curve) Line() (slow *big.Rat) {
	if p := c.pieces[0]; len(c.pieces) == 1 && p.end == nil {
		return new(big.Rat).Inv(p.c[1])
	}
	return nil
}

// Stretch returns c with every output time multiplied by factor, which is above 0.
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

// Run is a part of a curve that keeps one direction, as long as possible.
type Run struct {
	Begin, End *big.Rat // output times; End is nil if the curve has no end
	From, To   *big.Rat // the source times at Begin and End; To is nil if End is
	Backward   bool
	pieces     []piece
}

// Runs cuts c at the times at which it turns, or jumps against its direction.
func (c *Curve) Runs() []Run {
	var runs []Run
	way := 0 // direction of the last run so far
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

// Stretches cuts r at its jumps. It returns r's pieces in the order in which they play.
func (r *Run) Stretches() []Run {
	var list []Run
	for i, p := range r.pieces {
		if i == 0 || p.c[0].Cmp(r.pieces[i-1].last()) != 0 {
			list = append(list, Run{Begin: p.begin, From: p.c[0], Backward: r.Backward})
		}
		s := &list[len(list)-1]
		s.pieces = append(s.pieces, p)
		if s.End = p.end; p.end != nil {
			s.To = p.last()
		}
	}
	return list
}

// Mirror returns the run for a source whose time is negated; a run that plays backward
// becomes one that plays forward.
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

// Source returns the source time that an output time shows, as Curve.Source does.
func (r *Run) Source(output *big.Rat) *big.Rat { return (&Curve{r.pieces}).Source(output) }

// Tolerance is the largest error, in seconds, of Run.Output on pieces that are not
// straight: 2^-40.
var Tolerance = big.NewRat(1, 1<<40)

// Output returns the first time in the run at which the source time source is shown, or
// passed by a jump. For a source time before or after the run, it returns the run's
// begin or end. It inverts straight pieces exactly, other pieces within Tolerance and
// never too late.
func (r *Run) Output(source *big.Rat) *big.Rat {
	passed := func(v *big.Rat) bool { // v lies at or after source
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

// output inverts p, which begins before source and reaches source.
func (p *piece) output(source *big.Rat, passed func(*big.Rat) bool) *big.Rat {
	if len(p.c) == 2 {
		x := new(big.Rat).Sub(source, p.c[0])
		return x.Add(x.Quo(x, p.c[1]), p.begin)
	}
	// Halving with powers of two as denominators keeps the numbers short.
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

// roundUp rounds v, which is positive, up to whole seconds.
func roundUp(v *big.Rat) *big.Rat {
	n := new(big.Int).Add(v.Num(), v.Denom())
	n.Sub(n, big.NewInt(1))
	return new(big.Rat).SetInt(n.Div(n, v.Denom()))
}
