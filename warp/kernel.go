package warp

import "retime/frame"

// Kernel is a spline that samples frames in Project mode.
type Kernel string

const (
	// BSpline is the B-spline of Params.Order.
	BSpline Kernel = "bspline"
	// ZwartPowell is the element of Zwart and Powell of package boxspline, on seven
	// coefficients of a quasi-interpolant, which reproduces parabolas.
	ZwartPowell Kernel = "zp"
)

// quasi sets dst to the coefficients of ZwartPowell: each sample and the difference from
// the spline's value there if samples were coefficients, (12 p - the four neighbours)/8.
// Nothing is rounded. dst and p have one size.
func quasi[T frame.Sample](workers frame.Workers, dst frame.Image[float32], p frame.Image[T]) {
	workers.Rows(p.Height, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			row, out := p.Row(y), dst.Row(y)
			above, below := p.Row(mirror(y-1, p.Height)), p.Row(mirror(y+1, p.Height))
			for x, v := range row {
				left, right := row[mirror(x-1, p.Width)], row[mirror(x+1, p.Width)]
				sum := 12*int32(v) - int32(left) - int32(right) - int32(above[x]) - int32(below[x])
				out[x] = float32(sum) / 8
			}
		}
	})
}

// zpWeights sets w to the weights of the seven coefficients that count at fractions fx and
// fy, and at to their places after the first of four by four coefficients, for rows that
// are stride apart. The weights are multiples of 2^-19, exact in float32.
func zpWeights(fx, fy uint8, stride int, w *[7]float32, at *[7]int) {
	// The nearest coefficient is the second or the third.
	nx, ny := int32(fx)>>(positionBits-1), int32(fy)>>(positionBits-1)
	zpWeightsAt(int32(fx)-nx<<positionBits, int32(fy)-ny<<positionBits, int(nx)+1+(int(ny)+1)*stride, stride, w, at)
}

// zwartPowell adds w times a block of samples, whose first has its four by four
// coefficients at index, to sums.
func (c *coefficients) zwartPowell(index int, fx, fy uint8, w float32, sums *[maxBlock]float32, g geometry) {
	var weights [7]float32
	var at [7]int
	zpWeights(fx, fy, c.Stride, &weights, &at)
	for j := range g.height {
		p := c.Pix[index+j*c.Stride:]
		for i := range g.width {
			v := float32(p[i+at[0]] * weights[0])
			for k := 1; k < len(weights); k++ {
				v += float32(p[i+at[k]] * weights[k])
			}
			sums[j*g.width+i] += float32(v * w)
		}
	}
}
