//go:build noopencv

package pipeline

import (
	"retime/pipeline/fault"
	"retime/pipeline/motion"
)

func openCV(m motion.Method) (motion.Foreign, error) {
	return nil, fault.New(fault.Usage, "Synthesis.Flow %s: this build of retime has no OpenCV (tag noopencv); choose %s, %sPATTERN or %sLINE", m, motion.DIS, motion.FromFiles, motion.FromCommand)
}
