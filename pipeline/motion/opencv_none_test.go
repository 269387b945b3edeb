//go:build noopencv

package motion

// openCV is nil: this build has no OpenCV.
var openCV func(Method) (Foreign, error)
