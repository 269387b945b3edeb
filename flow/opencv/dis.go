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

const (
	// patch is the side of a patch in pixels.
	patch = 8
	// maxLevel is the coarsest level that cv::DISOpticalFlow can store.
	maxLevel = 9
)

// padded returns the size to pad a picture to. OpenCV's coarsest level has to exist; otherwise OpenCV
// replaces the parameters.
func padded(width, height int) (w, h int, err error) {
	w, h = max(width, 3*patch), max(height, 3*patch)
	if c := coarsest(w, h); c > maxLevel {
		return 0, 0, fmt.Errorf("picture of %dx%d needs %d pyramid levels, OpenCV has %d", width, height, c+1, maxLevel+1)
	}
	return w, h, nil
}

// coarsest returns OpenCV's coarsest level: the lesser of log2 of a quarter of the
// longer side in patches, rounded, and log2 of the shorter side in patches, rounded
// down.
func coarsest(w, h int) int {
	long, short := int64(max(w, h)), int64(min(w, h))
	const quarter = int64(4 * patch)
	level := 0
	for 2*long*long >= quarter*quarter<<(2*level+2) && short>>(level+1) >= patch {
		level++
	}
	return level
}

// dis estimates flow by dense inverse search (Kroeger, Timofte, Dai and Van Gool, "Fast Optical Flow
// using Dense Inverse Search", ECCV 2016), down to full size. It calls OpenCV's cv::DISOpticalFlow.
//
// Only one goroutine at a time may use a dis; several may run at once. A dis keeps
// its buffers between calls, about 200 bytes for each pixel.
type dis struct {
	alg  *C.flow_dis // nil once closed
	flow gocv.Mat
}

func newDIS() (oneWay, error) {
	var alg *C.flow_dis
	if err := failure(C.flow_dis_new(&alg)); err != nil {
		return nil, fmt.Errorf("flow: new DIS: %w", err)
	}
	return &dis{alg: alg, flow: gocv.NewMat()}, nil
}

// Estimate implements oneWay. It extends pictures that are too small for the pyramid by repeating their borders.
func (d *dis) Estimate(a, b frame.Image[uint8], dst *flow.Field) error {
	if d.alg == nil {
		return errors.New("flow: DIS is closed")
	}
	if err := d.run(a, b, dst); err != nil {
		return fmt.Errorf("flow: DIS: %w", err)
	}
	return nil
}

func (d *dis) run(a, b frame.Image[uint8], dst *flow.Field) error {
	if err := flow.CheckPictures(a, b, maxSide); err != nil {
		return err
	}
	w, h, err := padded(a.Width, a.Height)
	if err != nil {
		return err
	}
	f, err := d.calc(a, b, w, h)
	if err != nil {
		return fmt.Errorf("%dx%d: %w", a.Width, a.Height, err)
	}
	return store(dst, f, a.Width, a.Height)
}

func (d *dis) calc(a, b frame.Image[uint8], width, height int) (f C.flow_field, err error) {
	err = failure(C.flow_dis_calc(d.alg, luma(a), luma(b), C.int(width), C.int(height), C.flow_mat(d.flow.Ptr()), &f))
	return f, err
}

// Close frees d's memory in OpenCV. Further calls have no effect.
func (d *dis) Close() error {
	C.flow_dis_free(d.alg)
	d.alg = nil
	return d.flow.Close()
}
