//go:build !noopencv

package opencv

import (
	"golang.org/x/sync/errgroup"

	"retime/flow"
	"retime/frame"
)

// Pair estimates the flow both ways between two pictures, with two estimators of one kind that run
// at once. Only one goroutine at a time may use a Pair.
type Pair struct{ forward, backward oneWay }

// oneWay estimates the flow from one picture to another.
type oneWay = flow.Estimator[frame.Image[uint8], *flow.Field]

// NewDISPair returns a Pair of DIS estimators, which the caller must close, or an error
// if opts are out of range.
func NewDISPair(opts DISOptions) (*Pair, error) {
	return newPair(func() (oneWay, error) { return NewDIS(opts) })
}

// NewFarnebackPair returns a Pair of Farneback estimators, which the caller must close,
// or an error if opts are out of range.
func NewFarnebackPair(opts FarnebackOptions) (*Pair, error) {
	return newPair(func() (oneWay, error) { return NewFarneback(opts) })
}

func newPair(open func() (oneWay, error)) (*Pair, error) {
	forward, err := open()
	if err != nil {
		return nil, err
	}
	backward, err := open()
	if err != nil {
		forward.Close()
		return nil, err
	}
	return &Pair{forward, backward}, nil
}

// Estimate sets forward to the flow from a to b, and backward to the flow from b to a.
// It takes the pictures that the two estimators take, reads them in place, and reuses
// the fields' memory; after an error the fields' contents are undefined.
func (p *Pair) Estimate(a, b frame.Image[uint8], forward, backward *flow.Field) error {
	var both errgroup.Group
	both.Go(func() error { return p.forward.Estimate(a, b, forward) })
	both.Go(func() error { return p.backward.Estimate(b, a, backward) })
	return both.Wait()
}

// Close frees the memory in OpenCV. Further calls have no effect.
func (p *Pair) Close() {
	p.forward.Close()
	p.backward.Close()
}
