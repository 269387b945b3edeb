//go:build !noopencv

package opencv

import (
	"golang.org/x/sync/errgroup"

	"retime/flow"
	"retime/frame"
)

// Pair estimates the flow both ways between two pictures, with two estimators of one kind that run
// at once. Only one goroutine at a time may use a Pair.
type Pair struct {
	forward, backward oneWay
	name              string
}

// oneWay estimates the flow from one picture to another: 8-bit luma pictures of one size, from 1x1 up to
// 32766 pixels in a side. It reads them in place and reuses the field's memory; after an error the field's contents
// are undefined.
type oneWay = flow.Estimator[frame.Image[uint8], *flow.Field]

// NewPair returns the Pair of a method, "farneback" or else DIS, which the caller must close.
func NewPair(method string) (*Pair, error) {
	open := newDIS
	if method == "farneback" {
		open = newFarneback
	}
	forward, err := open()
	if err != nil {
		return nil, err
	}
	backward, err := open()
	if err != nil {
		forward.Close()
		return nil, err
	}
	return &Pair{forward, backward, method + "\n" + Build()}, nil
}

// Name returns a name that tells all that the flow depends on besides the pictures: OpenCV's build, too.
func (p *Pair) Name() string { return p.name }

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
