//go:build noopencv

package motion

// openCV is not called: there are no methods of OpenCV.
func openCV(Method) (Foreign, error) { panic("no OpenCV") }
