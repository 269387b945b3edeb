package motion

import (
	"fmt"

	"retime/flow/opencv"
	"retime/warp"
)

// fromOpenCV estimates flow by OpenCV. The flow depends on OpenCV's build as well.
type fromOpenCV struct {
	*opencv.Pair
	method string
}

func newOpenCV(m Method) (estimate, error) {
	var e *opencv.Pair
	var options any
	var err error
	if m == Farneback {
		o := opencv.DefaultFarneback()
		options = o
		e, err = opencv.NewFarnebackPair(o)
	} else {
		// No variational refinement: a finer grid of patches gains as much in half the time.
		o := opencv.UltraFast.Options()
		o.FinestScale = 0
		options = o
		e, err = opencv.NewDISPair(o)
	}
	if err != nil {
		return nil, err
	}
	return &fromOpenCV{e, fmt.Sprintf("%s %+v\n%s", m, options, opencv.Build())}, nil
}

func (e *fromOpenCV) name() string { return e.method }

func (e *fromOpenCV) estimate(a, b Guide, dst *warp.FlowPair) error {
	if err := e.Estimate(a.searched(), b.searched(), &dst.Forward, &dst.Backward); err != nil {
		return err
	}
	a.fit(&dst.Forward)
	a.fit(&dst.Backward)
	return nil
}

func (e *fromOpenCV) close() { e.Close() }
