//go:build noopencv

package motion

import "retime/pipeline/fault"

// OpenCV returns "": this build has no OpenCV.
func OpenCV() string { return "" }

func newOpenCV(m Method) (estimate, error) {
	return nil, fault.New(fault.Usage, "Synthesis.Flow %s: this build of retime has no OpenCV (tag noopencv); choose %s, %sPATTERN or %sLINE", m, DIS, FromFiles, FromCommand)
}
