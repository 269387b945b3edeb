package stages

import (
	"math/bits"

	"retime/frame"
	"retime/warp"
)

// Light says what means of frames are of.
type Light uint8

// The choices. UsualLight is light for shutters, and for cross-fades of floats.
const (
	UsualLight Light = iota
	LinearLight
	CodedLight // samples as they are
)

// mix is how much each of some frames counts in a mean.
type mix struct {
	weights []int64 // which sum up to total
	total   int64
	shift   int // bits of light that are left out, so that sums fit
}

// evenly counts each of n frames alike.
func evenly(n int) mix {
	m := mix{weights: make([]int64, n), total: int64(n)}
	for i := range m.weights {
		m.weights[i] = 1
	}
	return m.bounded()
}

// fading counts two frames as a cross-fade does at a phase.
func fading(phase warp.Phase) mix {
	return mix{weights: []int64{warp.PhaseOne - int64(phase), int64(phase)}, total: warp.PhaseOne}.bounded()
}

// bounded leaves out as many bits of light as a sum of the brightest needs room for.
func (m mix) bounded() mix {
	const brightest = 57 // bits: 316 times frame.Bright, at a signal of 2 by frame.Log316
	m.shift = max(brightest+bits.Len64(uint64(m.total))-63, 0)
	return m
}

// share is what the light of frame k adds to a sum.
func (m *mix) share(k int, light int64) int64 { return (light >> m.shift) * m.weights[k] }

// mean returns the light of a sum.
func (m *mix) mean(sum int64) int64 { return divide(sum, m.total) << m.shift }

// fade makes dst the cross-fade of a and b, in light.
func fade(dst, a, b *frame.Frame, phase warp.Phase, light frame.Light, workers frame.Workers) {
	if dst.Format.Bytes() == 1 {
		average[uint8](dst, []*frame.Frame{a, b}, fading(phase), light, workers)
	} else {
		average[uint16](dst, []*frame.Frame{a, b}, fading(phase), light, workers)
	}
}

// average makes dst the mean of frames: of their light if its curve is known, so that a bright thing
// that moves stays as bright as a lens would see it, and of their samples otherwise.
// Alpha is the mean of samples, but for floats, whose samples are signals in alpha, too.
func average[T frame.Sample](dst *frame.Frame, frames []*frame.Frame, m mix, light frame.Light, workers frame.Workers) {
	format, curve := dst.Format, light.Curve()
	colours := format.Planes
	switch {
	case curve == nil:
		colours = 0
	case format.Alpha() && !light.Floats: // those of OpenEXR are coded as colour is
		colours--
	}
	for i := colours; i < format.Planes; i++ {
		mean[T](dst, frames, m, i)
	}
	if colours == 3 && !format.RGB {
		averageYUV[T](dst, frames, m, newYUV(light, format), curve, workers)
		return
	}
	luma, _ := scales(light.FullRange || format.RGB, format)
	for i := range colours {
		averagePlane[T](dst, frames, m, i, luma, curve, workers)
	}
}

// scale describes how samples stand for signals: offset for 0, and offset+span for 1.
type scale struct{ offset, span int64 }

// scales returns the scales of luma and of chroma, whose signals go from -1/2 to 1/2.
func scales(full bool, format frame.Format) (luma, chroma scale) {
	unit, middle := int64(1)<<(format.Depth-8), int64(1)<<(format.Depth-1)
	if full {
		return scale{0, int64(format.Max())}, scale{middle, int64(format.Max())}
	}
	return scale{16 * unit, 219 * unit}, scale{middle, 224 * unit}
}

// signal returns the signal of a sample, in 1/frame.One.
func (s scale) signal(v int64) int64 { return divide((v-s.offset)*frame.One, s.span) }

// sample returns the sample of a signal, at most most.
func (s scale) sample(v, most int64) int64 {
	return min(max(s.offset+divide(v*s.span, frame.One), 0), most)
}

// divide returns a/b rounded to nearest, halves up; b is above 0.
func divide(a, b int64) int64 {
	a += b / 2
	if a < 0 {
		a -= b - 1
	}
	return a / b
}

// averagePlane averages the light of plane i, whose samples are signals of their own.
func averagePlane[T frame.Sample](dst *frame.Frame, frames []*frame.Frame, m mix, i int, s scale, curve *frame.Curve, workers frame.Workers) {
	most := int64(dst.Format.Max())
	signals, lights := make([]int64, most+1), make([]int64, most+1)
	for v := range signals {
		signals[v] = s.signal(int64(v))
		lights[v] = curve.Light(signals[v])
	}
	to := frame.Samples[T](dst.Planes[i])
	workers.Rows(to.Height, func(y0, y1 int) {
		rows := make([][]T, len(frames))
		for y := y0; y < y1; y++ {
			for k, f := range frames {
				rows[k] = frame.Samples[T](f.Planes[i]).Row(y)
			}
			row := to.Row(y)
			for x := range row {
				low, high := rows[0][x], rows[0][x]
				var sum int64
				for k, r := range rows {
					low, high = min(low, r[x]), max(high, r[x])
					sum += m.share(k, lights[min(int64(r[x]), most)])
				}
				if row[x] = low; low != high {
					v := curve.Signal(m.mean(sum), signals[min(int64(low), most)], signals[min(int64(high), most)])
					row[x] = T(s.sample(v, most))
				}
			}
		}
	})
}

// yuv converts between luma and chroma and red, green and blue, all signals in 1/frame.One.
type yuv struct {
	luma, chroma     scale
	red, green, blue int64 // weights of luma in 1/weights
	toRed, toBlue    int64 // what a chroma signal adds to luma, in 1/frame.One
}

const weights = 10_000

func newYUV(light frame.Light, format frame.Format) *yuv {
	c := &yuv{red: light.Red, blue: light.Blue}
	if c.red == 0 || c.blue == 0 {
		c.red, c.blue = 2627, 593 // ITU-R BT.2020
	}
	c.green = weights - c.red - c.blue
	c.luma, c.chroma = scales(light.FullRange, format)
	c.toRed, c.toBlue = divide(2*(weights-c.red)*frame.One, weights), divide(2*(weights-c.blue)*frame.One, weights)
	return c
}

// back returns the signals of luma and chroma.
func (c *yuv) back(p [3]int64) (y, u, v int64) {
	y = divide(c.red*p[0]+c.green*p[1]+c.blue*p[2], weights)
	return y, divide((p[2]-y)*weights, 2*(weights-c.blue)), divide((p[0]-y)*weights, 2*(weights-c.red))
}

// tables hold, by sample, the signal of luma, and what the signals of chroma add to it for red and for blue.
type tables struct{ luma, red, blue []int64 }

func (c *yuv) tables(most int64) (t tables) {
	for _, list := range []*[]int64{&t.luma, &t.red, &t.blue} {
		*list = make([]int64, most+1)
	}
	for v := range most + 1 {
		t.luma[v] = c.luma.signal(v)
		t.red[v], t.blue[v] = divide(c.toRed*c.chroma.signal(v), frame.One), divide(c.toBlue*c.chroma.signal(v), frame.One)
	}
	return t
}

// averageYUV averages the light of red, green and blue. Each pixel has the chroma of its block; the
// block's chroma becomes the mean of its pixels'.
func averageYUV[T frame.Sample](dst *frame.Frame, frames []*frame.Frame, m mix, c *yuv, curve *frame.Curve, workers frame.Workers) {
	sx, sy, most := dst.Format.ChromaX, dst.Format.ChromaY, int64(dst.Format.Max())
	table := c.tables(most)
	planes := func(f *frame.Frame) (p [3]frame.Image[T]) {
		for i := range p {
			p[i] = frame.Samples[T](f.Planes[i])
		}
		return p
	}
	to, from := planes(dst), make([][3]frame.Image[T], len(frames))
	for k, f := range frames {
		from[k] = planes(f)
	}
	workers.Rows(to[1].Height, func(y0, y1 int) {
		e := exposure[T]{mix: m, yuv: c, curve: curve, luma: table.luma, chroma: make([][3]int64, len(frames)), rows: make([][]T, len(frames))}
		for cy := y0; cy < y1; cy++ {
			for cx := range to[1].Width {
				var u, v, pixels int64
				first := [2]T{from[0][1].Row(cy)[cx], from[0][2].Row(cy)[cx]}
				e.same = true
				for k := range from {
					cb, cr := from[k][1].Row(cy)[cx], from[k][2].Row(cy)[cx]
					e.same = e.same && cb == first[0] && cr == first[1]
					r, b := table.red[min(int64(cr), most)], table.blue[min(int64(cb), most)]
					e.chroma[k] = [3]int64{r, -divide(c.red*r+c.blue*b, c.green), b}
				}
				still := true
				for y := cy << sy; y < min((cy+1)<<sy, to[0].Height); y++ {
					for k := range from {
						e.rows[k] = from[k][0].Row(y)
					}
					for x := cx << sx; x < min((cx+1)<<sx, to[0].Width); x++ {
						luma, cb, cr, same := e.pixel(x, most)
						if still = still && same; same {
							to[0].Row(y)[x] = e.rows[0][x]
						} else {
							to[0].Row(y)[x] = T(c.luma.sample(luma, most))
						}
						u, v, pixels = u+cb, v+cr, pixels+1
					}
				}
				if still {
					to[1].Row(cy)[cx], to[2].Row(cy)[cx] = first[0], first[1]
				} else {
					to[1].Row(cy)[cx] = T(c.chroma.sample(divide(u, pixels), most))
					to[2].Row(cy)[cx] = T(c.chroma.sample(divide(v, pixels), most))
				}
			}
		}
	})
}

// exposure averages the pixels of a block of frames that share chroma.
type exposure[T frame.Sample] struct {
	mix    mix
	yuv    *yuv
	curve  *frame.Curve
	luma   []int64    // signals, by sample
	rows   [][]T      // a row of luma of each frame
	chroma [][3]int64 // what it adds to the signal of luma for red, green and blue, in each frame
	same   bool       // whether chroma is the same in all frames
}

// pixel returns the signals of the mean light of a row's pixel x; same is set if it is the same in all
// frames.
func (e *exposure[T]) pixel(x int, most int64) (luma, u, v int64, same bool) {
	same = e.same
	for k := 1; k < len(e.rows) && same; k++ {
		same = e.rows[k][x] == e.rows[0][x]
	}
	y, d := e.luma[min(int64(e.rows[0][x]), most)], &e.chroma[0]
	p := [3]int64{y + d[0], y + d[1], y + d[2]}
	if !same {
		var r, g, b int64 // sums
		low, high := p, p
		for k, row := range e.rows {
			y, d := e.luma[min(int64(row[x]), most)], &e.chroma[k]
			red, green, blue := y+d[0], y+d[1], y+d[2]
			low[0], high[0] = min(low[0], red), max(high[0], red)
			low[1], high[1] = min(low[1], green), max(high[1], green)
			low[2], high[2] = min(low[2], blue), max(high[2], blue)
			r += e.mix.share(k, e.curve.Light(red))
			g += e.mix.share(k, e.curve.Light(green))
			b += e.mix.share(k, e.curve.Light(blue))
		}
		for i, sum := range [3]int64{r, g, b} {
			p[i] = e.curve.Signal(e.mix.mean(sum), low[i], high[i])
		}
	}
	luma, u, v = e.yuv.back(p)
	return luma, u, v, same
}
