package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"retime/cmd/internal/still"
	"retime/cmd/internal/values"
	"retime/frame"
	"retime/pipeline/fault"
	"retime/warp/boxspline/plane"
	"retime/warp/bspline"
)

// ResampleOptions holds the flags of resample, as text.
type ResampleOptions struct {
	output            string
	transform         transformOptions
	order, kernel     string
	boundary, outside string
	precision         float64
	dtype, size       string
	threads           int
	overwrite, dryRun bool
	quiet, noWarn     bool
}

// AddFlags declares the flags of resample.
func (o *ResampleOptions) AddFlags(f *pflag.FlagSet) {
	o.order, o.boundary, o.outside, o.precision, o.dtype = "3", "half", "extend", 1e-6, "float64"
	declare(f, o.flags())
}

// flags defines the flags of resample.
func (o *ResampleOptions) flags() []flag {
	return append([]flag{
		{name: "output", short: "o", arg: "FILE", usage: "output: .pgm, .ppm, .png, .tif, .pfm, .npy", heading: commonHeading, use: outputFile, path: &o.output,
			Value: word(&o.output)},
		{name: "size", arg: "WxH", usage: "output size (default the input's, or the flow's)", heading: commonHeading, Value: numbers(&o.size)},
		{name: "overwrite", short: "y", usage: "overwrite the output", heading: commonHeading, Value: boolean(&o.overwrite)},
		{name: "dry-run", usage: "write nothing; report what would be written", heading: displayHeading, Value: boolean(&o.dryRun)},
		{name: "order", arg: "ORDER", usage: fmt.Sprintf("order of the B-spline, 0 to %d, or catmull-rom", bspline.MaxOrder), heading: samplingHeading, Value: numbers(&o.order)},
		{name: "kernel", arg: "KERNEL", usage: "another spline than one of --order: linear, quadratic, cubic, courant, zp", heading: samplingHeading,
			values: kernelNames(), Value: word(&o.kernel)},
		{name: "boundary", arg: "EXTENSION", usage: "the picture beyond its edges: half, whole, periodic, constant", heading: samplingHeading,
			values: []string{"half", "whole", "periodic", "constant"}, Value: word(&o.boundary)},
		{name: "outside", arg: "WHAT", usage: "the picture there: extend (by --boundary), black, extend,black", heading: samplingHeading,
			values: []string{"extend", "black", "extend,black", "black,extend"}, Value: word(&o.outside)},
		{name: "precision", arg: "ERROR", usage: "largest error of the prefilter, relative to the largest sample", heading: samplingHeading,
			Value: parsed(&o.precision, "1e-06", parseFloat)},
		{name: "dtype", arg: "TYPE", usage: "arithmetic: float32 (does for 8 bits up to order 11), float64", heading: samplingHeading,
			values: []string{"float32", "float64"}, Value: word(&o.dtype)},
		{name: "threads", arg: "N", usage: "worker threads (default all processors)", heading: machineHeading, Value: integer(&o.threads)},
		{name: "quiet", short: "q", usage: "print only errors and warnings", heading: displayHeading, Value: boolean(&o.quiet)},
		{name: "no-warn", usage: "print no warnings", heading: displayHeading, Value: boolean(&o.noWarn)},
	}, o.transform.flags()...)
}

func newResampleCommand() *cobra.Command {
	var o ResampleOptions
	cmd := &cobra.Command{
		Use:   "resample INPUT -o OUTPUT TRANSFORM",
		Short: "Transform a still picture by B-spline interpolation",
		Long: `resample moves a still picture and interpolates it with a B-spline: the output
at (k, l) is the input at φ⁻¹(k, l), and the numbers given describe φ, which
tells where each point of the picture goes. Positions are in samples, x to the right and y
down, with (0, 0) at the centre of the first sample. Numbers may be fractions,
as in 1/8. No filter runs before a picture is made smaller. With a flow, (x, y)
shows the input at (x+u, y+v); vectors are rounded to 1/256.

Beyond its edges a picture abcde continues as cba|abcde|edc (half), dcb|abcde|dcb
(whole), cde|abcde|abc (periodic) or aaa|abcde|eee (constant). --outside
black hides all of that; extend,black shows it sideways only.

The kernels are box splines, in generated code; docs/boxspline.md lists their
properties and speed. linear, quadratic and cubic are orders 1 to 3. courant is
linear on triangles. zp, of Zwart and Powell, is smooth like order 2 and reads
seven coefficients; it shows a quasi-interpolant, which softens the finest
checks.

Pictures are PGM and PPM of any maximum, PNG and TIFF of 8 and 16 bit, PFM and
two-dimensional .npy arrays of floats. Samples are used as they are: colours
are not converted, and alpha is one more channel. The output keeps
the depth of the input if its format can; integer samples are rounded and
clamped.`,
		Example: `  Move a picture by half a sample to the right and up, with order 11:
    retime resample in.png -o out.png --shift 0.5,-0.5 --order 11
  Double its size:
    retime resample in.png -o out.png --zoom 2 --size 1280x960
  Enlarge the part of a 512x512 picture 100 samples right of and below its centre
  eight times, with linear interpolation:
    retime resample in.pgm -o out.pgm --shift -100,-100 --zoom 8 --center 256,256 --order 1
  Show it at half its size, with its edges drawn out to all sides, or drawn out
  sideways and with black above and below:
    retime resample in.pgm -o out.pgm --zoom 1/2 --center 256,256 --order 0 --boundary constant
    retime resample in.pgm -o out.pgm --zoom 1/2 --center 256,256 --order 0 --boundary constant --outside extend,black`,
		Args: oneInput,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runResample(cmd.Context(), o, args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.AddFlags(cmd.Flags())
	return cmd
}

// resampling is the parsed form of the flags.
type resampling struct {
	mapping   mapping
	order     bspline.Order
	kernel    plane.Kernel // empty for the B-spline of the order
	boundary  bspline.Boundary
	precision float64
	outside   [2]bool // of the boundary, sideways and up and down: black, not extended
	double    bool    // arithmetic in float64
	size      *size   // of the output; nil for the transform's or the input's
	workers   frame.Workers
}

// parse parses the flags.
func (o *ResampleOptions) parse() (r resampling, err error) {
	if r.mapping, err = o.transform.parse(); err != nil {
		return r, err
	}
	if r.order, err = bspline.ParseOrder(o.order); err != nil {
		return r, fault.New(fault.Usage, "--order: %w", err)
	}
	if o.kernel != "" {
		if r.kernel, err = plane.ParseKernel(o.kernel); err != nil {
			return r, fault.New(fault.Usage, "--kernel: %w", err)
		}
		if o.order != "3" {
			return r, fault.New(fault.Usage, "--kernel and --order: give one of them")
		}
	}
	if r.boundary, err = bspline.ParseBoundary(o.boundary); err != nil {
		return r, fault.New(fault.Usage, "--boundary: %w", err)
	}
	if r.precision = o.precision; !(r.precision > 0) || math.IsInf(r.precision, 0) {
		return r, fault.New(fault.Usage, "--precision %v: want a positive number, such as 1e-6", o.precision)
	}
	if r.outside, err = parseOutside(o.outside); err != nil {
		return r, err
	}
	switch o.dtype {
	case "float32":
	case "float64":
		r.double = true
	default:
		return r, fault.New(fault.Usage, "--dtype %s: choose float32 or float64", o.dtype)
	}
	if o.size != "" {
		var s size
		var err error
		if s.width, s.height, err = values.Size(o.size); err != nil {
			return r, err
		}
		r.size = &s
	}
	if o.threads < 0 {
		return r, fault.New(fault.Usage, "--threads %d: want 0 or more", o.threads)
	}
	r.workers.N = o.threads
	return r, nil
}

func kernelNames() []string {
	names := make([]string, len(plane.Kernels))
	for i, k := range plane.Kernels {
		names[i] = string(k)
	}
	return names
}

// sampling names the spline.
func (r *resampling) sampling() string {
	if r.kernel != "" {
		return "kernel " + string(r.kernel)
	}
	return fmt.Sprintf("order %v", r.order)
}

// parseOutside tells for each axis whether the outside of the picture is black.
func parseOutside(text string) (black [2]bool, err error) {
	axes := strings.Split(text, ",")
	if len(axes) == 1 {
		axes = append(axes, axes[0])
	}
	for i, a := range axes {
		if i >= len(black) || a != "extend" && a != "black" {
			return black, fault.New(fault.Usage, "--outside %s: choose extend or black, for both directions or one each as in extend,black", text)
		}
		black[i] = a == "black"
	}
	return black, nil
}

// size is a picture's size in samples.
type size struct{ width, height int }

func runResample(ctx context.Context, o ResampleOptions, input string, stdout, stderr io.Writer) error {
	start := time.Now()
	if err := checkWritten(o.flags(), input, o.overwrite); err != nil {
		return err
	}
	r, err := o.parse()
	if err != nil {
		return err
	}
	out, err := still.NewOutput(o.output, input, o.overwrite)
	if err != nil {
		return err
	}
	p, err := still.Read(input)
	if err != nil {
		return err
	}
	if err := out.Check(p); err != nil {
		return err
	}
	if dropped := out.Dropped(p); len(dropped) > 0 && !o.noWarn {
		slog.New(newLogHandler(stderr, slog.LevelInfo)).Warn("the output's format has no place for all that the input says",
			"dropped", strings.Join(dropped, " "))
	}
	if err := r.apply(ctx, p, input); err != nil {
		return err
	}
	if o.dryRun {
		fmt.Fprintf(stdout, "%s: %v, %s\n", o.output, p, r.sampling())
		return nil
	}
	if err := out.Write(p); err != nil {
		return err
	}
	if !o.quiet {
		fmt.Fprintf(stdout, "%s: %v, %s, %s\n", o.output, p, r.sampling(), brief(time.Since(start)))
	}
	return nil
}

// apply transforms every channel of p. input names the picture in errors.
func (r *resampling) apply(ctx context.Context, p *still.Picture, input string) error {
	var in, out size
	in.width, in.height = p.Size()
	switch out = in; {
	case r.mapping.size != nil && r.size != nil && *r.mapping.size != *r.size:
		return fault.New(fault.Usage, "--size %dx%d: the flow has %dx%d vectors, one for each sample of the output; leave --size out",
			r.size.width, r.size.height, r.mapping.size.width, r.mapping.size.height)
	case r.mapping.size != nil:
		out = *r.mapping.size
	case r.size != nil:
		out = *r.size
	}
	if samples := float64(out.width) * float64(out.height) * float64(len(p.Channels)); samples > still.MaxSamples {
		return fault.New(fault.Usage, "an output of %dx%d in %d channels is beyond the limit of %d samples: make it smaller",
			out.width, out.height, len(p.Channels), still.MaxSamples)
	}
	tr, err := r.mapping.transform(in, out)
	if err != nil {
		return err
	}
	channel := resampleChannel[float32]
	if r.double {
		channel = resampleChannel[float64]
	}
	for i, m := range p.Channels {
		if err := ctx.Err(); err != nil {
			return err
		}
		if p.Channels[i], err = channel(r, m, out, tr); err != nil {
			return fault.New(fault.KindOf(err), "channel %d of %q: %w", i, input, err)
		}
	}
	return nil
}

// sampler is the spline of a channel.
type sampler[T bspline.Float] interface {
	WarpWithin(workers frame.Workers, dst frame.Image[T], tr bspline.Transform, outside bspline.Outside[T]) error
}

// resampleChannel transforms m with arithmetic in T.
func resampleChannel[T bspline.Float](r *resampling, m frame.Image[float64], out size, tr bspline.Transform) (frame.Image[float64], error) {
	var none frame.Image[float64]
	spline, err := newSampler[T](r, m)
	if err != nil {
		return none, err
	}
	dst := frame.NewImage[T](out.width, out.height)
	if err := spline.WarpWithin(r.workers, dst, tr, bspline.Outside[T]{X: r.outside[0], Y: r.outside[1]}); err != nil {
		return none, err
	}
	return converted[float64](r.workers, dst), nil
}

// newSampler returns the spline of m.
func newSampler[T bspline.Float](r *resampling, m frame.Image[float64]) (sampler[T], error) {
	if r.kernel != "" {
		spline, err := plane.New(r.workers, converted[T](r.workers, m), r.kernel, r.boundary, r.precision)
		if err != nil {
			return nil, fault.New(fault.BadData, "%w", err)
		}
		return spline, nil
	}
	prefilter, err := bspline.NewPrefilter[T](r.order, r.boundary, r.precision)
	if err != nil {
		return nil, fault.New(fault.Usage, "%w", err)
	}
	margin := float64(prefilter.Margin())
	if (float64(m.Width)+2*margin)*(float64(m.Height)+2*margin) > still.MaxSamples {
		return nil, fault.New(fault.Usage, "order %v with a precision of %v extends the constant boundary by %v samples to all sides, "+
			"beyond the limit of %d: take a larger --precision or another --boundary", r.order, r.precision, margin, still.MaxSamples)
	}
	spline, err := bspline.New(r.workers, converted[T](r.workers, m), r.order, r.boundary, r.precision)
	if err != nil {
		return nil, fault.New(fault.BadData, "%w", err)
	}
	return spline, nil
}

// converted returns m in another type. It returns m itself if the types are equal.
func converted[D, S bspline.Float](workers frame.Workers, m frame.Image[S]) frame.Image[D] {
	if same, ok := any(m).(frame.Image[D]); ok {
		return same
	}
	out := frame.NewImage[D](m.Width, m.Height)
	workers.Rows(m.Height, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			dst := out.Row(y)
			for x, v := range m.Row(y) {
				dst[x] = D(v)
			}
		}
	})
	return out
}
