//go:build noopencv

package motion

import (
	"strings"
	"testing"

	"retime/pipeline/fault"
)

// A build without OpenCV says what it lacks, and what to choose instead.
func TestWithoutOpenCV(t *testing.T) {
	for _, m := range []Method{OpenCVDIS, Farneback} {
		_, err := NewEstimator(t.Context(), Params{Method: m})
		if fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), string(m)+": this build of retime has no OpenCV") {
			t.Errorf("%s: error %v", m, err)
		}
	}
}
