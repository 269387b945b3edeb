//go:build !noopencv

package opencv

import "fmt"

// Named is a Pair whose name tells all that its flow depends on besides the pictures.
type Named struct {
	*Pair
	name string
}

// NewNamed returns the Pair of a method with the options that suit frame interpolation, which
// the caller must close: "farneback", or else DIS.
func NewNamed(method string) (*Named, error) {
	var e *Pair
	var options any
	var err error
	if method == "farneback" {
		o := DefaultFarneback()
		options = o
		e, err = NewFarnebackPair(o)
	} else {
		// Variational refinement is left out: a finer grid of patches gives as much in half
		// the time.
		o := UltraFast.Options()
		o.FinestScale = 0
		options = o
		e, err = NewDISPair(o)
	}
	if err != nil {
		return nil, err
	}
	return &Named{e, fmt.Sprintf("%s %+v\n%s", method, options, Build())}, nil
}

// Name returns the name, in which OpenCV's build is named, too.
func (n *Named) Name() string { return n.name }
