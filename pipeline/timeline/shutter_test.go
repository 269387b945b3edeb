package timeline

import (
	"math/big"
	"testing"

	"retime/pipeline/timeline/curve"
)

// A shutter opens by its phase after the frame's time, and its moments lie evenly within its angle;
// without a phase, the frame's time is the middle.
func TestShutterPhase(t *testing.T) {
	for _, c := range []struct {
		open, phase *big.Rat
		samples     int64
		first, last *big.Rat // moments of frame 10, in frames
		each        int64
	}{
		{big.NewRat(1, 2), nil, 0, big.NewRat(313, 32), big.NewRat(327, 32), 8},
		{big.NewRat(1, 2), big.NewRat(0, 1), 4, big.NewRat(161, 16), big.NewRat(167, 16), 4},
		{big.NewRat(1, 2), big.NewRat(-1, 4), 4, big.NewRat(157, 16), big.NewRat(163, 16), 4},
		{big.NewRat(1, 1), big.NewRat(-1, 1), 2, big.NewRat(37, 4), big.NewRat(39, 4), 2},
		{big.NewRat(1, 1), big.NewRat(1, 1), 2, big.NewRat(45, 4), big.NewRat(47, 4), 2},
	} {
		e := exposedAt(t, Shutter{c.open, c.phase, c.samples})
		if e.Subframes() != c.each {
			t.Errorf("%v: %d subframes, want %d", c.phase, e.Subframes(), c.each)
			continue
		}
		if m := e.Middle(10); c.phase == nil && m.Cmp(big.NewRat(10, 1)) != 0 {
			t.Errorf("without a phase: middle %s", m.RatString())
		}
		first, last := e.Moment(10*c.each), e.Moment(11*c.each-1)
		if first.Cmp(c.first) != 0 || last.Cmp(c.last) != 0 {
			t.Errorf("phase %v: moments %s to %s, want %s to %s", c.phase, first.RatString(), last.RatString(), c.first.RatString(), c.last.RatString())
		}
		for k := range 60 * c.each { // FirstFrom inverts Moment
			if m := e.Moment(k); e.FirstFrom(m) > k || k > 2*c.each && e.FirstFrom(new(big.Rat).Add(m, big.NewRat(1, 1000))) != k+1 {
				t.Fatalf("phase %v: subframe %d: first from %d", c.phase, k, e.FirstFrom(m))
			}
		}
	}
}

func exposedAt(t *testing.T, s Shutter) *Exposed {
	t.Helper()
	v := Video{TimeBase: big.NewRat(1, 1), Start: new(big.Rat), Rate: big.NewRat(1, 1)}
	p := Plan{Clock: NewClock(v), Rate: big.NewRat(1, 1), Curve: curve.Constant(new(big.Rat), big.NewRat(1, 1))}
	p.Lay(Spacing{Origin: new(big.Rat), Shutter: s, Source: big.NewRat(1, 1), TimeBase: v.TimeBase})
	e, ok := p.Passes[0].Layout.(*Exposed)
	if !ok {
		t.Fatalf("%T", p.Passes[0].Layout)
	}
	return e
}
