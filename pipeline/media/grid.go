package media

import (
	"math/big"
	"slices"

	"retime/pipeline/timeline"
	"retime/pipeline/timeline/rational"
)

// The tolerance is an eighth of a frame, which is 4 ms at 30 frames per second; the clips of phones at
// hand jitter by up to 0.2 ms. Where frames are so short that rounding to
// milliseconds is more, it is 2 ms, but never more than a quarter of a frame.
const (
	toleranceShare = 8
	leastTolerance = 2 // ms
	mostShare      = 4
)

// known are the rates in use, those in general use first.
var known = func() (list []*big.Rat) {
	for _, r := range []int64{24, 30, 60, 48, 120, 240} {
		list = append(list, big.NewRat(r, 1), big.NewRat(r*1000, 1001))
	}
	for _, r := range []int64{25, 50, 100, 12, 15, 90, 144} {
		list = append(list, big.NewRat(r, 1))
	}
	return list
}()

// fraction is the precision of places, per tick.
const fraction = 1 << 20

// line fits times to an even spacing.
type line struct {
	times  []int64 // ascending, from 0
	places []int64 // on the grid, ascending, from 0
	base   *big.Rat
}

// regular says what the timestamps of a video, which ascend, say of the rate at which it was
// shot, given the rates that its container states.
type regular struct {
	rate   *big.Rat       // in frames per second; nil if they are not regular
	steady bool           // no place of the grid is left out
	grid   *timeline.Grid // nil if they are not regular, or frames too short to tell a grid from rounding
}

// regularity examines times, in units of base seconds. stated are the rates that the container
// states, the likeliest first; unknown ones are nil.
func regularity(times []int64, base *big.Rat, stated ...*big.Rat) regular {
	if len(times) < 3 || base == nil {
		return regular{}
	}
	for _, rate := range stated {
		if rate == nil {
			continue
		}
		if r, ok := rounded(times, base, rate); ok {
			return r
		}
	}
	from := 0
	if len(times) > 3 { // the first picture may be lengthened
		from = 1
	}
	l, ok := newLine(times[from:], base)
	if !ok {
		return regular{}
	}
	r := l.regular(stated)
	if r.grid == nil || !begin(r.grid, times, base, from) {
		return regular{}
	}
	if even, ok := rounded(times, base, r.rate); ok {
		return even
	}
	return r
}

// rounded returns what times say that are those of rate, but for the container's rounding. It
// reports false if they are not, or drift away from it.
func rounded(times []int64, base, rate *big.Rat) (regular, bool) {
	steady, ok := exact(times, base, rate)
	if !ok {
		return regular{}, false
	}
	grid := timeline.RoundedGrid(rate, base, new(big.Rat).Mul(base, big.NewRat(times[0], 1)))
	if l, ok := newLine(times, base); ok && grid != nil && l.drifts(rate) {
		return regular{}, false
	}
	return regular{rate: rate, steady: steady, grid: grid}, true
}

// exact reports whether all times lie within a tick of the grid of rate through the first, and
// most distances are one frame of it. steady is set if all are.
func exact(times []int64, base, rate *big.Rat) (steady, ok bool) {
	period := new(big.Rat).Inv(new(big.Rat).Mul(rate, base)) // in ticks
	num, den := period.Num(), period.Denom()
	if !num.IsInt64() || !den.IsInt64() || num.Int64() <= 0 || num.Int64() >= 1<<40 || den.Int64() >= 1<<20 {
		return false, false
	}
	n, d := num.Int64(), den.Int64()
	if times[len(times)-1]-times[0] >= 1<<41 {
		return false, false
	}
	steady = true
	last, ones := int64(0), 0
	for _, t := range times[1:] {
		at := (t - times[0]) * d
		k := (2*at + n) / (2 * n)
		if off := at - k*n; off > d || off < -d || k <= last {
			return false, false
		}
		if k == last+1 {
			ones++
		} else {
			steady = false
		}
		last = k
	}
	return steady, 2*ones > len(times)-1
}

// newLine numbers the places of times. It reports false if the distances are no small
// multiples of the usual one, or if fewer than three quarters are the usual one.
func newLine(times []int64, base *big.Rat) (l line, ok bool) {
	begin := times[0]
	if times[len(times)-1]-begin >= 1<<41 {
		return l, false
	}
	l.base = base
	distances := make([]int64, len(times)-1)
	for i := range distances {
		distances[i] = times[i+1] - times[i]
	}
	usual := slices.Sorted(slices.Values(distances))[len(distances)/2]
	var ticks, frames int64
	for _, d := range distances {
		if k := (2*d + usual) / (2 * usual); k >= 1 && k <= 8 {
			ticks, frames = ticks+d, frames+k
		}
	}
	l.times, l.places = []int64{0}, []int64{0}
	ones, place := 0, int64(0)
	for i, d := range distances {
		k := (2*d*frames + ticks) / (2 * ticks)
		if k < 1 {
			return l, false
		}
		if k == 1 {
			ones++
		}
		place += k
		l.times, l.places = append(l.times, times[i+1]-begin), append(l.places, place)
	}
	return l, 4*ones >= 3*len(distances) && place < 1<<31
}

// period is the distance between places that fits best, by least squares, in ticks.
func (l *line) period() *big.Rat {
	n := int64(len(l.times))
	sk, st, skk, skt := new(big.Int), new(big.Int), new(big.Int), new(big.Int)
	for i, t := range l.times {
		k, at := big.NewInt(l.places[i]), big.NewInt(t)
		sk.Add(sk, k)
		st.Add(st, at)
		skk.Add(skk, new(big.Int).Mul(k, k))
		skt.Add(skt, at.Mul(at, k))
	}
	count := big.NewInt(n)
	num := new(big.Int).Sub(skt.Mul(skt, count), st.Mul(st, sk))
	den := new(big.Int).Sub(skk.Mul(skk, count), sk.Mul(sk, sk))
	return new(big.Rat).SetFrac(num, den)
}

// residuals returns how far the times lie from places at multiples of a period, sorted, in
// fractions of a tick.
func (l *line) residuals(period *big.Rat) []int64 {
	p := rational.Nearest(new(big.Rat).Mul(period, big.NewRat(fraction, 1)))
	list := make([]int64, len(l.times))
	for i, t := range l.times {
		list[i] = t*fraction - l.places[i]*p
	}
	slices.Sort(list)
	return list
}

// spread is the distance between the least and the largest of residuals, without the
// hundredth part at either end.
func spread(residuals []int64) int64 {
	n := len(residuals)
	cut := n / 100
	return residuals[n-1-cut] - residuals[cut]
}

// drifts reports whether the times move away from the grid of rate by more than their jitter explains:
// by eight standard deviations of what n times, spread evenly over their jitter, would seem to.
func (l *line) drifts(rate *big.Rat) bool {
	period := l.period()
	jitter := big.NewRat(max(spread(l.residuals(period)), fraction), fraction)
	n := big.NewRat(int64(len(l.times)), 1)
	off := period.Sub(period, new(big.Rat).Inv(new(big.Rat).Mul(rate, l.base)))
	off.Mul(off, big.NewRat(l.places[len(l.places)-1], 1))
	return n.Mul(n, off.Mul(off, off)).Cmp(jitter.Mul(big.NewRat(64, 1), jitter.Mul(jitter, jitter))) > 0
}

// regular chooses the rate, and returns no grid if the times lie on none.
func (l *line) regular(stated []*big.Rat) regular {
	period := l.period()
	if period.Sign() <= 0 {
		return regular{}
	}
	mean := new(big.Rat).Inv(new(big.Rat).Mul(period, l.base))
	rate := l.nominal(period, mean, stated)
	g := &timeline.Grid{Rate: rate, Mean: rate}
	if nearest := nearestKnown(mean); rate == nil && nearest != nil {
		g.Rate, g.Mean = nearest, measured(mean)
	} else if rate == nil {
		g.Rate = measured(mean)
		g.Mean = g.Rate
	} else if l.drifts(rate) {
		g.Mean = measured(mean)
	}
	ticks := new(big.Rat).Inv(new(big.Rat).Mul(g.Mean, l.base))
	g.Tolerance = tolerance(g.Rate, l.base)
	limit := rational.Nearest(new(big.Rat).Mul(new(big.Rat).Quo(g.Tolerance, l.base), big.NewRat(fraction, 1)))
	all := l.residuals(ticks)
	middle := all[len(all)/2]
	outside, jitter := 0, int64(0)
	for _, r := range all {
		if off := max(r-middle, middle-r); off > limit {
			outside++
		} else {
			jitter = max(jitter, off)
		}
	}
	if 50*outside > len(all) {
		return regular{}
	}
	seconds := func(v int64) *big.Rat { return new(big.Rat).Mul(big.NewRat(v, fraction), l.base) }
	g.Middle, g.Jitter = seconds(middle), seconds(jitter)
	return regular{rate: g.Rate, steady: l.places[len(l.places)-1] == int64(len(l.places)-1), grid: g}
}

// nominal returns the first of the likely rates that fit the times about as well as the best
// one; nil if none does.
func (l *line) nominal(period, mean *big.Rat, stated []*big.Rat) *big.Rat {
	best := spread(l.residuals(period))
	fits := func(rate *big.Rat) bool {
		return rate != nil && rate.Sign() > 0 && distance(rate, mean).Cmp(big.NewRat(1, 20)) <= 0 &&
			spread(l.residuals(new(big.Rat).Inv(new(big.Rat).Mul(rate, l.base)))) <= best+best/4+fraction
	}
	for _, r := range stated {
		if r != nil && isKnown(r) && fits(r) {
			return r
		}
	}
	if r := nearestKnown(mean); r != nil && fits(r) {
		return r
	}
	whole := big.NewRat(rational.Nearest(mean), 1)
	if fits(whole) {
		return whole
	}
	if nearestKnown(mean) != nil {
		return nil // the camera's clock is a little off
	}
	ticks := big.NewRat(max(rational.Nearest(period), 1), 1)
	if r := ticks.Inv(ticks.Mul(ticks, l.base)); fits(r) {
		return r
	}
	for _, r := range stated {
		if fits(r) {
			return r
		}
	}
	return nil
}

// isKnown reports whether a rate is in use: whole, half of a whole one, or one of NTSC's.
func isKnown(r *big.Rat) bool {
	return r.IsInt() || new(big.Rat).Add(r, r).IsInt() || slices.ContainsFunc(known, func(k *big.Rat) bool { return k.Cmp(r) == 0 })
}

// nearestKnown returns the rate in use that is nearest to a measured one, if that is within what
// the clocks of cameras are off; nil if there is none.
func nearestKnown(mean *big.Rat) (best *big.Rat) {
	limit := big.NewRat(1, 2001) // half of what separates NTSC's rates from whole ones
	for _, r := range known {
		if off := distance(r, mean); off.Cmp(limit) < 0 {
			best, limit = r, off
		}
	}
	return best
}

// distance is how far b is off a, as a share of a.
func distance(a, b *big.Rat) *big.Rat {
	d := new(big.Rat).Sub(a, b)
	return d.Quo(d.Abs(d), a)
}

// measured returns a measured rate with the digits that a measurement has.
func measured(rate *big.Rat) *big.Rat {
	const digits = 1_000_000
	return big.NewRat(max(rational.Nearest(new(big.Rat).Mul(rate, big.NewRat(digits, 1))), 1), digits)
}

// tolerance returns that of a grid, in seconds, for timestamps in units of base.
func tolerance(rate, base *big.Rat) *big.Rat {
	share := func(n int64) *big.Rat { return new(big.Rat).Inv(new(big.Rat).Mul(rate, big.NewRat(n, 1))) }
	t, least, most := share(toleranceShare), big.NewRat(leastTolerance, 1000), share(mostShare)
	if least.Cmp(most) > 0 {
		least = most
	}
	for _, other := range []*big.Rat{least, base} {
		if other.Cmp(t) > 0 {
			t = other
		}
	}
	return t
}

// begin sets where the grid begins: its Middle counts from times[from] so far. It reports false if
// the first picture lies on no place, and too late to be moved to one.
func begin(g *timeline.Grid, times []int64, base *big.Rat, from int) bool {
	at := func(t int64) *big.Rat { return new(big.Rat).Mul(base, big.NewRat(t, 1)) }
	g.First = at(times[0])
	if from == 0 {
		return true
	}
	length := at(times[from] - times[0])
	period := new(big.Rat).Inv(g.Mean)
	frames := new(big.Rat).Quo(new(big.Rat).Add(length, g.Middle), period)
	k := rational.Nearest(frames)
	// How far the first lies after its place in the middle of the jitter.
	off := new(big.Rat).Sub(new(big.Rat).Mul(period, big.NewRat(k, 1)), new(big.Rat).Add(length, g.Middle))
	if k >= 1 && new(big.Rat).Abs(off).Cmp(g.Tolerance) <= 0 {
		g.Middle = off.Neg(off)
		return true
	}
	if k = rational.Floor(frames); k < 1 {
		return false
	}
	g.First = at(times[from])
	g.First.Sub(g.First, new(big.Rat).Quo(big.NewRat(k, 1), g.Rate))
	return true
}

// denser returns the grid of so many times the pictures.
func denser(g *timeline.Grid, n *big.Rat) *timeline.Grid {
	if g == nil {
		return nil
	}
	more := *g
	more.Rate, more.Mean = new(big.Rat).Mul(g.Rate, n), new(big.Rat).Mul(g.Mean, n)
	return &more
}
