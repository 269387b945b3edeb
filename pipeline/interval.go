package pipeline

import (
	"context"
	"math/big"

	"retime/frame"
	"retime/warp"
)

// picture is a source frame on its way. Its references are counted with the
// frame's own.
type picture struct {
	*frame.Frame
	view
	number int64    // from 0 at the first one read
	at     *big.Rat // on the source's clock
	shown  *big.Rat // when its last repeat was shown, nil where it has none
	lost   []lost   // pictures behind it that are made anew
	stands bool     // for the first of the lost ones, as none comes before them
	outer  [2]outer // before it and behind the next one, where some are lost between
	far    outer    // the next one inward, where some are lost beyond it at the clip's end
}

// Retain adds a reference to the frame and to what is kept of others with it.
func (p picture) Retain() {
	p.Frame.Retain()
	for _, l := range p.lost {
		l.retain()
	}
	for _, o := range p.outer {
		o.retain()
	}
	p.far.retain()
}

// Release drops the references that Retain adds.
func (p picture) Release() {
	p.Frame.Release()
	for _, l := range p.lost {
		l.release()
	}
	for _, o := range p.outer {
		o.release()
	}
	p.far.release()
}

// interval is the time between two source frames and what is shown in it.
type interval struct {
	a, b  picture // b is empty behind the last frame
	slots []slot
	// Set before ready is closed.
	flows  []warp.FlowPair
	outer  [2]*warp.Outer // a's and b's; nil for those that the neighbouring intervals tell of
	change change
	// continued is the motion beyond the clip's end; nil where that is not told.
	continued *continued
	err       error
	ready     chan struct{}
	hold      warp.Phase // how long the first picture stands where none is made
	gap       bool       // too long for motion to run through
	// Set by the synthesis.
	cut   bool
	scene int // of its first picture
}

func (v *interval) retain() {
	v.a.Retain()
	if v.b.Frame != nil {
		v.b.Retain()
	}
}

func (v *interval) release() {
	v.a.Release()
	if v.b.Frame != nil {
		v.b.Release()
	}
}

// makes says whether any frame of the interval must be made.
func (v *interval) makes() bool {
	for _, s := range v.slots {
		if s.phase != 0 || s.beyond != 0 {
			return true
		}
	}
	return false
}

// rest shows the first picture throughout.
func (v *interval) rest() {
	for i := range v.slots {
		v.slots[i].phase = 0
	}
}

// wait returns when v's flow is known or its estimation has failed.
func (v *interval) wait(ctx context.Context) error {
	select {
	case <-v.ready:
		return v.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// moves says whether v's flow was estimated and means something.
func (v *interval) moves() bool { return len(v.flows) > 0 && !v.cut }

// asLong says whether two intervals differ in length by no more than an eighth.
func asLong(a, b *interval) bool {
	x, y := a.length(), b.length()
	d := new(big.Rat).Sub(x, y)
	return d.Abs(d).Mul(d, big.NewRat(8, 1)).Cmp(y) <= 0
}

// span is the time of v in the source.
func (v *interval) span(backward bool) (from, to *big.Rat) {
	if backward {
		return new(big.Rat).Neg(v.b.at), new(big.Rat).Neg(v.a.at)
	}
	return v.a.at, v.b.at
}

func (v *interval) length() *big.Rat { return new(big.Rat).Sub(v.b.at, v.a.at) }
