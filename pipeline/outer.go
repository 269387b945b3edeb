package pipeline

import (
	"context"
	"math/big"

	"retime/frame"
	"retime/warp"
)

// outer is a picture beyond an interval in which frames were lost, for its motion
// only; empty for none.
type outer struct {
	*frame.Frame
	view
	number int64
	at     *big.Rat
	span   warp.Phase // of the interval's length, that it is off
}

func (o outer) retain() {
	if o.Frame != nil {
		o.Retain()
	}
}

func (o outer) release() {
	if o.Frame != nil {
		o.Release()
	}
}

// lookAround passes pictures on. Those behind which frames were lost it gives their
// outer pictures: the motion right before the gap and right behind it tells how it
// went on in there.
func (c *conversion) lookAround(ctx context.Context, from <-chan picture, to chan<- picture) error {
	defer close(to)
	var before outer
	var ahead []picture // from the one to be passed on
	defer func() {
		before.release()
		for _, p := range ahead {
			p.Release()
		}
	}()
	pass := func() error {
		p := ahead[0]
		ahead = ahead[1:]
		switch {
		case len(p.lost) == 0:
		case p.stands && len(ahead) > 1:
			p.far = beyond(ahead[1])
		case len(ahead) == 0:
			before.retain()
			p.far = before
		case c.o.params().Acceleration:
			p.surround(before, ahead)
		}
		if !p.stands {
			before.release()
			before = beyond(p)
		}
		err := send(ctx, to, p)
		if err != nil {
			p.Release()
		}
		return err
	}
	for p := range from {
		ahead = append(ahead, p)
		for len(ahead) > 2 || len(ahead) > 0 && len(ahead[0].lost) == 0 {
			if err := pass(); err != nil {
				return err
			}
		}
	}
	for len(ahead) > 0 {
		if err := pass(); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// beyond is p as an outer picture, with a reference of its own.
func beyond(p picture) outer {
	return outer{Frame: p.Frame.Retain(), view: p.view, number: p.number, at: p.at}
}

// surround gives p its outer pictures, if both are there and no further off than the
// next one.
func (p *picture) surround(before outer, ahead []picture) {
	if p.stands || before.Frame == nil || len(ahead) < 2 {
		return
	}
	length := new(big.Rat).Sub(ahead[0].at, p.at)
	off := [2]*big.Rat{new(big.Rat).Sub(p.at, before.at), new(big.Rat).Sub(ahead[1].at, ahead[0].at)}
	for _, d := range off {
		if d.Cmp(length) > 0 {
			return
		}
	}
	before.retain()
	p.outer = [2]outer{before, beyond(ahead[1])}
	for i, d := range off {
		p.outer[i].span = quantise(d.Quo(d, length))
	}
}

// farthest is how far motion is continued beyond a clip's ends, in distances of the
// two pictures that it is taken from; there it stops.
const farthest = 2 * warp.PhaseOne

// beyond is how far a moment lies off the picture near, in distances from the picture
// near to o.
func (o outer) beyond(near, at *big.Rat) warp.Phase {
	length := new(big.Rat).Sub(o.at, near)
	d := new(big.Rat).Sub(near, at)
	d.Mul(d.Quo(d, length), big.NewRat(warp.PhaseOne, 1))
	return warp.Phase(min(max(ceil(d), 0), farthest))
}

// continued is the motion from the picture at a clip's end to the next one, along which
// others are made beyond the end.
type continued struct {
	warp.FlowPair // from the end, and back
	change        change
	residual      float64 // grey levels
}

// confidence in the frame that lies so far beyond the end.
func (m *continued) confidence(beyond warp.Phase) float64 {
	c := confidence(warp.Made{Residual: m.residual}, m.change)
	return c / (1 + float64(beyond)/warp.PhaseOne)
}

// estimateContinued sets the motion that is continued beyond v's end, unless it cannot
// be told.
func (e *estimators) estimateContinued(v *interval, threshold float64) error {
	near, far := v.a.guide(), v.a.far.guide()
	flows := make([]warp.FlowPair, 1)
	if err := e.estimatePlain(v.a.view, v.a.far.view, flows); err != nil {
		return err
	}
	m := &continued{FlowPair: flows[0]}
	m.change = measureChange(near, far, m.FlowPair)
	m.residual = warp.MeanError(e.workers, near, far, m.Forward)
	if m.change.cutScore() < threshold && confidence(warp.Made{Residual: m.residual}, m.change) >= DefaultBlendBelow {
		v.continued = m
	}
	return nil
}

// extrapolate returns the frame of slot s beyond the clip's end.
func (c *conversion) extrapolate(t *task, s slot) (output, error) {
	defer c.times.synthesis.start()()
	v := t.interval
	f, err := c.sink.NewFrame(v.a.Frame)
	if err != nil {
		return output{}, err
	}
	warp.Extrapolate(c.o.workers(), f, v.a.Frame, v.continued.Forward, c.level, s.beyond)
	r := v.record(s, c.plan.shown(s), FromSource, warp.Made{})
	r.Method, r.Confidence = Extrapolated, rounded(v.continued.confidence(s.beyond))
	r.Error, r.Lost = rounded(v.continued.residual), rounded(100*v.continued.change.lost)
	k := float64(s.beyond) / warp.PhaseOne
	if v.a.stands {
		r.Sources, r.Phase = []int64{v.a.number, v.a.far.number}, rounded(-k)
	} else {
		r.Sources, r.Phase = []int64{v.a.far.number, v.a.number}, rounded(1+k)
	}
	return ready(f, r), nil
}
