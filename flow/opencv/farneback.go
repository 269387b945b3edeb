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

// FarnebackOptions are the parameters of a Farneback estimator.
type FarnebackOptions struct {
	// PyramidScale is the size of a pyramid level divided by the size of the next
	// finer level, above 0 and below 1.
	PyramidScale float64
	// Levels counts the pyramid levels besides full size. OpenCV omits levels with a side of less
	// than 32 pixels.
	Levels int
	// WindowSize is the side in pixels of the window over which OpenCV averages
	// displacements, at least 1.
	WindowSize int
	// Iterations counts the iterations on each level, at least 1.
	Iterations int
	// PolyN is the side in pixels of the neighbourhood of a polynomial expansion and
	// PolySigma the standard deviation of its weights; 1.1 suits a side of 5, and 1.5 a
	// side of 7.
	PolyN     int
	PolySigma float64
	// Gaussian selects a Gaussian window instead of a box: slower, but more accurate.
	Gaussian bool
}

// DefaultFarneback returns the defaults of OpenCV's cv::FarnebackOpticalFlow.
func DefaultFarneback() FarnebackOptions {
	return FarnebackOptions{PyramidScale: 0.5, Levels: 5, WindowSize: 13, Iterations: 10, PolyN: 5, PolySigma: 1.1}
}

func (o FarnebackOptions) check() error {
	switch {
	case !(o.PyramidScale > 0 && o.PyramidScale < 1):
		return fmt.Errorf("pyramid scale %g is not between 0 and 1", o.PyramidScale)
	case o.Levels < 0 || o.Levels > 32:
		return fmt.Errorf("%d pyramid levels are not within 0 to 32", o.Levels)
	case o.WindowSize < 1 || o.WindowSize > 1024:
		return fmt.Errorf("window size %d is not within 1 to 1024", o.WindowSize)
	case o.Iterations < 1 || o.Iterations > maxIterations:
		return fmt.Errorf("%d iterations are not within 1 to %d", o.Iterations, maxIterations)
	case o.PolyN < 3 || o.PolyN > 63:
		return fmt.Errorf("polynomial neighbourhood %d is not within 3 to 63", o.PolyN)
	case !(o.PolySigma > 0 && o.PolySigma <= 64):
		return fmt.Errorf("polynomial sigma %g is not above 0 and up to 64", o.PolySigma)
	}
	return nil
}

// Farneback estimates flow by polynomial expansion (Farnebäck, "Two-Frame Motion
// Estimation Based on Polynomial Expansion", SCIA 2003). It calls OpenCV's
// cv::calcOpticalFlowFarneback.
//
// Only one goroutine at a time may use a Farneback; several may run at once.
type Farneback struct {
	opts   FarnebackOptions
	flow   gocv.Mat
	closed bool
}

// NewFarneback returns an estimator, which the caller must close, or an error if
// opts are out of range.
func NewFarneback(opts FarnebackOptions) (*Farneback, error) {
	if err := opts.check(); err != nil {
		return nil, fmt.Errorf("flow: Farneback: %w", err)
	}
	return &Farneback{opts: opts, flow: gocv.NewMat()}, nil
}

// Estimate sets dst to the flow from a to b, 8-bit luma pictures of one size, from 1x1
// up to 32766 pixels in a side. It reads a and b in place and reuses dst's memory;
// after an error the contents of dst are undefined.
func (e *Farneback) Estimate(a, b frame.Image[uint8], dst *flow.Field) error {
	if e.closed {
		return errors.New("flow: Farneback is closed")
	}
	if err := e.run(a, b, dst); err != nil {
		return fmt.Errorf("flow: Farneback: %w", err)
	}
	return nil
}

func (e *Farneback) run(a, b frame.Image[uint8], dst *flow.Field) error {
	if err := flow.CheckPictures(a, b, maxSide); err != nil {
		return err
	}
	f, err := e.calc(a, b)
	if err != nil {
		return fmt.Errorf("%dx%d: %w", a.Width, a.Height, err)
	}
	return store(dst, f, a.Width, a.Height, flow.One)
}

func (e *Farneback) calc(a, b frame.Image[uint8]) (f C.flow_field, err error) {
	opts := e.opts.native()
	err = failure(C.flow_farneback(&opts, luma(a), luma(b), C.flow_mat(e.flow.Ptr()), &f))
	return f, err
}

func (o FarnebackOptions) native() C.flow_farneback_options {
	return C.flow_farneback_options{
		pyramid_scale: C.double(o.PyramidScale),
		levels:        C.int(o.Levels),
		window_size:   C.int(o.WindowSize),
		iterations:    C.int(o.Iterations),
		poly_n:        C.int(o.PolyN),
		poly_sigma:    C.double(o.PolySigma),
		gaussian:      flag(o.Gaussian),
	}
}

// Close frees e's memory in OpenCV. Further calls have no effect.
func (e *Farneback) Close() error {
	e.closed = true
	return e.flow.Close()
}
