package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"retime/cmd/retime-bench/internal/boxsplines"
	"retime/pipeline/fault"
	"retime/warp/boxspline/fast"
	"retime/warp/bspline"
)

// BoxsplineOptions holds the flags of boxspline.
type BoxsplineOptions struct {
	accuracy               bool
	python                 string
	size, points, repeated int
}

// AddFlags declares the flags of boxspline.
func (o *BoxsplineOptions) AddFlags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.BoolVar(&o.accuracy, "accuracy", false, "errors against exact arithmetic instead of times; takes minutes")
	f.StringVar(&o.python, "python", "", "Python `PROGRAM` that has SciPy or OpenCV, to time them as well")
	f.IntVar(&o.size, "size", 1024, "coefficients along each side of a picture, `N`")
	f.IntVar(&o.points, "points", 100000, "evaluate at `N` positions")
	f.IntVar(&o.repeated, "repeat", 5, "measure `N` times and take the best")
}

func newBoxsplineCommand() *cobra.Command {
	return newStudy("boxspline", "Measure the generated code of box splines: errors, speed", `boxspline makes the tables of docs/boxspline.md, for the CPU: nanoseconds for a
value on one thread, for every element, against the generic sum and against
package bspline; or the largest errors against exact arithmetic.`, runBoxspline)
}

func runBoxspline(ctx context.Context, o BoxsplineOptions, stdout io.Writer) error {
	if o.size < 8 || o.size > 8192 || o.points < 1 || o.repeated < 1 {
		return fault.New(fault.Usage, "--size %d, --points %d, --repeat %d: want 8 to 8192, and positive numbers", o.size, o.points, o.repeated)
	}
	if o.accuracy {
		fmt.Fprintf(stdout, "Largest errors at %d positions, relative to the largest coefficient.\n%-20s %9s %9s\n", o.points, "element", "float64", "float32")
		for _, f := range fast.Functions {
			r, err := await(ctx, func() (boxsplines.ErrorRow, error) { return boxsplines.Errors(f, o.points) })
			if err != nil {
				return err
			}
			fmt.Fprintf(stdout, "%-20s %9.1e %9.1e\n", r.Element, r.Double, r.Float)
		}
		return nil
	}
	fmt.Fprintf(stdout, "ns for a value, one thread, best of %d.\n%-20s %9s %9s %9s %9s %8s\n", o.repeated,
		"element", "float32", "float64", "random", "generic", "ratio")
	for _, f := range fast.Functions {
		size := o.size
		if f.Volume != nil {
			size = min(size, 64)
		}
		r, err := await(ctx, func() (boxsplines.SpeedRow, error) { return boxsplines.Speed(f, size, o.points, o.repeated) })
		if err != nil {
			return err
		}
		fmt.Fprintf(stdout, "%-20s %9.1f %9.1f %9.1f %9.0f %7.0fx\n", r.Element, r.Float, r.Double, r.Random, r.Generic, r.Generic/r.Double)
	}
	fmt.Fprintf(stdout, "\nPackage bspline and the generated code, alternating, %dx%d.\n%-6s %16s %9s %16s %9s\n", o.size, o.size,
		"order", "bspline float32", "generated", "bspline float64", "generated")
	for i, element := range []string{"bilinear", "biquadratic", "bicubic"} {
		order := bspline.Order(i + 1)
		r, err := await(ctx, func() (boxsplines.OursRow, error) {
			return boxsplines.Ours(order, element, o.size, o.points, o.repeated)
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(stdout, "%-6v %16.1f %9.1f %16.1f %9.1f\n", r.Order, r.BSpline32, r.Fast32, r.BSpline, r.Fast)
	}
	if o.python == "" {
		return nil
	}
	lines, err := boxsplines.Peers(ctx, o.python, o.size, o.points, o.repeated)
	if err != nil {
		return fault.New(fault.Usage, "--python: %w", err)
	}
	fmt.Fprintf(stdout, "\n%s", lines)
	return nil
}
