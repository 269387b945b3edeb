//go:build linux

package warp

import (
	"fmt"
	"slices"
	"testing"

	"retime/flow"
	"retime/frame"
	"retime/warp/bspline"
)

// shapes are how planes lie on the guides' grid.
var shapes = []struct {
	level  int
	chroma [2]int // subsampling
}{{0, [2]int{1, 1}}, {0, [2]int{0, 0}}, {1, [2]int{1, 1}}, {1, [2]int{1, 0}}, {1, [2]int{0, 1}}, {2, [2]int{1, 1}}, {2, [2]int{0, 0}}, {2, [2]int{2, 0}}, {0, [2]int{2, 2}}, {1, [2]int{2, 0}}}

func TestLoopsRender(t *testing.T) {
	for i, shape := range shapes {
		for j, size := range [][2]int{{1, 1}, {9, 7}, {16, 9}, {33, 12}, {64, 10}, {139, 11}, {263, 17}} {
			t.Run(fmt.Sprintf("level %d chroma %v %dx%d", shape.level, shape.chroma, size[0], size[1]), func(t *testing.T) {
				r := newTrial(t, uint64(i), j%2 == 0)
				n := 1 + r.IntN(maxHypotheses)
				checkRender(t, r, n, shape.level, shape.chroma, size[0], size[1], 255, func(l loopTable) renderLoop[uint8] { return l.render8 })
				for _, limit := range []int{1023, litLimit} {
					checkRender(t, r, n, shape.level, shape.chroma, size[0], size[1], limit, func(l loopTable) renderLoop[uint16] { return l.render16 })
				}
			})
		}
	}
}

type renderLoop[T frame.Sample] = func(r *renderer, layers []layer[T], y0, y1 int)

func checkRender[T frame.Sample](t *testing.T, r *trial, n, level int, chroma [2]int, width, height, limit int, of func(l loopTable) renderLoop[T]) {
	t.Helper()
	s, layers := newScene[T](r, n, level, chroma, width, height, limit)
	rows := s.hypotheses[0].weight.Height
	of(portable)(s, layers, 0, rows)
	var want [][]T
	var masks [][]uint8
	for _, l := range layers {
		for _, p := range l.dst {
			want = append(want, slices.Clone(p.Pix))
		}
		masks = append(masks, slices.Clone(l.mask.Pix))
	}
	means, errors := slices.Clone(s.calm.means.Pix), slices.Clone(s.calm.errors.Pix)
	levels(t, func(name string, table loopTable) {
		for _, l := range layers {
			clear(l.mask.Pix)
			for _, p := range l.dst {
				for y := range p.Height {
					clear(p.Row(y))
				}
			}
		}
		clear(s.calm.means.Pix)
		clear(s.calm.errors.Pix)
		of(table)(s, layers, 0, rows/2)
		of(table)(s, layers, rows/2, rows)
		same(t, name+" means", s.calm.means.Pix, means, s.calm.means.Width)
		same(t, name+" errors", s.calm.errors.Pix, errors, s.calm.means.Width)
		p := 0
		for i, l := range layers {
			same(t, fmt.Sprint(name, " mask ", i), l.mask.Pix, masks[i], l.mask.Stride)
			for _, d := range l.dst {
				same(t, fmt.Sprint(name, " plane ", p), d.Pix, want[p], d.Stride)
				p++
			}
		}
	})
}

// litLimit is the limit of scenes that are sampled in light.
const litLimit = 1<<16 - 1

// newScene returns what render needs for three planes of a frame.
func newScene[T frame.Sample](r *trial, n, level int, chroma [2]int, width, height, limit int) (*renderer, []layer[T]) {
	grid := func(n int) int { return (n + 1<<level - 1) >> level }
	s := &renderer{
		taps: newTaps([]bspline.Order{0, 1, 3}[r.IntN(3)]), hypotheses: r.hypotheses(n, grid(width), grid(height)),
		gridWidth: grid(width), phase: r.phase(), limit: limit,
	}
	if r.IntN(2) == 0 {
		s.bend = r.field(grid(width), grid(height))
	}
	s.calm = &calm{guides: [2]frame.Image[uint8]{r.guide(grid(width), grid(height)), r.guide(grid(width), grid(height))}, level: level}
	columns, lines := calmCells(grid(width), grid(height), level)
	s.calm.means, s.calm.errors = randomImage(r, columns, lines, r.Uint32), randomImage(r, columns, lines, r.Uint32)
	var layers []layer[T]
	add := func(sx, sy, planes int) {
		l := layer[T]{geometry: newGeometry(level, sx, sy)}
		w, h := (width+1<<sx-1)>>sx, (height+1<<sy-1)>>sy
		samples := func() frame.Image[T] {
			return guarded(r, w, h, w+r.IntN(4), func() T { return T(r.below(limit + 1)) })
		}
		scale, light := float32(limit), (*LightTable)(nil)
		if limit == litLimit {
			scale, light = 0.01, lights()
		}
		for range planes {
			l.dst, l.a, l.b = append(l.dst, samples()), append(l.a, samples()), append(l.b, samples())
			for _, c := range []*[]*coefficients{&l.ca, &l.cb} {
				*c = append(*c, &coefficients{randomImage(r, w+2*margin, h+2*margin, func() float32 {
					return (r.Float32()*1.4 - 0.2) * scale
				}), w, h, BSpline, light})
			}
		}
		l.mask = randomImage(r, w, h, func() uint8 { return 0 })
		layers = append(layers, l)
	}
	if chroma == [2]int{} {
		add(0, 0, 3)
	} else {
		add(0, 0, 1)
		add(chroma[0], chroma[1], 2)
	}
	return s, layers
}

// All loops together: whole frames are the same at every level.
func TestLoopsWholeFrames(t *testing.T) {
	defer func(before loopTable) { loops = before }(loops)
	for i, format := range formats {
		r := newTrial(t, uint64(i), false)
		in := between(noiseFrame(1, format, 131, 77), noiseFrame(2, format, 131, 77), i%3, 3, 1)
		w, h := in.GuideA.Width, in.GuideA.Height
		small := func() flow.Field {
			return flow.Field{Image: randomImage(r, w, h, func() flow.Vec { return flow.Vec{X: r.Int32N(999), Y: r.Int32N(999)} })}
		}
		in.Flows = []FlowPair{{small(), small()}, {small(), small()}}
		in.Before, in.After = &Outer{Guide: r.guide(w, h), Flow: small()}, &Outer{Guide: r.guide(w, h), Flow: small()}
		params := Params{Mode: Project, Order: bspline.Cubic, Acceleration: true, Overlays: true}
		loops = portable
		want := makeFrame(t, params, in, PhaseOne/3)
		levels(t, func(name string, l loopTable) {
			loops = l
			got := makeFrame(t, params, in, PhaseOne/3)
			for p := range want.Planes {
				if !slices.Equal(got.Planes[p].Pix, want.Planes[p].Pix) {
					t.Errorf("%s: %s: plane %d differs", format.Name, name, p)
				}
			}
		})
	}
}
