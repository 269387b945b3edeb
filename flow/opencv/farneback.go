//go:build !noopencv

package opencv

/*
#include "opencv.h"
*/
import "C"

import (
	"errors"
	"fmt"

	"gocv.io/x/gocv"

	"retime/flow"
	"retime/frame"
)

// farneback estimates flow by polynomial expansion (Farnebäck, "Two-Frame Motion
// Estimation Based on Polynomial Expansion", SCIA 2003). It calls OpenCV's
// cv::calcOpticalFlowFarneback.
//
// Only one goroutine at a time may use a farneback; several may run at once.
type farneback struct {
	flow   gocv.Mat
	closed bool
}

func newFarneback() (oneWay, error) { return &farneback{flow: gocv.NewMat()}, nil }

// Estimate implements oneWay.
func (e *farneback) Estimate(a, b frame.Image[uint8], dst *flow.Field) error {
	if e.closed {
		return errors.New("flow: Farneback is closed")
	}
	if err := e.run(a, b, dst); err != nil {
		return fmt.Errorf("flow: Farneback: %w", err)
	}
	return nil
}

func (e *farneback) run(a, b frame.Image[uint8], dst *flow.Field) error {
	if err := flow.CheckPictures(a, b, maxSide); err != nil {
		return err
	}
	f, err := e.calc(a, b)
	if err != nil {
		return fmt.Errorf("%dx%d: %w", a.Width, a.Height, err)
	}
	return store(dst, f, a.Width, a.Height)
}

func (e *farneback) calc(a, b frame.Image[uint8]) (f C.flow_field, err error) {
	err = failure(C.flow_farneback(luma(a), luma(b), C.flow_mat(e.flow.Ptr()), &f))
	return f, err
}

// Close frees e's memory in OpenCV. Further calls have no effect.
func (e *farneback) Close() error {
	e.closed = true
	return e.flow.Close()
}
