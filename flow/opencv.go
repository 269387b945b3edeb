package flow

/*
#cgo pkg-config: opencv4
#cgo CXXFLAGS: -std=c++11
#include <stdlib.h>
#include "dis.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"unsafe"

	"gocv.io/x/gocv"

	"retime/pipeline/frame"
)

const (
	// maxSide is the longest side of a picture that cv::remap takes.
	maxSide = math.MaxInt16 - 1
	// maxIterations is far above what any estimator gains from.
	maxIterations = 10000
)

// SetThreads sets how many threads OpenCV shares its loops among, in the whole
// process; 0 leaves it to OpenCV. No result depends on it. It must not be called
// while an estimator runs.
func SetThreads(n int) error {
	if n <= 0 {
		n = -1
	}
	if err := failure(C.flow_set_threads(C.int(n))); err != nil {
		return fmt.Errorf("flow: set %d OpenCV threads: %w", n, err)
	}
	return nil
}

// failure makes an error of a message from dis.h and frees it.
func failure(msg *C.char) error {
	if msg == nil {
		return nil
	}
	defer C.free(unsafe.Pointer(msg))
	return errors.New(strings.Join(strings.Fields(C.GoString(msg)), " "))
}

// checkPair says what keeps a and b from being two pictures of one size that an
// estimator takes.
func checkPair(a, b frame.Image[uint8]) error {
	switch {
	case a.Width != b.Width || a.Height != b.Height:
		return fmt.Errorf("pictures of %dx%d and %dx%d differ in size", a.Width, a.Height, b.Width, b.Height)
	case a.Width < 1 || a.Height < 1:
		return fmt.Errorf("picture of %dx%d is empty", a.Width, a.Height)
	case max(a.Width, a.Height) > maxSide:
		return fmt.Errorf("picture of %dx%d is larger than %d in a side", a.Width, a.Height, maxSide)
	}
	for _, m := range []frame.Image[uint8]{a, b} {
		if m.Stride < m.Width || (len(m.Pix)-m.Width)/m.Stride < m.Height-1 {
			return fmt.Errorf("picture of %dx%d with stride %d has only %d samples", m.Width, m.Height, m.Stride, len(m.Pix))
		}
	}
	return nil
}

// pair is two of OpenCV's matrix headers over pictures in Go's or C's memory.
type pair struct {
	a, b gocv.Mat
	pin  runtime.Pinner
}

func newPair() pair { return pair{a: gocv.NewMat(), b: gocv.NewMat()} }

// view points the headers at a and b, which must have passed checkPair, until
// release.
func (p *pair) view(a, b frame.Image[uint8]) error {
	if err := p.viewOne(&p.a, a); err != nil {
		return err
	}
	return p.viewOne(&p.b, b)
}

func (p *pair) viewOne(m *gocv.Mat, img frame.Image[uint8]) error {
	pix := unsafe.SliceData(img.Pix)
	p.pin.Pin(pix)
	return failure(C.flow_view(C.flow_mat(m.Ptr()), C.int(img.Width), C.int(img.Height), C.size_t(img.Stride), (*C.uint8_t)(pix)))
}

// release lets go of the pictures.
func (p *pair) release() {
	for _, m := range []*gocv.Mat{&p.a, &p.b} {
		C.free(unsafe.Pointer(C.flow_view(C.flow_mat(m.Ptr()), 0, 0, 0, nil)))
	}
	p.pin.Unpin()
}

func (p *pair) close() {
	p.a.Close()
	p.b.Close()
}

// vectors views a continuous CV_32FC2 matrix.
func vectors(m *gocv.Mat) ([][2]float32, error) {
	if m.Type() != gocv.MatTypeCV32FC2 {
		return nil, fmt.Errorf("flow matrix has type %v, want 32-bit float with 2 channels", m.Type())
	}
	data, err := m.DataPtrFloat32()
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*[2]float32)(unsafe.Pointer(unsafe.SliceData(data))), len(data)/2), nil
}

// store makes dst the canonical form of the upper left width by height vectors
// of m times scale/256.
func store(dst *Field, m *gocv.Mat, width, height int, scale float32) error {
	src, err := vectors(m)
	if err != nil {
		return err
	}
	stride := m.Cols()
	if stride < width || len(src) < stride*height {
		return fmt.Errorf("flow of %dx%d for a picture of %dx%d", stride, m.Rows(), width, height)
	}
	dst.Resize(width, height)
	limit := dst.Limit()
	for y := range height {
		quantize(dst.Row(y), src[y*stride:], scale, limit)
	}
	return nil
}
