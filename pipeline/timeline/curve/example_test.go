package curve_test

import (
	"fmt"
	"log"
	"math/big"

	"retime/pipeline/timeline/curve"
)

// The first second plays as it was shot, the second one at a quarter of that speed.
func ExampleNew() {
	c, err := curve.New([]curve.Keyframe{
		{Source: big.NewRat(0, 1), Speed: big.NewRat(1, 1), Shape: curve.Hold},
		{Source: big.NewRat(1, 1), Speed: big.NewRat(1, 4), Shape: curve.Hold},
		{Source: big.NewRat(2, 1), Speed: big.NewRat(1, 4), Shape: curve.Hold},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the output lasts", c.Duration().FloatString(1), "s")
	for second := range int64(6) {
		t := big.NewRat(second, 1)
		fmt.Printf("at %d s it shows %s s\n", second, c.Source(t).FloatString(2))
	}
	// Output:
	// the output lasts 5.0 s
	// at 0 s it shows 0.00 s
	// at 1 s it shows 1.00 s
	// at 2 s it shows 1.25 s
	// at 3 s it shows 1.50 s
	// at 4 s it shows 1.75 s
	// at 5 s it shows 2.00 s
}

// A throw that is shown forward, stands still for a second and is shown backward.
func ExampleCurve_Runs() {
	at := func(output, source int64, shape curve.Shape) curve.Keyframe {
		return curve.Keyframe{Output: big.NewRat(output, 1), Source: big.NewRat(source, 1), Shape: shape}
	}
	c, err := curve.New([]curve.Keyframe{
		at(0, 0, curve.Linear),
		at(2, 2, curve.Hold),
		at(3, 2, curve.Linear),
		at(5, 0, curve.Linear),
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, run := range c.Runs() {
		fmt.Printf("from %s s to %s s of the output, backward %t\n", run.Begin.FloatString(0), run.End.FloatString(0), run.Backward)
	}
	// Output:
	// from 0 s to 3 s of the output, backward false
	// from 3 s to 5 s of the output, backward true
}
