package motion

import (
	"retime/flow"
	"retime/frame"
	"retime/pipeline/fault"
	"retime/warp"
)

// Foreign estimates flow by another library, for one goroutine.
type Foreign interface {
	// Name identifies the method and all that its flow depends on besides the pictures.
	Name() string
	// Estimate sets forward and backward to the flow from a to b and from b to a, of the
	// pictures' size. If a and b change places, the flows do.
	Estimate(a, b frame.Image[uint8], forward, backward *flow.Field) error
	Close()
}

// foreign is the estimate of a Foreign.
type foreign struct{ of Foreign }

func newForeign(p Params) (estimate, error) {
	if p.OpenCV == nil {
		return nil, fault.New(fault.Usage, "Synthesis.Flow %s: this build of retime has no OpenCV (tag noopencv); choose %s, %sPATTERN or %sLINE", p.Method, DIS, FromFiles, FromCommand)
	}
	e, err := p.OpenCV(p.Method)
	if err != nil {
		return nil, err
	}
	return &foreign{e}, nil
}

func (e *foreign) name() string { return e.of.Name() }

func (e *foreign) estimate(a, b Guide, dst *warp.FlowPair) error {
	if err := e.of.Estimate(a.searched(), b.searched(), &dst.Forward, &dst.Backward); err != nil {
		return err
	}
	a.fit(&dst.Forward)
	a.fit(&dst.Backward)
	return nil
}

func (e *foreign) close() { e.of.Close() }
