//go:build !noopencv

// Package opencv estimates dense optical flow between two pictures by OpenCV's methods.
// GoCV binds OpenCV: an estimator keeps its flow in a GoCV Mat. A small C++ file adds
// cv::DISOpticalFlow, which GoCV lacks, and turns C++ exceptions, which GoCV does not
// catch, into errors.
//
// On one machine, an estimator returns the same field every time, whatever the number
// of threads. Another build of OpenCV, or a processor with other vector instructions,
// may round floats differently.
package opencv

/*
#cgo CXXFLAGS: -std=c++11 -I/usr/include/opencv4 -I/usr/local/include/opencv4
#cgo LDFLAGS: -lopencv_video -lopencv_imgproc -lopencv_core -lstdc++
#include <stdlib.h>
#include "opencv.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"unsafe"

	"retime/flow"
	"retime/frame"
)

// maxSide is the longest side in pixels that cv::remap accepts.
const maxSide = math.MaxInt16 - 1

// Version returns the version of OpenCV, such as "4.6.0".
func Version() string { return C.GoString(C.flow_opencv_version()) }

// Build returns everything besides an estimator's parameters that affects how it rounds: OpenCV's
// description of its build and, in the last line, the vector instructions that OpenCV has code for,
// with a "?" after the ones that this processor lacks.
func Build() string { return C.GoString(C.flow_opencv_build()) }

// SetThreads sets the number of threads among which OpenCV divides its loops, in the
// whole process; 0 lets OpenCV choose. No result depends on the number. No estimator
// may run during the call.
func SetThreads(n int) error {
	if n <= 0 {
		n = -1
	}
	if err := failure(C.flow_set_threads(C.int(n))); err != nil {
		return fmt.Errorf("flow: set %d OpenCV threads: %w", n, err)
	}
	return nil
}

// failure turns a message from opencv.h into an error and frees the message.
func failure(msg *C.char) error {
	if msg == nil {
		return nil
	}
	defer C.free(unsafe.Pointer(msg))
	return errors.New(strings.Join(strings.Fields(C.GoString(msg)), " "))
}

// luma returns a pointer to the samples of m for one call into C. m must have passed
// flow.CheckPictures.
func luma(m frame.Image[uint8]) C.flow_luma {
	return C.flow_luma{
		pix:    (*C.uint8_t)(unsafe.SliceData(m.Pix)),
		width:  C.int(m.Width),
		height: C.int(m.Height),
		stride: C.size_t(m.Stride),
	}
}

// store sets dst to the canonical form of the upper left width by height vectors of f.
func store(dst *flow.Field, f C.flow_field, width, height int) error {
	stride := int(f.width)
	if stride < width || int(f.height) < height {
		return fmt.Errorf("flow of %dx%d for a picture of %dx%d", f.width, f.height, width, height)
	}
	src := unsafe.Slice((*[2]float32)(unsafe.Pointer(f.vectors)), int(f.width)*int(f.height))
	dst.Resize(width, height)
	limit := dst.Limit()
	for y := range height {
		flow.Quantize(dst.Row(y), src[y*stride:], flow.One, limit)
	}
	return nil
}
