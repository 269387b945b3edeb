//go:build !noopencv

package motion

import (
	"strings"
	"testing"

	"retime/flow/opencv"
)

// openCV opens the estimator of a method of OpenCV.
func openCV(m Method) (Foreign, error) { return opencv.NewPair(string(m)) }

// A method's name in the cache covers what its flow depends on: OpenCV's build for OpenCV's
// methods, and nothing about the machine for our own.
func TestNamesOfMethods(t *testing.T) {
	seen := map[string]Method{}
	for _, c := range []struct {
		method Method
		build  bool
		kept   bool
	}{{DIS, false, true}, {OpenCVDIS, true, true}, {Farneback, true, true}, {"command=cat", false, true}, {"command=dog", false, true}, {"files=%d.flo", false, false}} {
		e, err := NewEstimator(t.Context(), Params{Method: c.method, OpenCV: openCV})
		must(t, err)
		defer e.Close()
		name := e.estimate.name()
		if strings.Contains(name, opencv.Build()) != c.build || (name != "") != c.kept {
			t.Errorf("%s is kept as %.60q", c.method, name)
		}
		if other, ok := seen[name]; ok {
			t.Errorf("%s and %s are kept as %.60q", c.method, other, name)
		}
		seen[name] = c.method
	}
}
