package warp

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"retime/flow"
	"retime/frame"
	"retime/warp/bspline"
)

var formats = []frame.Format{
	{Name: "gray", Depth: 8, Planes: 1},
	{Name: "yuv420p", Depth: 8, Planes: 3, ChromaX: 1, ChromaY: 1},
	{Name: "yuv422p10", Depth: 10, Planes: 3, ChromaX: 1},
	{Name: "yuv410p", Depth: 8, Planes: 3, ChromaX: 2, ChromaY: 2},
	{Name: "yuva444p16", Depth: 16, Planes: 4},
	{Name: "gbrp12", Depth: 12, Planes: 3, RGB: true},
}

// fillFrame returns a new frame with every sample set.
func fillFrame(format frame.Format, width, height int, value func(plane, x, y int) int) *frame.Frame {
	f := frame.New(format, width, height)
	for i, p := range f.Planes {
		for y := range p.Height {
			for x := range p.Width {
				setSample(f, i, x, y, value(i, x, y))
			}
		}
	}
	return f
}

func setSample(f *frame.Frame, i, x, y, v int) {
	if f.Format.Bytes() == 1 {
		frame.Samples[uint8](f.Planes[i]).Row(y)[x] = uint8(v)
	} else {
		frame.Samples[uint16](f.Planes[i]).Row(y)[x] = uint16(v)
	}
}

func getSample(f *frame.Frame, i, x, y int) int {
	if f.Format.Bytes() == 1 {
		return int(frame.Samples[uint8](f.Planes[i]).Row(y)[x])
	}
	return int(frame.Samples[uint16](f.Planes[i]).Row(y)[x])
}

func noiseFrame(seed uint64, format frame.Format, width, height int) *frame.Frame {
	r := rand.New(rand.NewPCG(seed, 1))
	return fillFrame(format, width, height, func(int, int, int) int { return r.IntN(format.Max() + 1) })
}

// between returns an interval with one motion everywhere, in pixels of the full
// picture.
func between(a, b *frame.Frame, level, dx, dy int) Interval {
	guide := func(f *frame.Frame) frame.Image[uint8] {
		g := Luma(f)
		for range level {
			g = Halve(g)
		}
		return g
	}
	in := Interval{A: a, B: b, GuideA: guide(a), GuideB: guide(b), Level: level}
	field := func(s int) flow.Field {
		f := flow.NewField(in.GuideA.Width, in.GuideA.Height)
		for i := range f.Pix {
			f.Pix[i] = flow.Vec{X: int32(s * dx * flow.One >> level), Y: int32(s * dy * flow.One >> level)}
		}
		return f
	}
	in.Flows = []FlowPair{{field(1), field(-1)}}
	return in
}

func makeFrame(t *testing.T, p Params, in Interval, phase Phase) *frame.Frame {
	t.Helper()
	s, err := NewSynthesizer(p)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	prepared, err := s.Prepare(in)
	if err != nil {
		t.Fatal(err)
	}
	defer prepared.Close()
	dst := frame.New(in.A.Format, in.A.Width, in.A.Height)
	if _, err := prepared.Make(dst, phase); err != nil {
		t.Fatal(err)
	}
	return dst
}

func eachCase(t *testing.T, f func(t *testing.T, p Params, format frame.Format, level, width, height int)) {
	for _, mode := range []Mode{Project, Splat} {
		for _, format := range formats {
			for _, size := range [][2]int{{1, 1}, {2, 3}, {17, 5}, {64, 48}, {53, 37}} {
				for level := range 3 {
					name := fmt.Sprintf("%s %s %dx%d level %d", mode, format.Name, size[0], size[1], level)
					t.Run(name, func(t *testing.T) {
						f(t, Params{Mode: mode, Order: 3}, format, level, size[0], size[1])
					})
				}
			}
		}
	}
}

// Without motion between equal frames, the frame between them equals them.
func TestZeroFlowIsTheSource(t *testing.T) {
	eachCase(t, func(t *testing.T, p Params, format frame.Format, level, width, height int) {
		a := noiseFrame(3, format, width, height)
		got := makeFrame(t, p, between(a, a, level, 0, 0), PhaseOne/3)
		for i := range a.Planes {
			if !bytes.Equal(got.Planes[i].Pix, a.Planes[i].Pix) {
				t.Fatalf("plane %d differs from the source", i)
			}
		}
	})
}

func TestConstantStaysConstant(t *testing.T) {
	eachCase(t, func(t *testing.T, p Params, format frame.Format, level, width, height int) {
		value := func(plane, _, _ int) int { return format.Max() * (plane + 2) / 6 }
		a := fillFrame(format, width, height, value)
		in := between(a, a, level, 0, 0)
		r := rand.New(rand.NewPCG(7, 7))
		for i := range in.Flows[0].Forward.Pix {
			in.Flows[0].Forward.Pix[i] = flow.Vec{X: int32(r.IntN(6000) - 3000), Y: int32(r.IntN(6000) - 3000)}
			in.Flows[0].Backward.Pix[i] = flow.Vec{X: int32(r.IntN(6000) - 3000), Y: int32(r.IntN(6000) - 3000)}
		}
		got := makeFrame(t, p, in, PhaseOne/5)
		for i, plane := range got.Planes {
			for y := range plane.Height {
				for x := range plane.Width {
					if v := getSample(got, i, x, y); v != value(i, x, y) {
						t.Fatalf("plane %d (%d,%d) = %d, want %d", i, x, y, v, value(i, x, y))
					}
				}
			}
		}
	})
}

// A motion by whole samples moves samples, whatever the order of the spline.
func TestWholePixelShift(t *testing.T) {
	const width, height, border = 96, 72, 24
	for _, mode := range []Mode{Project, Splat} {
		for _, order := range []bspline.Order{0, 1, 3} {
			for _, format := range formats {
				for level := range 3 {
					base := noiseFrame(11, format, 3*width, 3*height)
					at := func(dx, dy int) *frame.Frame {
						return fillFrame(format, width, height, func(i, x, y int) int {
							sx, sy := format.Subsampling(i)
							return getSample(base, i, x+(width-dx)>>sx, y+(height-dy)>>sy)
						})
					}
					p := Params{Mode: mode, Order: order}
					got := makeFrame(t, p, between(at(0, 0), at(16, -8), level, 16, -8), PhaseOne/2)
					want := at(8, -4)
					for i, plane := range got.Planes {
						for y := border; y < plane.Height-border; y++ {
							for x := border; x < plane.Width-border; x++ {
								if g, w := getSample(got, i, x, y), getSample(want, i, x, y); g != w {
									t.Fatalf("%s order %d %s level %d plane %d (%d,%d): %d, want %d",
										mode, order, format.Name, level, i, x, y, g, w)
								}
							}
						}
					}
				}
			}
		}
	}
}

// Whatever the number of workers, and however often, Make makes the same bytes and
// writes nothing outside the planes.
func TestWorkersAndCanaries(t *testing.T) {
	format := formats[1]
	const width, height = 131, 87
	a, b := noiseFrame(1, format, width, height), noiseFrame(2, format, width, height)
	in := between(a, b, 1, 0, 0)
	r := rand.New(rand.NewPCG(5, 5))
	for i := range in.Flows[0].Forward.Pix {
		in.Flows[0].Forward.Pix[i] = flow.Vec{X: int32(r.IntN(4000) - 2000), Y: int32(r.IntN(4000) - 2000)}
		in.Flows[0].Backward.Pix[i] = flow.Vec{X: int32(r.IntN(4000) - 2000), Y: int32(r.IntN(4000) - 2000)}
	}
	for _, mode := range []Mode{Project, Splat, Blend} {
		var first *frame.Frame
		for _, workers := range []int{1, 2, 8, 1} {
			s, err := NewSynthesizer(Params{Mode: mode, Order: 3, Workers: frame.Workers{N: workers}})
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				p, err := s.Prepare(in)
				if err != nil {
					t.Fatal(err)
				}
				dst := frame.New(format, width, height)
				for _, p := range dst.Planes {
					for i := range p.Pix {
						p.Pix[i] = 0xa5
					}
				}
				if _, err := p.Make(dst, 20000); err != nil {
					t.Fatal(err)
				}
				for i, p := range dst.Planes {
					for y := range p.Height {
						for _, v := range p.Pix[y*p.Stride+p.Width : (y+1)*p.Stride] {
							if v != 0xa5 {
								t.Fatalf("%s: plane %d row %d: written behind its end", mode, i, y)
							}
						}
					}
				}
				if first == nil {
					first = dst
				}
				for i := range dst.Planes {
					if !bytes.Equal(dst.Planes[i].Pix, first.Planes[i].Pix) {
						t.Fatalf("%s: %d workers: plane %d differs", mode, workers, i)
					}
				}
				p.Close()
			}
			s.Close()
		}
	}
}

// Motion that points far outside must not cause a panic or an overflow.
func TestExtremeMotion(t *testing.T) {
	for _, mode := range []Mode{Project, Splat} {
		for level := range 3 {
			a, b := noiseFrame(1, formats[1], 40, 30), noiseFrame(2, formats[1], 40, 30)
			in := between(a, b, level, 0, 0)
			limit := in.Flows[0].Forward.Limit()
			for i := range in.Flows[0].Forward.Pix {
				in.Flows[0].Forward.Pix[i] = flow.Vec{X: limit, Y: -limit}
				in.Flows[0].Backward.Pix[i] = flow.Vec{X: limit * int32(i%3-1), Y: limit}
			}
			makeFrame(t, Params{Mode: mode, Order: 3}, in, 1)
			makeFrame(t, Params{Mode: mode, Order: 3}, in, PhaseOne-1)
		}
	}
}

// Content that only one neighbour shows comes from that one: the new left edge of the
// right neighbour comes from the right one alone.
func TestPixelsThatLeaveComeFromTheOther(t *testing.T) {
	format := formats[0]
	const width, height, shift = 96, 64, 16
	base := noiseFrame(4, format, width+shift, height)
	a := fillFrame(format, width, height, func(_, x, y int) int { return getSample(base, 0, x+shift, y) })
	b := fillFrame(format, width, height, func(_, x, y int) int { return getSample(base, 0, x, y) })
	got := makeFrame(t, Params{Mode: Project, Order: 3}, between(a, b, 0, shift, 0), PhaseOne/2)
	for y := 8; y < height-8; y++ {
		for x := range shift / 2 {
			if g, w := getSample(got, 0, x, y), getSample(base, 0, x+shift/2, y); g < w-4 || g > w+4 {
				t.Fatalf("(%d,%d) = %d, want %d as in the second neighbour", x, y, g, w)
			}
		}
	}
}
