//go:build noopencv

package pipeline

import "retime/pipeline/motion"

// openCV is nil: this build has no OpenCV.
var openCV func(motion.Method) (motion.Foreign, error)
