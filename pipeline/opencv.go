//go:build !noopencv

package pipeline

import (
	"retime/flow/opencv"
	"retime/pipeline/motion"
)

// openCV opens the estimator of a method of OpenCV.
func openCV(m motion.Method) (motion.Foreign, error) { return opencv.NewPair(string(m)) }
