//go:build !noopencv

package motion

import (
	"fmt"

	"retime/flow/opencv"
	"retime/warp"
)

// OpenCV returns the version of OpenCV, such as "4.6.0", or "" in a build without it (tag
// noopencv).
func OpenCV() string { return opencv.Version() }

// fromOpenCV estimates flow by OpenCV. Its build, too, determines the flow.
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
		// Variational refinement is left out: a finer grid of patches gives as much in half
		// the time.
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
