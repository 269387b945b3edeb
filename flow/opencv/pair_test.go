//go:build !noopencv

package opencv

import (
	"slices"
	"testing"

	"retime/flow"
)

// A Pair's fields are exactly the fields of two estimators.
func TestPairIsTwoEstimates(t *testing.T) {
	o, f := UltraFast.Options(), DefaultFarneback()
	for name, open := range map[string]func() (*Pair, oneWay, error){
		"DIS": func() (*Pair, oneWay, error) {
			p, err := NewDISPair(o)
			if err != nil {
				return nil, nil, err
			}
			one, err := NewDIS(o)
			return p, one, err
		},
		"Farneback": func() (*Pair, oneWay, error) {
			p, err := NewFarnebackPair(f)
			if err != nil {
				return nil, nil, err
			}
			one, err := NewFarneback(f)
			return p, one, err
		},
	} {
		pair, one, err := open()
		if err != nil {
			t.Fatal(err)
		}
		defer pair.Close()
		defer one.Close()
		a, b := texture(121, 80, 0, 0), texture(121, 80, 3, -1)
		var forward, backward flow.Field
		if err := pair.Estimate(a, b, &forward, &backward); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(forward.Pix, estimate(t, one, a, b).Pix) || !slices.Equal(backward.Pix, estimate(t, one, b, a).Pix) {
			t.Errorf("%s: the fields differ from those of an estimator for one direction", name)
		}
		if slices.Equal(forward.Pix, backward.Pix) {
			t.Errorf("%s: both directions have one field", name)
		}
		if err := pair.Estimate(a, texture(120, 80, 0, 0), &forward, &backward); err == nil {
			t.Errorf("%s: pictures of two sizes are accepted", name)
		}
	}
	bad := o
	bad.PatchSize = 0
	if _, err := NewDISPair(bad); err == nil {
		t.Error("a patch of no pixels is accepted")
	}
}
