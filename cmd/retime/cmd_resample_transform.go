package main

import (
	"bufio"
	"errors"
	"io/fs"
	"math"
	"strconv"
	"strings"

	"retime/flow"
	"retime/frame"
	"retime/pipeline/fault"
	"retime/pipeline/plainfile"
	"retime/warp/bspline"
)

// transformOptions holds the flags of the transforms, as text.
type transformOptions struct {
	shift, zoom, rotate, center, affine, homography, flow string
}

// flags defines the flags of the transforms.
func (o *transformOptions) flags() []flag {
	return []flag{
		{name: "shift", arg: "DX,DY", usage: "move right and down, in samples; before --zoom or --rotate if both are given", heading: transformHeading, Value: numbers(&o.shift)},
		{name: "zoom", arg: "S", usage: "magnify S times", heading: transformHeading, Value: numbers(&o.zoom)},
		{name: "rotate", arg: "DEGREES", usage: "turn clockwise", heading: transformHeading, Value: numbers(&o.rotate)},
		{name: "center", arg: "X,Y", usage: "the point that --zoom and --rotate leave in its place (default the middle)", heading: transformHeading, Value: numbers(&o.center)},
		{name: "affine", arg: "a,b,c,d,e,f", usage: "move (x, y) to (ax+by+c, dx+ey+f)", heading: transformHeading, Value: numbers(&o.affine)},
		{name: "homography", arg: "h11,...,h33", usage: "move (x, y) to (X/Z, Y/Z), (X, Y, Z) being this matrix times (x, y, 1)", heading: transformHeading, Value: numbers(&o.homography)},
		{name: "flow", arg: "FILE", usage: "move along the vectors in a Middlebury .flo file; black if unknown", heading: transformHeading,
			use: readsFile, path: &o.flow, Value: word(&o.flow)},
	}
}

// mapping is a transform that may depend on the sizes of input and output.
type mapping struct {
	transform func(in, out size) (bspline.Transform, error)
	size      *size // of the output; nil if the transform has none
}

// parse makes sure that the flags name exactly one transform, and parses it.
func (o *transformOptions) parse() (mapping, error) {
	var names []string
	for _, f := range []struct{ name, value string }{
		{"--zoom", o.zoom}, {"--rotate", o.rotate}, {"--affine", o.affine}, {"--homography", o.homography}, {"--flow", o.flow},
	} {
		if f.value != "" {
			names = append(names, f.name)
		}
	}
	switch {
	case len(names) == 0 && o.shift == "":
		return mapping{}, fault.New(fault.Usage, "no transform: give one of --shift, --zoom, --rotate, --affine, --homography and --flow")
	case len(names) > 1:
		return mapping{}, fault.New(fault.Usage, "%s: one transform at a time", strings.Join(names, " and "))
	case o.shift != "" && o.zoom == "" && o.rotate == "" && len(names) > 0:
		return mapping{}, fault.New(fault.Usage, "--shift and %s: --shift goes with --zoom and --rotate only", names[0])
	case o.center != "" && o.zoom == "" && o.rotate == "":
		return mapping{}, fault.New(fault.Usage, "--center goes with --zoom and --rotate only")
	case o.affine != "":
		return parseAffine(o.affine)
	case o.homography != "":
		return parseHomography(o.homography)
	case o.flow != "":
		return readFlow(o.flow)
	}
	return o.parseCentered()
}

// parseCentered parses a shift, a zoom or a rotation about the centre, or a shift
// followed by one of these.
func (o *transformOptions) parseCentered() (mapping, error) {
	shift := bspline.Shift(0, 0)
	if o.shift != "" {
		v, err := parseNumbers("--shift", o.shift, 2)
		if err != nil {
			return mapping{}, err
		}
		shift = bspline.Shift(v[0], v[1])
	}
	var turn func(cx, cy float64) (bspline.Projective, error)
	switch {
	case o.zoom != "":
		v, err := parseNumbers("--zoom", o.zoom, 1)
		if err != nil {
			return mapping{}, err
		}
		turn = func(cx, cy float64) (bspline.Projective, error) { return bspline.Zoom(v[0], cx, cy) }
	case o.rotate != "":
		v, err := parseNumbers("--rotate", o.rotate, 1)
		if err != nil {
			return mapping{}, err
		}
		turn = func(cx, cy float64) (bspline.Projective, error) {
			return bspline.Rotation(v[0]*math.Pi/180, cx, cy), nil
		}
	default:
		return fixed(shift), nil
	}
	var center []float64
	if o.center != "" {
		var err error
		if center, err = parseNumbers("--center", o.center, 2); err != nil {
			return mapping{}, err
		}
	}
	return mapping{transform: func(in, out size) (bspline.Transform, error) {
		x, y := in.middle()
		if center != nil {
			x, y = center[0], center[1]
		}
		p, err := turn(x, y)
		if err != nil {
			return nil, fault.New(fault.Usage, "%w", err)
		}
		p = shift.Then(p)
		if center == nil {
			ox, oy := out.middle()
			p = p.Then(bspline.Shift(ox-x, oy-y))
		}
		return p, nil
	}}, nil
}

func (s size) middle() (x, y float64) { return float64(s.width-1) / 2, float64(s.height-1) / 2 }

// fixed returns a mapping to tr, whatever the sizes.
func fixed(tr bspline.Transform) mapping {
	return mapping{transform: func(size, size) (bspline.Transform, error) { return tr, nil }}
}

func parseAffine(text string) (mapping, error) {
	v, err := parseNumbers("--affine", text, 6)
	if err != nil {
		return mapping{}, err
	}
	p, err := bspline.Affine(v[0], v[1], v[2], v[3], v[4], v[5])
	if err != nil {
		return mapping{}, fault.New(fault.Usage, "--affine: %w", err)
	}
	return fixed(p), nil
}

func parseHomography(text string) (mapping, error) {
	v, err := parseNumbers("--homography", text, 9)
	if err != nil {
		return mapping{}, err
	}
	p, err := bspline.Homography([9]float64(v))
	if err != nil {
		return mapping{}, fault.New(fault.Usage, "--homography: %w", err)
	}
	return fixed(p), nil
}

// readFlow reads a backward flow. Its unknown vectors point nowhere.
func readFlow(name string) (mapping, error) {
	f, err := plainfile.Open(name, plainfile.Unlimited) // ReadFlo bounds what it reads
	if err != nil {
		return mapping{}, fault.New(fault.NoInput, "flow %w", err)
	}
	defer f.Close()
	field, err := flow.ReadFlo(bufio.NewReader(f))
	if err != nil {
		kind := fault.BadData
		if pathError := (*fs.PathError)(nil); errors.As(err, &pathError) {
			kind = fault.NoInput
		}
		return mapping{}, fault.New(kind, "%q: %w", name, err)
	}
	u, v := frame.NewImage[float32](field.Width, field.Height), frame.NewImage[float32](field.Width, field.Height)
	for y := range field.Height {
		us, vs := u.Row(y), v.Row(y)
		for x, vec := range field.Row(y) {
			us[x], vs[x] = float32(vec.X)/flow.One, float32(vec.Y)/flow.One
			if !vec.Known() {
				us[x] = float32(math.NaN())
			}
		}
	}
	tr, err := bspline.NewFlow(u, v)
	if err != nil {
		return mapping{}, err
	}
	m := fixed(tr)
	m.size = &size{field.Width, field.Height}
	return m, nil
}

// parseNumbers reads count finite numbers, or fractions of such, with commas between
// them.
func parseNumbers(flag, text string, count int) ([]float64, error) {
	fields := strings.Split(text, ",")
	if len(fields) != count {
		return nil, fault.New(fault.Usage, "%s %s: %d numbers, want %d with commas in between", flag, text, len(fields), count)
	}
	values := make([]float64, count)
	for i, f := range fields {
		above, below, fraction := strings.Cut(f, "/")
		v, err := strconv.ParseFloat(strings.TrimSpace(above), 64)
		if err == nil && fraction {
			var d float64
			d, err = strconv.ParseFloat(strings.TrimSpace(below), 64)
			v /= d
		}
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fault.New(fault.Usage, "%s %s: %q is no finite number or fraction", flag, text, f)
		}
		values[i] = v
	}
	return values, nil
}
