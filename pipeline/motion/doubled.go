package motion

import (
	"fmt"

	"retime/flow"
	"retime/flow/opencv"
	"retime/frame"
	"retime/warp"
)

// doubled makes two estimates that differ in their faults, both started from what block
// matching finds where a flow of halved guides fits badly.
type doubled struct {
	plain         plain
	first, second started
	matcher       flow.Matcher
	coarse        warp.FlowPair // of the halved guides
	along         warp.FlowPair // the same for the guides
	found         warp.FlowPair
	method        string
}

func newDoubled(p Params, plain plain) (*doubled, error) {
	first, second := p.Preset.dis(), p.Preset.secondDIS()
	d := &doubled{
		plain: plain, matcher: flow.Matcher{Workers: p.Workers},
		method: fmt.Sprintf("%s, started dis %+v and %+v", plain.method, first, second),
	}
	var err error
	if d.first, err = newStarted(first); err != nil {
		return nil, err
	}
	if d.second, err = newStarted(second); err != nil {
		d.first.close()
		return nil, err
	}
	return d, nil
}

func (d *doubled) name() string { return d.method }
func (d *doubled) count() int   { return 2 }

// estimate starts the first estimate from no motion and the second from the coarse flow
// where no block was found.
func (d *doubled) estimate(from, to Guide, dst []warp.FlowPair) error {
	a, b, ha, hb := from.picture(), to.picture(), from.half(), to.half()
	if err := d.plain.pair(ha, hb, &d.coarse); err != nil {
		return err
	}
	flow.Double(&d.along.Forward, d.coarse.Forward, a.Width, a.Height)
	flow.Double(&d.along.Backward, d.coarse.Backward, a.Width, a.Height)
	found := &d.found
	err := d.matcher.Suggest(ha, hb, d.along.Forward, d.along.Backward, &found.Forward, &found.Backward)
	if err != nil {
		return err
	}
	if err := d.first.estimate(a, b, found, &dst[0]); err != nil {
		return err
	}
	found.Forward.Underlay(d.along.Forward)
	found.Backward.Underlay(d.along.Backward)
	return d.second.estimate(a, b, found, &dst[1])
}

func (d *doubled) close() {
	d.plain.close()
	d.first.close()
	d.second.close()
}

// started is two estimators, one for either direction, that also try the vectors of an
// initial flow.
type started struct{ forward, backward *opencv.DIS }

func newStarted(o opencv.DISOptions) (started, error) {
	forward, err := opencv.NewDIS(o)
	if err != nil {
		return started{}, err
	}
	backward, err := opencv.NewDIS(o)
	if err != nil {
		forward.Close()
		return started{}, err
	}
	return started{forward, backward}, nil
}

// estimate sets dst to the flows between a and b.
func (p started) estimate(a, b frame.Image[uint8], from, dst *warp.FlowPair) error {
	return together(
		func() error { return p.forward.EstimateFrom(a, b, from.Forward, &dst.Forward) },
		func() error { return p.backward.EstimateFrom(b, a, from.Backward, &dst.Backward) },
	)
}

func (p started) close() {
	p.forward.Close()
	p.backward.Close()
}
