//go:build noopencv

package pipeline

import (
	"strings"
	"testing"

	"retime/pipeline/fault"
	"retime/pipeline/motion"
)

// A build without OpenCV says what it lacks, and what to choose instead.
func TestWithoutOpenCV(t *testing.T) {
	for _, m := range []motion.Method{OpenCVDIS, Farneback} {
		o := &Settled{Options: Options{Synthesis: Synthesis{Flow: m}}}
		_, err := o.Estimator(t.Context())
		if fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), string(m)+": this build of retime has no OpenCV") {
			t.Errorf("%s: error %v", m, err)
		}
	}
}
