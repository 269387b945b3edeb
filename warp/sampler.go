package warp

import (
	"retime/frame"
	"retime/warp/bspline"
)

// Positions in a plane are fixed-point numbers in 1/256 sample.
const (
	positionBits = 8
	positionOne  = 1 << positionBits
)

// taps holds the four weights of a sample for each fraction of a position. They apply
// to the samples at -1, 0, 1 and 2 from the integer part of the position.
type taps [positionOne][4]float32

// newTaps returns the weights of a spline of order 0 to 3, or of Catmull-Rom, times the
// gain of its prefilter.
func newTaps(order bspline.Order) *taps {
	t := new(taps)
	gain := float32(bspline.Gain(order))
	var w [4]float64
	for f := range t {
		first, x := order.Locate(float64(f) / positionOne)
		bspline.Weights(order, x, w[:])
		for k := range order.Support() {
			t[f][first+1+k] = float32(w[k]) * gain
		}
	}
	return t
}

// margin is the number of coefficients that continue a plane beyond each edge, so that
// samples near an edge need no special case. Positions further out are moved to the
// margin.
const margin = 8

// coefficients are a plane's spline coefficients with a margin on all sides.
type coefficients struct {
	frame.Image[float32]     // with the margin
	width, height        int // without the margin
	kernel               Kernel
	light                *LightTable // by which they are of light; nil if they are of samples
}

// load computes the coefficients of p's samples, continued whole-symmetrically.
func load[T frame.Sample](c *coefficients, workers frame.Workers, p frame.Image[T], filter *bspline.Prefilter[float32]) error {
	c.width, c.height = p.Width, p.Height
	c.Resize(p.Width+2*margin, p.Height+2*margin)
	inner := frame.Image[float32]{
		Width: p.Width, Height: p.Height, Stride: c.Stride, Pix: c.Pix[margin*c.Stride+margin:],
	}
	if c.kernel == ZwartPowell {
		quasi(workers, inner, p)
	} else if err := interpolate(workers, inner, p, c.light, filter); err != nil {
		return err
	}
	workers.Rows(p.Height, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			row := c.Row(y + margin)
			for i := range margin {
				row[i] = row[margin+mirror(i-margin, p.Width)]
				row[margin+p.Width+i] = row[margin+mirror(p.Width+i, p.Width)]
			}
		}
	})
	for i := range margin {
		copy(c.Row(i), c.Row(margin+mirror(i-margin, p.Height)))
		copy(c.Row(margin+p.Height+i), c.Row(margin+mirror(p.Height+i, p.Height)))
	}
	return nil
}

// interpolate sets dst to the coefficients of the spline through the samples of p, or through their light unless t is nil.
func interpolate[T frame.Sample](workers frame.Workers, dst frame.Image[float32], p frame.Image[T], t *LightTable, filter *bspline.Prefilter[float32]) error {
	workers.Rows(p.Height, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			if t == nil {
				convert(dst.Row(y), p.Row(y))
				continue
			}
			row := dst.Row(y)
			for x, v := range p.Row(y) {
				row[x] = t.Of[v]
			}
		}
	})
	return filter.Apply(workers, dst)
}

func floats[T frame.Sample](dst []float32, src []T) {
	dst = dst[:len(src)]
	for x, v := range src {
		dst[x] = float32(v)
	}
}

// mirror maps i into [0, n) by reflection about the first and last sample.
func mirror(i, n int) int {
	if n == 1 {
		return 0
	}
	period := 2 * (n - 1)
	i %= period
	if i < 0 {
		i += period
	}
	return min(i, period-i)
}

// place returns the index of the first of the four by four coefficients of position (x,
// y), in 1/256 sample, and the fractions. It leaves room for block further samples to
// the right and below.
func (c *coefficients) place(x, y int32, block int) (index int, fx, fy uint8) {
	ix, iy, fx, fy := c.locate(x, y, block)
	return c.index(ix, iy), fx, fy
}

// locate returns the integers and the fractions of a position, moved to the margin if it is further out.
func (c *coefficients) locate(x, y int32, block int) (ix, iy int, fx, fy uint8) {
	ix, iy = int(x>>positionBits), int(y>>positionBits)
	fx, fy = uint8(x), uint8(y)
	if ix < 1-margin {
		ix, fx = 1-margin, 0
	} else if last := c.width + margin - 3 - block; ix > last {
		ix, fx = last, 0
	}
	if iy < 1-margin {
		iy, fy = 1-margin, 0
	} else if last := c.height + margin - 3 - block; iy > last {
		iy, fy = last, 0
	}
	return ix, iy, fx, fy
}

// index returns the index of the first of the four by four coefficients of the positions after sample (x, y).
func (c *coefficients) index(x, y int) int { return (y+margin-1)*c.Stride + x + margin - 1 }

// one adds w times the sample whose coefficients begin at index to *sum.
func (c *coefficients) one(index int, wx, wy *[4]float32, w float32, sum *float32) {
	s := c.Stride
	p := c.Pix[index : index+3*s+4]
	v := float32(across(p, wx) * wy[0])
	v += float32(across(p[s:], wx) * wy[1])
	v += float32(across(p[2*s:], wx) * wy[2])
	v += float32(across(p[3*s:], wx) * wy[3])
	*sum += float32(v * w)
}

func across(p []float32, w *[4]float32) float32 {
	_ = p[3]
	return float32(p[0]*w[0]) + float32(p[1]*w[1]) + float32(p[2]*w[2]) + float32(p[3]*w[3])
}

// four adds w times a block of two by two samples, which share their fractions, to
// sums.
func (c *coefficients) four(index int, wx, wy *[4]float32, w float32, sums *[maxBlock]float32) {
	s := c.Stride
	p := c.Pix[index : index+4*s+5]
	a0, b0 := across2(p, wx)
	a1, b1 := across2(p[s:], wx)
	a2, b2 := across2(p[2*s:], wx)
	a3, b3 := across2(p[3*s:], wx)
	a4, b4 := across2(p[4*s:], wx)
	y0, y1, y2, y3 := wy[0], wy[1], wy[2], wy[3]
	sums[0] += float32((float32(a0*y0) + float32(a1*y1) + float32(a2*y2) + float32(a3*y3)) * w)
	sums[1] += float32((float32(b0*y0) + float32(b1*y1) + float32(b2*y2) + float32(b3*y3)) * w)
	sums[2] += float32((float32(a1*y0) + float32(a2*y1) + float32(a3*y2) + float32(a4*y3)) * w)
	sums[3] += float32((float32(b1*y0) + float32(b2*y1) + float32(b3*y2) + float32(b4*y3)) * w)
}

func across2(p []float32, w *[4]float32) (a, b float32) {
	_ = p[4]
	w0, w1, w2, w3 := w[0], w[1], w[2], w[3]
	p1, p2, p3 := p[1], p[2], p[3]
	a = float32(p[0]*w0) + float32(p1*w1) + float32(p2*w2) + float32(p3*w3)
	b = float32(p1*w0) + float32(p2*w1) + float32(p3*w2) + float32(p[4]*w3)
	return a, b
}

// sixteen adds w times a block of four by four samples, which share their
// fractions, to sums.
func (c *coefficients) sixteen(index int, wx, wy *[4]float32, w float32, sums *[maxBlock]float32) {
	var rows [7][4]float32
	for j := range rows {
		p := c.Pix[index+j*c.Stride:][:7:7]
		w0, w1, w2, w3 := wx[0], wx[1], wx[2], wx[3]
		r := &rows[j]
		r[0] = float32(p[0]*w0) + float32(p[1]*w1) + float32(p[2]*w2) + float32(p[3]*w3)
		r[1] = float32(p[1]*w0) + float32(p[2]*w1) + float32(p[3]*w2) + float32(p[4]*w3)
		r[2] = float32(p[2]*w0) + float32(p[3]*w1) + float32(p[4]*w2) + float32(p[5]*w3)
		r[3] = float32(p[3]*w0) + float32(p[4]*w1) + float32(p[5]*w2) + float32(p[6]*w3)
	}
	y0, y1, y2, y3 := wy[0], wy[1], wy[2], wy[3]
	for j := range 4 {
		a, b, c, d := &rows[j], &rows[j+1], &rows[j+2], &rows[j+3]
		out := sums[4*j : 4*j+4 : 4*j+4]
		for i := range out {
			out[i] += float32((float32(a[i]*y0) + float32(b[i]*y1) + float32(c[i]*y2) + float32(d[i]*y3)) * w)
		}
	}
}
