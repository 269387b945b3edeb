//go:build noopencv

package pipeline_test

import (
	"strings"
	"testing"

	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/motion"
)

// A build without OpenCV says what it lacks, and what to choose instead.
func TestWithoutOpenCV(t *testing.T) {
	for _, m := range []motion.Method{pipeline.OpenCVDIS, pipeline.Farneback} {
		o := &pipeline.Settled{Options: pipeline.Options{Synthesis: pipeline.Synthesis{Flow: m}}}
		_, err := o.Estimator(t.Context())
		if fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), string(m)+": this build of retime has no OpenCV") {
			t.Errorf("%s: error %v", m, err)
		}
	}
}
