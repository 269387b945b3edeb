package splines

import (
	"fmt"
	"runtime"
	"time"

	"retime/frame"
	"retime/warp/bspline"
)

// Timing is a row of tables 6 to 8: the times to shift a picture by (0.5, 0.5),
// half-symmetric, with a precision of 1e-6. Times are wall-clock, the best of the
// repetitions.
type Timing struct {
	Order         bspline.Order
	Type          string // "float32" or "float64"
	Width, Height int
	Workers       int
	Prefilter     time.Duration
	// Evaluation is the time to evaluate a shift, whose weights rows and columns share.
	Evaluation time.Duration
	// Scattered is the time to evaluate the same positions one by one, which a homography or a flow
	// needs (algorithm 8).
	Scattered time.Duration
}

// Total returns the time of prefilter and evaluation.
func (t Timing) Total() time.Duration { return t.Prefilter + t.Evaluation }

// Time measures one row in type T.
func Time[T bspline.Float](workers frame.Workers, img frame.Image[float64], order bspline.Order, repetitions int) (Timing, error) {
	var zero T
	t := Timing{
		Order: order, Type: fmt.Sprintf("%T", zero),
		Width: img.Width, Height: img.Height, Workers: workers.Count(),
	}
	p, err := bspline.NewPrefilter[T](order, bspline.HalfSymmetric, 1e-6)
	if err != nil {
		return t, err
	}
	samples := convert[T](img)
	c := frame.NewImage[T](img.Width, img.Height)
	out := frame.NewImage[T](img.Width, img.Height)
	s, err := bspline.FromCoefficients(c, order, bspline.HalfSymmetric, 0)
	if err != nil {
		return t, err
	}
	scattered := bspline.Func(func(x, y float64) (float64, float64) { return x - 0.5, y - 0.5 })
	runtime.GC()
	for i := range repetitions {
		copy(c.Pix, samples.Pix)
		start := time.Now()
		if err := p.Apply(workers, c); err != nil {
			return t, err
		}
		if wall := time.Since(start); i == 0 || wall < t.Prefilter {
			t.Prefilter = wall
		}
		for _, e := range []struct {
			best *time.Duration
			tr   bspline.Transform
		}{{&t.Evaluation, bspline.Shift(0.5, 0.5)}, {&t.Scattered, scattered}} {
			start := time.Now()
			if err := s.Warp(workers, out, e.tr); err != nil {
				return t, err
			}
			if d := time.Since(start); i == 0 || d < *e.best {
				*e.best = d
			}
		}
	}
	return t, nil
}

// Threads measures float32 with 1, 2, 4, ... workers, up to limit.
func Threads(limit int, img frame.Image[float64], order bspline.Order, repetitions int) ([]Timing, error) {
	var rows []Timing
	for n := 1; n <= limit; n *= 2 {
		t, err := Time[float32](frame.Workers{N: n}, img, order, repetitions)
		if err != nil {
			return nil, err
		}
		rows = append(rows, t)
	}
	return rows, nil
}

// Areas measures float32 on pictures of a quarter of width by height, a
// sixteenth, and so on, the largest last.
func Areas(workers frame.Workers, width, height, count int, order bspline.Order, repetitions int) ([]Timing, error) {
	var rows []Timing
	for i := count - 1; i >= 0; i-- {
		t, err := Time[float32](workers, Picture(max(1, width>>i), max(1, height>>i)), order, repetitions)
		if err != nil {
			return nil, err
		}
		rows = append(rows, t)
	}
	return rows, nil
}
