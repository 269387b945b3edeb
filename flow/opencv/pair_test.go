//go:build !noopencv

package opencv

import (
	"slices"
	"testing"

	"retime/flow"
)

// A Pair's fields are exactly the fields of two estimators.
func TestPairIsTwoEstimates(t *testing.T) {
	for method, newOne := range map[string]func() (oneWay, error){"opencv-dis": newDIS, "farneback": newFarneback} {
		pair, err := NewPair(method)
		if err != nil {
			t.Fatal(err)
		}
		defer pair.Close()
		one := open(t, newOne)
		a, b := texture(121, 80, 0, 0), texture(121, 80, 3, -1)
		var forward, backward flow.Field
		if err := pair.Estimate(a, b, &forward, &backward); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(forward.Pix, estimate(t, one, a, b).Pix) || !slices.Equal(backward.Pix, estimate(t, one, b, a).Pix) {
			t.Errorf("%s: the fields differ from those of an estimator for one direction", method)
		}
		if slices.Equal(forward.Pix, backward.Pix) {
			t.Errorf("%s: both directions have one field", method)
		}
		if err := pair.Estimate(a, texture(120, 80, 0, 0), &forward, &backward); err == nil {
			t.Errorf("%s: pictures of two sizes are accepted", method)
		}
	}
}
