package curve

import (
	"errors"
	"fmt"
	"math/big"
)

// Shape names the way of a curve from one keyframe to the next.
type Shape string

// These are the shapes of a curve between keyframes.
const (
	// Linear moves at one speed between output times; between two speeds, it changes
	// the speed evenly.
	Linear Shape = "linear"
	// Smooth joins output times by monotone cubics; between two speeds, it begins and
	// ends the change gently.
	Smooth Shape = "smooth"
	// Hold stands still until the next output time, or keeps the speed until the
	// next keyframe.
	Hold Shape = "hold"
)

// Keyframe ties a source time to an output time, or to a speed there: 1 for the speed
// of recording, below 0 for backward. All keyframes of a curve set Output, or all set
// Speed.
type Keyframe struct {
	Source        *big.Rat
	Output, Speed *big.Rat
	Shape         Shape // from this keyframe to the next
}

// MaxKeyframes bounds a curve, because the exact numbers grow with the count of
// keyframes.
const MaxKeyframes = 256

// New joins 2 to MaxKeyframes keyframes in the order of the output. It returns an error
// that names the keyframe if keys make no curve.
func New(keys []Keyframe) (*Curve, error) {
	switch {
	case len(keys) < 2:
		return nil, fmt.Errorf("%d keyframes: want at least two", len(keys))
	case len(keys) > MaxKeyframes:
		return nil, fmt.Errorf("%d keyframes: want at most %d", len(keys), MaxKeyframes)
	}
	timed := keys[0].Output != nil
	for i, k := range keys {
		switch {
		case k.Source == nil || (k.Output == nil) == (k.Speed == nil) || (k.Output != nil) != timed:
			return nil, fmt.Errorf("keyframe %d: want a time of the source and either an output time or a speed, as in all others", i+1)
		case k.Source.Sign() < 0:
			return nil, fmt.Errorf("keyframe %d: the source's times begin at 0", i+1)
		case k.Shape != Linear && k.Shape != Smooth && k.Shape != Hold:
			return nil, fmt.Errorf("keyframe %d: shape %q: choose from %s, %s, %s", i+1, k.Shape, Linear, Smooth, Hold)
		case timed && i == 0 && k.Output.Sign() != 0:
			return nil, errors.New("keyframe 1: output times begin at 0")
		case timed && i > 0 && k.Output.Cmp(keys[i-1].Output) <= 0: // a tangent looks ahead
			return nil, fmt.Errorf("keyframe %d: output times must rise", i+1)
		}
	}
	if timed {
		return fromTimes(keys), nil
	}
	return fromSpeeds(keys)
}

// fromTimes joins keyframes that have output times, which rise.
func fromTimes(keys []Keyframe) *Curve {
	c := &Curve{}
	for i := range keys[1:] {
		a, b := &keys[i], &keys[i+1]
		d := new(big.Rat).Sub(b.Output, a.Output)
		p := piece{begin: a.Output, end: b.Output}
		switch s := secant(keys, i); a.Shape {
		case Linear:
			p.c = []*big.Rat{a.Source, s}
		case Hold:
			p.c = []*big.Rat{a.Source, new(big.Rat)}
		case Smooth:
			p.c = hermite(a.Source, s, tangent(keys, i, i), tangent(keys, i+1, i), d)
		}
		c.pieces = append(c.pieces, p)
	}
	return c
}

// secant returns the mean speed from keyframe i to the next, 0 on a hold.
func secant(keys []Keyframe, i int) *big.Rat {
	if keys[i].Shape == Hold {
		return new(big.Rat)
	}
	s := new(big.Rat).Sub(keys[i+1].Source, keys[i].Source)
	return s.Quo(s, new(big.Rat).Sub(keys[i+1].Output, keys[i].Output))
}

// tangent returns the speed at keyframe i on the side of interval own, which is smooth.
// It is the mean of the secants on both sides or, if the neighbour is not smooth, the
// neighbour's secant. It is at most three times either secant, so that the cubic is
// rational and stays within the square of Fritsch and Carlson, "Monotone Piecewise
// Cubic Interpolation", SIAM J. Numer. Anal. 17 (1980), section 3.
func tangent(keys []Keyframe, i, own int) *big.Rat {
	s := secant(keys, own)
	other := i - 1
	if own == i-1 {
		other = i
	}
	if other < 0 || other >= len(keys)-1 {
		return s
	}
	o := secant(keys, other)
	if s.Sign()*o.Sign() <= 0 {
		return new(big.Rat)
	}
	t := o
	if keys[other].Shape == Smooth {
		t = new(big.Rat).Add(s, o)
		t.Quo(t, big.NewRat(2, 1))
		t = nearer(t, new(big.Rat).Mul(o, big.NewRat(3, 1)))
	}
	return nearer(t, new(big.Rat).Mul(s, big.NewRat(3, 1)))
}

// nearer returns the one of two numbers of equal sign that is nearer to 0.
func nearer(a, b *big.Rat) *big.Rat {
	if new(big.Rat).Abs(a).Cmp(new(big.Rat).Abs(b)) <= 0 {
		return a
	}
	return b
}

// hermite returns the cubic from y, of mean speed s and of speeds m0 and m1 at its
// ends, over a length d.
func hermite(y, s, m0, m1, d *big.Rat) []*big.Rat {
	// c2 = (3s - 2m0 - m1) / d, c3 = (m0 + m1 - 2s) / d^2.
	times := func(n int64, v *big.Rat) *big.Rat { return new(big.Rat).Mul(big.NewRat(n, 1), v) }
	c2 := new(big.Rat).Sub(times(3, s), times(2, m0))
	c2.Quo(c2.Sub(c2, m1), d)
	c3 := new(big.Rat).Add(m0, m1)
	c3.Quo(c3.Quo(c3.Sub(c3, times(2, s)), d), d)
	return []*big.Rat{y, m0, c2, c3}
}

// fromSpeeds joins keyframes that have speeds. A speed changes over the output's time,
// so that the interval between two keyframes plays at the mean of their speeds.
func fromSpeeds(keys []Keyframe) (*Curve, error) {
	c := &Curve{}
	begin := new(big.Rat)
	for i := range keys[1:] {
		a, b := &keys[i], &keys[i+1]
		mean, change := new(big.Rat).Add(a.Speed, b.Speed), new(big.Rat).Sub(b.Speed, a.Speed)
		mean.Quo(mean, big.NewRat(2, 1))
		if a.Shape == Hold {
			mean, change = a.Speed, new(big.Rat)
		}
		length := new(big.Rat).Sub(b.Source, a.Source)
		way := length.Sign()
		switch {
		case way == 0:
			return nil, fmt.Errorf("keyframe %d: the source's time must change between speeds; to stand still, give output times", i+2)
		case mean.Sign() == 0:
			return nil, fmt.Errorf("keyframe %d: at speed 0 the next keyframe is never reached", i+1)
		case a.Speed.Sign()*way < 0 || a.Shape != Hold && b.Speed.Sign()*way < 0:
			return nil, fmt.Errorf("keyframe %d: its speed leads away from the next; go through a keyframe of speed 0 where the direction turns", i+1)
		}
		d := length.Quo(length, mean)
		p := piece{begin: begin, end: new(big.Rat).Add(begin, d)}
		switch {
		case change.Sign() == 0:
			p.c = []*big.Rat{a.Source, a.Speed}
		case a.Shape == Linear: // speed = a + change x/d
			p.c = []*big.Rat{a.Source, a.Speed, change.Quo(change, new(big.Rat).Add(d, d))}
		default: // speed = a + change (3 (x/d)^2 - 2 (x/d)^3)
			c3 := new(big.Rat).Quo(change, d)
			c3.Quo(c3, d)
			c4 := new(big.Rat).Quo(c3, new(big.Rat).Add(d, d))
			p.c = []*big.Rat{a.Source, a.Speed, new(big.Rat), c3, c4.Neg(c4)}
		}
		c.pieces = append(c.pieces, p)
		begin = p.end
	}
	return c, nil
}
