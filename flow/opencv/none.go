//go:build noopencv

// Package opencv is empty in a build without OpenCV.
package opencv

// Version returns "": this build has no OpenCV.
func Version() string { return "" }
