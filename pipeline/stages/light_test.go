package stages

import (
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"retime/frame"
	"retime/pipeline/timeline"
	"retime/warp"
)

// rgb returns the signals of red, green and blue for the samples y, u and v.
func rgb(c *yuv, y, u, v int64) [3]int64 {
	luma, cb, cr := c.luma.signal(y), c.chroma.signal(u), c.chroma.signal(v)
	r, b := divide(c.toRed*cr, frame.One), divide(c.toBlue*cb, frame.One)
	return [3]int64{luma + r, luma - divide(c.red*r+c.blue*b, c.green), luma + b}
}

// lit returns the light of the frame's pixel (x, y): red, green and blue, or grey.
func lit(f *frame.Frame, light frame.Light, x, y int) []float64 {
	curve := light.Curve()
	at := func(i int) int64 {
		sx, sy := f.Format.Subsampling(i)
		return int64(frame.Samples[uint16](f.Planes[i]).Row(y >> sy)[x>>sx])
	}
	luma, _ := scales(light.FullRange || f.Format.RGB, f.Format)
	var signals []int64
	switch {
	case f.Format.Planes < 3:
		signals = []int64{luma.signal(at(0))}
	case f.Format.RGB:
		signals = []int64{luma.signal(at(0)), luma.signal(at(1)), luma.signal(at(2))}
	default:
		p := rgb(newYUV(light, f.Format), at(0), at(1), at(2))
		signals = p[:]
	}
	out := make([]float64, len(signals))
	for i, s := range signals {
		out[i] = float64(curve.Light(s)) / frame.Bright
	}
	return out
}

// The mean of frames has the mean of their light, whatever the number of threads, and what stays the
// same comes through as it is. Its samples are known.
func TestLightIsAveraged(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 29))
	samples := sha256.New()
	for _, c := range []struct {
		format frame.Format
		light  frame.Light
	}{
		{frame.Format{Name: "gbrp16le", Depth: 16, Planes: 3, RGB: true}, frame.Light{Transfer: frame.PQ, FullRange: true}},
		{frame.Format{Name: "gray12le", Depth: 12, Planes: 1}, frame.Light{Transfer: frame.HLG}},
		{frame.Format{Name: "yuv444p12le", Depth: 12, Planes: 3}, frame.Light{Transfer: frame.PQ, Red: 2627, Blue: 593}},
		{frame.Format{Name: "yuv420p10le", Depth: 10, Planes: 3, ChromaX: 1, ChromaY: 1}, frame.Light{Transfer: frame.HLG, Red: 2627, Blue: 593}},
		{frame.Format{Name: "yuv420p12le", Depth: 12, Planes: 3, ChromaX: 1, ChromaY: 1}, frame.Light{Gamma: frame.BT1886, Red: 2126, Blue: 722}},
		{frame.Format{Name: "gbrp16le", Depth: 16, Planes: 3, RGB: true}, frame.Light{Gamma: frame.SRGB, FullRange: true}},
		{frame.Format{Name: "yuva422p10le", Depth: 10, Planes: 4, ChromaX: 1}, frame.Light{Transfer: frame.PQ, FullRange: true}},
	} {
		const width, height, n = 37, 23, 9
		var frames []*frame.Frame
		for range n {
			f := frame.New(c.format, width, height)
			luma, chroma := scales(c.light.FullRange || c.format.RGB, c.format)
			for i := range f.Planes {
				p := frame.Samples[uint16](f.Planes[i])
				_, sy := c.format.Subsampling(i)
				s := luma
				if !c.format.RGB && (i == 1 || i == 2) {
					s = chroma
				}
				for y := range p.Height {
					for x := range p.Width {
						v := s.sample(frame.One/3+r.Int64N(frame.One/3), int64(c.format.Max()))
						if s == chroma {
							v = s.sample(r.Int64N(frame.One/16)-frame.One/32, int64(c.format.Max()))
						}
						if at := y << sy; at >= 8 && at < 12 { // what stays the same
							v = s.offset + s.span/5
						}
						p.Row(y)[x] = uint16(v)
					}
				}
			}
			frames = append(frames, f)
		}
		got := frame.New(c.format, width, height)
		average[uint16](got, frames, evenly(n), c.light, frame.Workers{N: 1})
		for _, p := range got.Planes {
			for y := range p.Height {
				samples.Write(p.Pix[y*p.Stride:][:2*p.Width])
			}
		}
		for _, threads := range []int{2, 5} {
			other := frame.New(c.format, width, height)
			if average[uint16](other, frames, evenly(n), c.light, frame.Workers{N: threads}); !frame.Equal(got, other) {
				t.Errorf("%s: %d threads make another mean", c.format.Name, threads)
			}
		}
		// Sums over the picture: what rounding and the chroma of blocks leave is small there.
		var want, have [3]float64
		for y := range height {
			for x := range width {
				for i, v := range lit(got, c.light, x, y) {
					have[i] += v
				}
				for _, f := range frames {
					for i, v := range lit(f, c.light, x, y) {
						want[i] += v / n
					}
				}
			}
		}
		for i := range want {
			if want[i] > 0 && math.Abs(have[i]/want[i]-1) > 0.01 {
				t.Errorf("%s: light %d is %.5f, want %.5f", c.format.Name, i, have[i], want[i])
			}
		}
		for i := range got.Planes {
			_, sy := c.format.Subsampling(i)
			for y := 8 >> sy; y < 12>>sy; y++ {
				a, b := frame.Samples[uint16](got.Planes[i]).Row(y), frame.Samples[uint16](frames[0].Planes[i]).Row(y)
				for x := range a {
					if a[x] != b[x] {
						t.Fatalf("%s: plane %d changes at %d,%d, where nothing moves: %d, %d", c.format.Name, i, x, y, a[x], b[x])
					}
				}
			}
		}
	}
	if got := fmt.Sprintf("%x", samples.Sum(nil))[:16]; got != "a07a92fdea1cd50f" {
		t.Errorf("the means are %s", got)
	}
}

// Alpha of floats is coded as their colour is, and so is its mean: what covers half is half covered, in light.
func TestAlphaOfFloatsIsAveraged(t *testing.T) {
	format, light := frame.Format{Name: "gbrap16le", Depth: 16, Planes: 4, RGB: true}, frame.Light{Transfer: frame.PQ, FullRange: true, Floats: true}
	var frames [2]*frame.Frame
	for k, v := range []uint16{0, 40000} {
		frames[k] = frame.New(format, 1, 1)
		for _, p := range frames[k].Planes {
			frame.Samples[uint16](p).Row(0)[0] = v
		}
	}
	mean := frame.New(format, 1, 1)
	fade(mean, frames[0], frames[1], warp.PhaseOne/2, light, frame.Workers{N: 1})
	colour, alpha := frame.Samples[uint16](mean.Planes[0]).Row(0)[0], frame.Samples[uint16](mean.Planes[3]).Row(0)[0]
	if colour != alpha || colour == 0 {
		t.Errorf("colour is %d, alpha %d", colour, alpha)
	}
}

// Within 0.1 %, a disc that moves through an exposure keeps its light, in every curve, and so does a
// cross-fade of 12 bits and more.
func TestExposedDiscKeepsItsLight(t *testing.T) {
	const width, height, n, dark, bright = 96, 48, 16, 0.05, 0.9
	for _, c := range []struct {
		format frame.Format
		light  frame.Light
	}{
		{frame.Format{Name: "gbrp16le", Depth: 16, Planes: 3, RGB: true}, frame.Light{Gamma: frame.SRGB, FullRange: true}},
		{frame.Format{Name: "gbrp10le", Depth: 10, Planes: 3, RGB: true}, frame.Light{Gamma: frame.Log100, FullRange: true}},
		{frame.Format{Name: "gray12le", Depth: 12, Planes: 1}, frame.Light{Gamma: frame.BT1886}},
		{frame.Format{Name: "yuv444p12le", Depth: 12, Planes: 3}, frame.Light{Gamma: frame.BT1886, Red: 2126, Blue: 722}},
		{frame.Format{Name: "yuv420p10le", Depth: 10, Planes: 3, ChromaX: 1, ChromaY: 1}, frame.Light{Gamma: frame.Gamma28, Red: 2126, Blue: 722}},
		{frame.Format{Name: "gbrp16le", Depth: 16, Planes: 3, RGB: true}, frame.Light{Transfer: frame.PQ, FullRange: true}},
		{frame.Format{Name: "gray10le", Depth: 10, Planes: 1}, frame.Light{Transfer: frame.HLG}},
	} {
		luma, chroma := scales(c.light.FullRange || c.format.RGB, c.format)
		var frames []*frame.Frame
		for k := range n {
			f := frame.New(c.format, width, height)
			for i := range f.Planes {
				p := frame.Samples[uint16](f.Planes[i])
				for y := range p.Height {
					for x := range p.Width {
						inside := min(max(10.5-math.Hypot(float64(x)-24-2.7*float64(k), float64(y)-24), 0), 1)
						v := luma.sample(int64(frame.One*(dark+(bright-dark)*inside)), int64(c.format.Max()))
						if i > 0 && !c.format.RGB {
							v = chroma.offset
						}
						p.Row(y)[x] = uint16(v)
					}
				}
			}
			frames = append(frames, f)
		}
		total := func(f *frame.Frame) (sum float64) {
			ground := lit(f, c.light, 0, 0)[0]
			for y := range height {
				for x := range width {
					sum += lit(f, c.light, x, y)[0] - ground
				}
			}
			return sum
		}
		want := 0.
		for _, f := range frames {
			want += total(f) / n
		}
		mean := frame.New(c.format, width, height)
		average[uint16](mean, frames, evenly(n), c.light, frame.Workers{N: 1})
		if got := total(mean); math.Abs(got/want-1) > 0.001 {
			t.Errorf("%s, %+v: %.5f of the disc's light", c.format.Name, c.light, got/want)
		}
		average[uint16](mean, frames, evenly(n), frame.Light{}, frame.Workers{N: 1})
		if got := total(mean); math.Abs(got/want-1) < 0.02 {
			t.Errorf("%s, %+v: the mean of samples has %.5f of the disc's light, too", c.format.Name, c.light, got/want)
		}
		most := 0.001
		if c.format.Depth < 12 {
			most = 0.003 // the flat parts of a cross-fade are all rounded alike, by up to half of a step
		}
		for _, phase := range []warp.Phase{0, 1, warp.PhaseOne / 3, warp.PhaseOne - 1} {
			fade(mean, frames[0], frames[5], phase, c.light, frame.Workers{N: 1})
			want := total(frames[0])*(1-float64(phase)/warp.PhaseOne) + total(frames[5])*float64(phase)/warp.PhaseOne
			if got := total(mean); math.Abs(got/want-1) > most {
				t.Errorf("%s, %+v: a cross-fade at %d has %.5f of the disc's light", c.format.Name, c.light, phase, got/want)
			}
		}
	}
}

// Sums of the brightest light that a curve has fit, however many frames they are of.
func TestBrightestLight(t *testing.T) {
	for tag := range frame.Transfer(32) {
		curve := frame.Light{Transfer: tag}.Curve()
		if curve == nil {
			continue
		}
		light := curve.Light(2 * frame.One)
		for name, m := range map[string]mix{"one": evenly(1), "some": evenly(63), "most": evenly(timeline.MaxSamples), "a cross-fade": fading(1), "half a cross-fade": fading(warp.PhaseOne / 2)} {
			sum := int64(0)
			for k := range m.weights {
				sum += m.share(k, light)
			}
			if mean := m.mean(sum); mean > light || mean < light-light>>30 {
				t.Errorf("transfer %d, %s: the mean of %d is %d", tag, name, light, mean)
			}
		}
	}
}
