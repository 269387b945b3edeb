package measure

import (
	"fmt"
	"math"

	"retime/frame"
	"retime/pipeline/fault"
	"retime/pipeline/media"
)

// lpips measures how different two pictures look to people (Zhang, Isola, Efros, Shechtman and
// Wang, "The Unreasonable Effectiveness of Deep Features as a Perceptual Metric", CVPR 2018),
// version 0.1 with AlexNet, on RGB of 8 bits: 0 for equal pictures.
type lpips struct {
	filter *media.Filter
	frames int64
	layers []layer
}

// layer is a convolution with a rectifier, and the weights of differences in its features.
type layer struct {
	weights      array // by row, column, channel of the input, channel of the output
	biases       array
	counts       array
	stride, edge int
	pool         bool // pools the output before the next layer
}

// lpipsSide is the smallest picture side for which the last layer has features.
const lpipsSide = 31

// newLPIPS returns a measure with the weights in an .npz file: w0 to w4 and b0 to b4 are the
// network's, and l0 to l4 weight the channels' differences.
func newLPIPS(v media.Video, file string, threads int) (*lpips, error) {
	if v.Width < lpipsSide || v.Height < lpipsSide {
		return nil, fault.New(fault.Usage, "pictures of %dx%d are too small for LPIPS", v.Width, v.Height)
	}
	var names []string
	for i := range 5 {
		names = append(names, fmt.Sprint("w", i), fmt.Sprint("b", i), fmt.Sprint("l", i))
	}
	arrays, err := readNPZ(file, names)
	if err != nil {
		return nil, err
	}
	l := &lpips{layers: []layer{{stride: 4, edge: 2, pool: true}, {stride: 1, edge: 2, pool: true}, {stride: 1, edge: 1}, {stride: 1, edge: 1}, {stride: 1, edge: 1}}}
	channels := 3
	for i := range l.layers {
		c := &l.layers[i]
		c.weights, c.biases, c.counts = arrays[fmt.Sprint("w", i)], arrays[fmt.Sprint("b", i)], arrays[fmt.Sprint("l", i)]
		s := c.weights.shape
		if len(s) != 4 || s[0] != s[1] || s[0] < 2*c.edge+1 || s[0] > 11 || s[2] != channels || len(c.biases.values) != s[3] || len(c.counts.values) != s[3] {
			return nil, fault.New(fault.BadData, "%s: arrays w%d, b%d and l%d do not fit LPIPS with AlexNet", file, i, i, i)
		}
		channels = s[3]
	}
	l.filter, err = media.NewFilter("[in0]scale=flags=accurate_rnd+full_chroma_int+bicubic,format=gbrp[out]", 1, v, threads)
	return l, err
}

func (l *lpips) close() { l.filter.Close() }

func (l *lpips) measure(workers frame.Workers, truth, made *frame.Frame) (float64, error) {
	var features [2]maps
	for i, f := range []*frame.Frame{truth, made} {
		if err := l.filter.Send(0, f, l.frames); err != nil {
			return 0, err
		}
		l.frames++
		rgb, err := l.filter.Receive()
		if err != nil {
			return 0, fmt.Errorf("measure LPIPS: %w", err)
		}
		features[i] = normalized(rgb)
		rgb.Release()
	}
	var sum float64
	for i := range l.layers {
		c := &l.layers[i]
		for k := range features {
			features[k] = c.convolve(workers, features[k])
		}
		sum += c.distance(features[0], features[1])
		for k := range features {
			if c.pool {
				features[k] = pooled(features[k])
			}
		}
	}
	return sum, nil
}

// maps holds the features of a picture by row, column and channel.
type maps struct {
	width, height, channels int
	values                  []float32
}

func newMaps(width, height, channels int) maps {
	return maps{width, height, channels, make([]float32, width*height*channels)}
}

func (m *maps) at(x, y int) []float32 { return m.values[(y*m.width+x)*m.channels:][:m.channels] }

// normalized returns the network's input.
func normalized(rgb *frame.Frame) maps {
	m := newMaps(rgb.Width, rgb.Height, 3)
	for c, plane := range []int{2, 0, 1} { // planes are green, blue and red
		mean, deviation := []float32{-.030, -.088, -.188}[c], []float32{.458, .448, .450}[c]
		p := frame.Samples[uint8](rgb.Planes[plane])
		for y := range m.height {
			for x, v := range p.Row(y) {
				m.at(x, y)[c] = (float32(v)/127.5 - 1 - mean) / deviation
			}
		}
	}
	return m
}

// convolve returns the layer's features.
func (c *layer) convolve(workers frame.Workers, in maps) maps {
	side, channels := c.weights.shape[0], c.weights.shape[3]
	out := newMaps((in.width+2*c.edge-side)/c.stride+1, (in.height+2*c.edge-side)/c.stride+1, channels)
	workers.Rows(out.height, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			for x := range out.width {
				sums := out.at(x, y)
				copy(sums, c.biases.values)
				left, top := x*c.stride-c.edge, y*c.stride-c.edge
				from, to := max(left, 0), min(left+side, in.width)
				for j := max(top, 0); j < min(top+side, in.height); j++ {
					// A row of the window is contiguous, and so are its weights.
					window := in.values[(j*in.width+from)*in.channels : (j*in.width+to)*in.channels]
					addProducts(sums, window, c.weights.values[((j-top)*side+from-left)*in.channels*channels:])
				}
				for i, v := range sums {
					sums[i] = max(v, 0)
				}
			}
		}
	})
	return out
}

// addProducts adds to each sum the products of values and its weights, one in each row of weights.
func addProducts(sums, values, weights []float32) {
	n := len(sums)
	for ; len(values) >= 4; values, weights = values[4:], weights[4*n:] {
		a, b, c, d := values[0], values[1], values[2], values[3]
		if a == 0 && b == 0 && c == 0 && d == 0 {
			continue
		}
		p, q, r, s := weights[:n], weights[n:2*n], weights[2*n:3*n], weights[3*n:4*n]
		q, r, s = q[:len(p)], r[:len(p)], s[:len(p)]
		sums := sums[:len(p)]
		for i, w := range p {
			sums[i] += a*w + b*q[i] + c*r[i] + d*s[i]
		}
	}
	for k, v := range values {
		for i, w := range weights[k*n : (k+1)*n] {
			sums[i] += v * w
		}
	}
}

// distance returns the mean over all places of the weighted squared differences between features
// normalized to length 1.
func (c *layer) distance(a, b maps) float64 {
	var sum float64
	for i := 0; i < len(a.values); i += a.channels {
		p, q := a.values[i:i+a.channels], b.values[i:i+a.channels]
		u, v := 1/(length(p)+1e-10), 1/(length(q)+1e-10)
		for k, w := range c.counts.values {
			d := float64(p[k])*u - float64(q[k])*v
			sum += d * d * float64(w)
		}
	}
	return sum / float64(a.width*a.height)
}

func length(v []float32) float64 {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return math.Sqrt(sum)
}

// pooled returns the maximum of each 3 by 3 features, at every other row and column.
func pooled(in maps) maps {
	out := newMaps((in.width-3)/2+1, (in.height-3)/2+1, in.channels)
	for y := range out.height {
		for x := range out.width {
			most := out.at(x, y)
			for j := range 3 {
				for i := range 3 {
					for k, v := range in.at(2*x+i, 2*y+j) {
						most[k] = max(most[k], v) // features are not negative
					}
				}
			}
		}
	}
	return out
}
