//go:build !noopencv

package opencv

/*
#include "opencv.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"math"

	"gocv.io/x/gocv"

	"retime/flow"
	"retime/frame"
)

// DISOptions are the parameters of a DIS estimator. Preset.Options returns a complete
// set to start from.
type DISOptions struct {
	// FinestScale is the pyramid level on which the search ends, 0 for full size;
	// OpenCV scales the result up bilinearly from there. If a picture is too small to
	// have that level, the search ends on its coarsest level.
	FinestScale int
	// PatchSize is the side of a patch in pixels, 4 to 16. OpenCV has vector code
	// for 8 only.
	PatchSize int
	// PatchStride is the distance between patches in pixels, 1 to PatchSize.
	PatchStride int
	// GradientDescentIterations bounds the inverse search of a patch, at least 1.
	GradientDescentIterations int
	// VariationalRefinementIterations counts the fixed-point iterations on each
	// level; 0 turns the refinement off.
	VariationalRefinementIterations int
	// Alpha, Gamma and Delta weight smoothness, gradient constancy and intensity
	// constancy in the refinement. None may be negative.
	Alpha, Gamma, Delta float32
	// MeanNormalization subtracts the mean of each patch before patches are
	// compared, so that changes of brightness do no harm.
	MeanNormalization bool
	// SpatialPropagation also tries the vectors of neighbouring patches.
	SpatialPropagation bool
	// Upsample doubles the size of the pictures by cubic interpolation, estimates the
	// flow between the results and averages it down. FinestScale 0 is then the doubled
	// size.
	Upsample bool
}

// Preset is one of OpenCV's sets of DIS parameters.
type Preset int

// OpenCV's presets, quickest first.
const (
	UltraFast Preset = iota
	Fast
	Medium
)

// Options returns the parameters of p.
func (p Preset) Options() DISOptions {
	o := DISOptions{
		FinestScale: 2, PatchSize: 8, PatchStride: 4,
		GradientDescentIterations: 16, VariationalRefinementIterations: 5,
		Alpha: 20, Gamma: 10, Delta: 5,
		MeanNormalization: true, SpatialPropagation: true,
	}
	switch p {
	case UltraFast:
		o.GradientDescentIterations = 12
		o.VariationalRefinementIterations = 0
	case Medium:
		o.FinestScale, o.PatchStride, o.GradientDescentIterations = 1, 3, 25
	}
	return o
}

func (o DISOptions) check() error {
	switch {
	case o.FinestScale < 0:
		return fmt.Errorf("finest scale %d is negative", o.FinestScale)
	case o.PatchSize < 4 || o.PatchSize > 16:
		return fmt.Errorf("patch size %d is not within 4 to 16", o.PatchSize)
	case o.PatchStride < 1 || o.PatchStride > o.PatchSize:
		return fmt.Errorf("patch stride %d is not within 1 to the patch size %d", o.PatchStride, o.PatchSize)
	case o.GradientDescentIterations < 1 || o.GradientDescentIterations > maxIterations:
		return fmt.Errorf("%d gradient descent iterations are not within 1 to %d", o.GradientDescentIterations, maxIterations)
	case o.VariationalRefinementIterations < 0 || o.VariationalRefinementIterations > maxIterations:
		return fmt.Errorf("%d variational refinement iterations are not within 0 to %d", o.VariationalRefinementIterations, maxIterations)
	}
	for _, w := range []float32{o.Alpha, o.Gamma, o.Delta} {
		if !(w >= 0 && w <= math.MaxFloat32) {
			return fmt.Errorf("refinement weight %g is negative or not finite", w)
		}
	}
	return nil
}

// maxLevel is the coarsest level that cv::DISOpticalFlow can store.
const maxLevel = 9

// plan returns the size to pad a picture to and the finest scale to ask for. OpenCV's coarsest
// level has to exist and be no finer than the finest one; otherwise OpenCV replaces the parameters.
// The padded size is a multiple of 1<<finest, so that vectors scale by exactly that factor.
func (o DISOptions) plan(width, height int) (w, h, finest int, err error) {
	zoom := 1
	if o.Upsample {
		zoom = 2
	}
	w, h = max(zoom*width, 3*o.PatchSize), max(zoom*height, 3*o.PatchSize)
	if long := max(w, h); long > maxSide {
		return 0, 0, 0, fmt.Errorf("picture of %dx%d is larger than %d in a side", width, height, maxSide/zoom)
	}
	finest = min(o.FinestScale, coarsest(w, h, o.PatchSize))
	unit := max(1<<finest, zoom)
	w, h = (w+unit-1)&-unit, (h+unit-1)&-unit
	if c := coarsest(w, h, o.PatchSize); c > maxLevel {
		return 0, 0, 0, fmt.Errorf("picture of %dx%d needs %d pyramid levels, OpenCV has %d: use a larger patch size or no upsampling", width, height, c+1, maxLevel+1)
	}
	return w / zoom, h / zoom, finest, nil
}

// coarsest returns OpenCV's coarsest level: the lesser of log2 of a quarter of the
// longer side in patches, rounded, and log2 of the shorter side in patches, rounded
// down.
func coarsest(w, h, patch int) int {
	long, short := int64(max(w, h)), int64(min(w, h))
	quarter := int64(4 * patch)
	level := 0
	for 2*long*long >= quarter*quarter<<(2*level+2) && short>>(level+1) >= int64(patch) {
		level++
	}
	return level
}

// DIS estimates flow by dense inverse search with variational refinement (Kroeger,
// Timofte, Dai and Van Gool, "Fast Optical Flow using Dense Inverse Search", ECCV
// 2016). It calls OpenCV's cv::DISOpticalFlow.
//
// Only one goroutine at a time may use a DIS; several DIS may run at once. A DIS keeps
// its buffers between calls, about 200 bytes for each pixel of the finest level.
type DIS struct {
	opts DISOptions
	alg  *C.flow_dis // nil once closed
	flow gocv.Mat
}

// NewDIS returns an estimator, which the caller must close, or an error if opts are out
// of range.
func NewDIS(opts DISOptions) (*DIS, error) {
	if err := opts.check(); err != nil {
		return nil, fmt.Errorf("flow: DIS: %w", err)
	}
	var alg *C.flow_dis
	if err := failure(C.flow_dis_new(&alg)); err != nil {
		return nil, fmt.Errorf("flow: new DIS: %w", err)
	}
	return &DIS{opts: opts, alg: alg, flow: gocv.NewMat()}, nil
}

// Estimate sets dst to the flow from a to b, 8-bit luma pictures of one size, from 1x1
// up to 32766 pixels in a side, or half that with Upsample. It extends pictures that
// are too small for the pyramid by repeating their borders. It reads a and b in place
// and reuses dst's memory; after an error the contents of dst are undefined.
func (d *DIS) Estimate(a, b frame.Image[uint8], dst *flow.Field) error {
	return d.estimate(a, b, nil, dst)
}

// EstimateFrom works as Estimate does, but also tries the vectors of an initial flow of a's size
// for every patch on every level. dst may be the initial flow.
func (d *DIS) EstimateFrom(a, b frame.Image[uint8], initial flow.Field, dst *flow.Field) error {
	return d.estimate(a, b, &initial, dst)
}

func (d *DIS) estimate(a, b frame.Image[uint8], initial, dst *flow.Field) error {
	if d.alg == nil {
		return errors.New("flow: DIS is closed")
	}
	if err := d.run(a, b, initial, dst); err != nil {
		return fmt.Errorf("flow: DIS: %w", err)
	}
	return nil
}

func (d *DIS) run(a, b frame.Image[uint8], initial, dst *flow.Field) error {
	if err := flow.CheckPictures(a, b, maxSide); err != nil {
		return err
	}
	w, h, finest, err := d.opts.plan(a.Width, a.Height)
	if err != nil {
		return err
	}
	if initial != nil {
		if initial.Width != a.Width || initial.Height != a.Height {
			return fmt.Errorf("initial flow of %dx%d for pictures of %dx%d", initial.Width, initial.Height, a.Width, a.Height)
		}
		if err := d.load(*initial, w, h); err != nil {
			return err
		}
	}
	f, err := d.calc(a, b, w, h, finest, initial != nil)
	if err != nil {
		return fmt.Errorf("%dx%d: %w", a.Width, a.Height, err)
	}
	scale := float32(flow.One)
	if d.opts.Upsample {
		scale /= 2
	}
	return store(dst, f, a.Width, a.Height, scale)
}

func (d *DIS) calc(a, b frame.Image[uint8], width, height, finest int, guided bool) (f C.flow_field, err error) {
	opts := d.opts.native(finest)
	err = failure(C.flow_dis_calc(d.alg, &opts, luma(a), luma(b), C.int(width), C.int(height), flag(guided),
		C.flow_mat(d.flow.Ptr()), &f))
	return f, err
}

// load extends f to w by h and stores it as the initial flow of the next estimate.
func (d *DIS) load(f flow.Field, w, h int) error {
	var initial C.flow_field
	if err := failure(C.flow_create(C.flow_mat(d.flow.Ptr()), C.int(w), C.int(h), &initial)); err != nil {
		return fmt.Errorf("initial flow of %dx%d: %w", w, h, err)
	}
	dst := vectors(initial)
	for y := range h {
		src := f.Row(min(y, f.Height-1))
		row := dst[y*w:][:w]
		for x := range row {
			v := src[min(x, len(src)-1)]
			if !v.Known() {
				v = flow.Vec{}
			}
			row[x] = [2]float32{float32(v.X) / flow.One, float32(v.Y) / flow.One}
		}
	}
	return nil
}

func (o DISOptions) native(finest int) C.flow_dis_options {
	return C.flow_dis_options{
		finest_scale:                      C.int(finest),
		patch_size:                        C.int(o.PatchSize),
		patch_stride:                      C.int(o.PatchStride),
		gradient_descent_iterations:       C.int(o.GradientDescentIterations),
		variational_refinement_iterations: C.int(o.VariationalRefinementIterations),
		alpha:                             C.float(o.Alpha),
		gamma:                             C.float(o.Gamma),
		delta:                             C.float(o.Delta),
		mean_normalization:                flag(o.MeanNormalization),
		spatial_propagation:               flag(o.SpatialPropagation),
		upsample:                          flag(o.Upsample),
	}
}

// Close frees d's memory in OpenCV. Further calls have no effect.
func (d *DIS) Close() error {
	C.flow_dis_free(d.alg)
	d.alg = nil
	return d.flow.Close()
}
