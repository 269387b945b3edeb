package bspline

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"retime/frame"
)

// TestAgreesWithSciPy compares splines with the values that
// testdata/bspline/scipy_golden.py recorded: within 1e-10 of the largest sample,
// because both compute in float64 with truncations below rounding.
func TestAgreesWithSciPy(t *testing.T) {
	const largest, tolerance = 255, 1e-10
	data, err := os.ReadFile("../../testdata/bspline/scipy.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Images []struct {
			Width, Height int
			Samples       []float64
		}
		Cases []struct {
			Image                      int
			Order                      Order
			Boundary                   string
			Coefficients, X, Y, Values []float64
		}
	}
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	if len(golden.Cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range golden.Cases {
		m := golden.Images[c.Image]
		b, err := ParseBoundary(c.Boundary)
		if err != nil {
			t.Fatal(err)
		}
		img := frame.Image[float64]{Width: m.Width, Height: m.Height, Stride: m.Width, Pix: m.Samples}
		s, err := New(frame.Workers{}, img, c.Order, b, 1e-16)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range c.Values {
			if got := s.At(c.X[i], c.Y[i]); math.Abs(got-want) > tolerance*largest {
				t.Errorf("order %v, %v, %dx%d: %v at (%v, %v), want %v", c.Order, b, m.Width, m.Height, got, c.X[i], c.Y[i], want)
			}
		}
		coeff, _ := s.Coefficients()
		scale := Normalization(c.Order) * Normalization(c.Order)
		for i, want := range c.Coefficients {
			if got := coeff.Pix[i] * scale; math.Abs(got-want) > tolerance*largest {
				t.Errorf("order %v, %v: coefficient %d is %v, want %v", c.Order, b, i, got, want)
			}
		}
	}
}
