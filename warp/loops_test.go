//go:build linux

package warp

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"retime/flow"
	"retime/frame"
	"retime/frame/simd"
	"retime/frame/simd/simdtest"
	"retime/warp/bspline"
)

// trial makes input for the loops: random, and at the bounds of what they take. Its memory
// ends at a page that faults or begins after one.
type trial struct {
	testing.TB
	*rand.Rand
	end bool
}

func newTrial(t testing.TB, seed uint64, end bool) *trial {
	return &trial{t, rand.New(rand.NewPCG(seed, 19)), end}
}

func guarded[E any](t *trial, width, height, stride int, f func() E) frame.Image[E] {
	m := frame.Image[E]{Width: width, Height: height, Stride: stride, Pix: simdtest.Guarded[E](t, (height-1)*stride+width, t.end)}
	for i := range m.Pix {
		m.Pix[i] = f()
	}
	return m
}

func image[E any](t *trial, width, height int, f func() E) frame.Image[E] {
	return guarded(t, width, height, width, f)
}

func (t *trial) words(width, height, limit int) frame.Image[uint16] {
	return image(t, width, height, func() uint16 { return uint16(t.below(limit)) })
}

// below returns a number below n, often one of the ends.
func (t *trial) below(n int) int {
	switch t.IntN(8) {
	case 0:
		return 0
	case 1:
		return n - 1
	}
	return t.IntN(n)
}

// vector returns a motion that is short, of whole pixels, or leads far outside.
func (t *trial) vector() flow.Vec {
	component := func() int32 {
		switch t.IntN(12) {
		case 0:
			return []int32{1 << 29, -1 << 29, 1<<16 - 1, 1 << 16, -1 << 16, 255, -257}[t.IntN(7)]
		case 1, 2:
			return int32(t.IntN(65)-32) * positionOne
		case 3, 4:
			return 0
		}
		return int32(t.IntN(1<<13) - 1<<12)
	}
	return flow.Vec{X: component(), Y: component()}
}

func (t *trial) field(width, height int) flow.Field {
	var last flow.Vec
	return flow.Field{Image: image(t, width, height, func() flow.Vec {
		if t.IntN(3) == 0 {
			last = t.vector()
		}
		return last
	})}
}

func (t *trial) guide(width, height int) frame.Image[uint8] {
	return guarded(t, width, height, width+t.IntN(5), func() uint8 { return uint8(t.below(256)) })
}

func (t *trial) phase() Phase {
	return []Phase{1, PhaseOne / 3, PhaseOne / 2, PhaseOne - 1, Phase(1 + t.IntN(PhaseOne-1))}[t.IntN(5)]
}

// hypotheses returns one to sixteen, of all kinds. Their motions are alike at many pixels.
func (t *trial) hypotheses(n, width, height int) []*hypothesis {
	kinds := []kind{projected, projected, stationary, neighbour, neighbour, onlyFirst, onlySecond}
	base := t.field(width, height)
	var list []*hypothesis
	for i := range n {
		h := &hypothesis{kind: kinds[i%len(kinds)], cost: t.words(width, height, 255*differenceOne+1)}
		h.motion = flow.Field{Image: guarded(t, width, height, width+i%3, t.vector)}
		for i, v := range base.Pix {
			x, y := i%width, i/width
			switch t.IntN(4) {
			case 0:
			case 1:
				h.motion.Row(y)[x] = flow.Vec{X: v.X + int32(t.IntN(2*sameMotion+5)-sameMotion-2), Y: v.Y}
			default:
				h.motion.Row(y)[x] = v
			}
		}
		h.energy = image(t, width, height, func() int16 { return int16(t.below(covering-leastOnly+1) + leastOnly) })
		sparse := t.IntN(3)
		h.weight = image(t, width, height, func() uint16 {
			if t.IntN(3) < sparse {
				return 0
			}
			return uint16(t.below(weightOne + 1))
		})
		list = append(list, h)
	}
	return list
}

// levels calls f with the loops for each level of instructions.
func levels(t *testing.T, f func(name string, l loopTable)) {
	for _, level := range simd.Levels()[1:] {
		f(level.String(), variant(level))
	}
}

// same fails the test unless both images hold the same elements.
func same[E comparable](t *testing.T, name string, got, want []E, width int) {
	t.Helper()
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%s: element (%d, %d): %v, want %v", name, i%width, i/width, got[i], want[i])
		}
	}
}

// Sizes below, at and beyond those of vectors and of tiles.
var loopSizes = [][2]int{{1, 1}, {3, 5}, {7, 2}, {8, 2}, {8, 9}, {9, 3}, {15, 7}, {17, 16}, {31, 9}, {64, 17}, {65, 5}, {127, 6}, {261, 9}, {523, 6}}

// eachSize runs f on all sizes, with pages that fault before and after the memory.
func eachSize(t *testing.T, f func(t *testing.T, r *trial, width, height int)) {
	for i, size := range loopSizes {
		for _, end := range []bool{false, true} {
			t.Run(fmt.Sprintf("%dx%d end %v", size[0], size[1], end), func(t *testing.T) {
				f(t, newTrial(t, uint64(i), end), size[0], size[1])
			})
		}
	}
}

// Exact: the portable loops define the others.
func TestLoopsMeasure(t *testing.T) {
	eachSize(t, func(t *testing.T, r *trial, width, height int) {
		a, b, motion, bend := r.guide(width, height), r.guide(width, height), r.field(width, height), r.field(width, height)
		want, got := r.words(width, height, 2), r.words(width, height, 2)
		levels(t, func(name string, l loopTable) {
			for _, bend := range []flow.Field{{}, bend} {
				phase := r.phase()
				portable.disagreement(want, a, b, motion, bend, phase, 0, height)
				l.disagreement(got, a, b, motion, bend, phase, 0, height)
				same(t, name+" disagreement", got.Pix, want.Pix, width)
			}
			for _, way := range []int32{-1, 1} {
				part := way * int32(r.phase())
				portable.disagreementBeyond(want, a, b, motion, part, way, 0, height)
				l.disagreementBeyond(got, a, b, motion, part, way, 0, height)
				same(t, name+" disagreementBeyond", got.Pix, want.Pix, width)
			}
			portable.warpError(want, a, b, motion, 0, height)
			l.warpError(got, a, b, motion, 0, height)
			same(t, name+" warpError", got.Pix, want.Pix, width)
		})
	})
}

func TestLoopsBoxMean(t *testing.T) {
	eachSize(t, func(t *testing.T, r *trial, width, height int) {
		src := r.words(width, height, 1<<16)
		want, got := r.words(width, height, 2), r.words(width, height, 2)
		levels(t, func(name string, l loopTable) {
			for _, radius := range []int{0, 1, 2, 4, 8, 9} {
				inverse := reciprocals(2*radius + 1)
				for y0, y1 := 0, 0; y0 < height; y0 = y1 {
					y1 = y0 + 1 + r.IntN(height-y0)
					portable.boxMean(want, src, radius, inverse, y0, y1)
					l.boxMean(got, src, radius, inverse, y0, y1)
				}
				same(t, fmt.Sprint(name, " radius ", radius), got.Pix, want.Pix, width)
			}
		})
	})
}

func TestLoopsMedian(t *testing.T) {
	eachSize(t, func(t *testing.T, r *trial, width, height int) {
		src := flow.Field{Image: image(r, width, height, r.vector)}
		want, got := r.field(width, height), r.field(width, height)
		portable.median(want, src, 0, height)
		levels(t, func(name string, l loopTable) {
			clear(got.Pix)
			l.median(got, src, 0, height/2)
			l.median(got, src, height/2, height)
			same(t, name, got.Pix, want.Pix, width)
		})
	})
}

func TestLoopsWeigh(t *testing.T) {
	eachSize(t, func(t *testing.T, r *trial, width, height int) {
		for n := 1; n <= maxHypotheses; n += 3 {
			h := r.hypotheses(n, width, height)
			sum := portable.weigh(h, 0, width*height)
			var want [][]int16
			for _, h := range h {
				want = append(want, slices.Clone(h.energy.Pix))
			}
			levels(t, func(name string, l loopTable) {
				for _, h := range h {
					clear(h.energy.Pix)
				}
				half := width * height / 2
				if got := l.weigh(h, 0, half) + l.weigh(h, half, width*height); got != sum {
					t.Fatalf("%s: sum %d, want %d", name, got, sum)
				}
				for i, h := range h {
					same(t, fmt.Sprint(name, " hypothesis ", i), h.energy.Pix, want[i], width)
				}
			})
		}
	})
}

func TestLoopsChoice(t *testing.T) {
	eachSize(t, func(t *testing.T, r *trial, width, height int) {
		columns, rows := (width+choiceSize-1)/choiceSize, (height+choiceSize-1)/choiceSize
		for n := 1; n <= maxHypotheses; n += 4 {
			h := r.hypotheses(n, width, height)
			for _, h := range h { // sums of sixteen must fit
				for i := range h.motion.Pix {
					v := &h.motion.Pix[i]
					v.X, v.Y = v.X>>5, v.Y>>5
				}
			}
			energies := [2]frame.Image[int16]{}
			motions := [2]frame.Image[flow.Vec]{}
			for i := range energies {
				energies[i] = image(r, columns*n, rows, func() int16 { return 0 })
				motions[i] = image(r, columns*n, rows, func() flow.Vec { return flow.Vec{} })
			}
			sums := image(r, columns*n, rows, func() int16 { return int16(r.below(4*mostPenalty + 1)) })
			portable.cellMeans(h, energies[0].Pix, motions[0].Pix, 0, rows)
			portable.share(h, sums.Pix, columns, rows, 0, height)
			var want [][]uint16
			for _, h := range h {
				want = append(want, slices.Clone(h.weight.Pix))
			}
			levels(t, func(name string, l loopTable) {
				l.cellMeans(h, energies[1].Pix, motions[1].Pix, 0, rows)
				same(t, name+" energies", energies[1].Pix, energies[0].Pix, columns*n)
				same(t, name+" motions", motions[1].Pix, motions[0].Pix, columns*n)
				for _, h := range h {
					clear(h.weight.Pix)
				}
				l.share(h, sums.Pix, columns, rows, 0, height/2)
				l.share(h, sums.Pix, columns, rows, height/2, height)
				for i, h := range h {
					same(t, fmt.Sprint(name, " weights ", i), h.weight.Pix, want[i], width)
				}
			})
		}
	})
}

func TestLoopsFollow(t *testing.T) {
	eachSize(t, func(t *testing.T, r *trial, width, height int) {
		for n := 1; n <= maxHypotheses; n += 4 {
			zero := func() int16 { return 0 }
			c := &chooser{
				labels:   n,
				energies: image(r, width*n, height, func() int16 { return int16(r.below(mostEnergy-leastOnly+1) + leastOnly) }).Pix,
				motions:  image(r, width*n, height, r.vector).Pix,
				guide:    image(r, width, height, func() uint8 { return uint8(r.below(256)) }),
			}
			want, got := image(r, width*n, height, zero).Pix, image(r, width*n, height, zero).Pix
			run := func(l loopTable, sums []int16) {
				c.sums = sums
				clear(sums)
				l.follow(c, 0, width, height, 1, width)
				l.follow(c, width-1, width, height, -1, width)
				l.follow(c, 0, 1, width/2, width, height)
				l.follow(c, height*width-1, -1, width, -width, height)
			}
			run(portable, want)
			levels(t, func(name string, l loopTable) {
				run(l, got)
				same(t, name, got, want, width*n)
			})
		}
	})
}

func TestLoopsFloats(t *testing.T) {
	eachSize(t, func(t *testing.T, r *trial, width, height int) {
		src8 := image(r, width, 1, func() uint8 { return uint8(r.below(256)) })
		src16 := r.words(width, 1, 1<<16)
		zero := func() float32 { return 0 }
		want, got := image(r, width, 1, zero), image(r, width, 1, zero)
		levels(t, func(name string, l loopTable) {
			portable.floats8(want.Pix, src8.Pix)
			l.floats8(got.Pix, src8.Pix)
			same(t, name, got.Pix, want.Pix, width)
			portable.floats16(want.Pix, src16.Pix)
			l.floats16(got.Pix, src16.Pix)
			same(t, name+" of 16 bits", got.Pix, want.Pix, width)
		})
	})
}

func TestLoopsAverage(t *testing.T) {
	eachSize(t, func(t *testing.T, r *trial, width, height int) {
		for n := 1; n <= 2; n++ {
			estimates := make([]estimate, n)
			for i := range estimates {
				estimates[i].forward.motion, estimates[i].reverse.motion = r.field(width, height), r.field(width, height)
			}
			want, got := r.field(width, 1), r.field(width, 1)
			for y := range height {
				portable.average(want.Pix, estimates, y)
				levels(t, func(name string, l loopTable) {
					l.average(got.Pix, estimates, y)
					same(t, name, got.Pix, want.Pix, width)
				})
			}
		}
	})
}

func TestLoopsAddVectors(t *testing.T) {
	eachSize(t, func(t *testing.T, r *trial, width, height int) {
		m := Motion{Flow: r.field(width, height), Phase: r.phase(), Weight: r.words(width, height, 1<<16)}
		src := r.field(width, height)
		b := &band{width: width, y0: height / 3, y1: height}
		run := func(l loopTable) []vectorSum {
			b.vectors = simdtest.Guarded[vectorSum](t, b.size(), r.end)
			for y := range height {
				for x := 0; x < width; x += cellWidth {
					l.addVectors(b, src, &m, y, x, min(width, x+cellWidth))
				}
			}
			return b.vectors
		}
		want := run(portable)
		levels(t, func(name string, l loopTable) { same(t, name, run(l), want, b.stride()) })
	})
}

func TestLoopsStoreVectors(t *testing.T) {
	eachSize(t, func(t *testing.T, r *trial, width, height int) {
		sums := simdtest.Guarded[vectorSum](t, width, r.end)
		want, got := r.field(width, 1), r.field(width, 1)
		masks := [2]frame.Image[uint8]{image(r, width, 1, func() uint8 { return 1 }), image(r, width, 1, func() uint8 { return 1 })}
		for range 4 * height {
			for i := range sums {
				sums[i] = r.vectorSum()
			}
			least := uint64(1 + r.IntN(2)*leastTrust)
			exact := portable.storeVectors(want.Pix, masks[0].Pix, sums, least)
			levels(t, func(name string, l loopTable) {
				copy(got.Pix, want.Pix)
				if l.storeVectors(got.Pix, masks[1].Pix, sums, least) != exact {
					t.Fatalf("%s: exact is not %v", name, exact)
				}
				same(t, name, got.Pix, want.Pix, width)
				same(t, name+" holes", masks[1].Pix, masks[0].Pix, width)
			})
		}
	})
}

// vectorSum returns one that lies near the middle between two integers, or is anything.
func (t *trial) vectorSum() vectorSum {
	weight := uint64(t.Int64N(1 << (1 + t.IntN(33))))
	component := func() int64 {
		v := (int64(t.Uint32()) - 1<<31) >> t.IntN(32) * int64(weight)
		switch t.IntN(4) {
		case 0:
			return v + int64(weight/2)
		case 1:
			return v - int64(weight/2) + int64(t.IntN(3)-1)
		}
		return v
	}
	if t.IntN(30) == 0 {
		weight = vectorLimit + uint64(t.IntN(2))
	}
	return vectorSum{x: component(), y: component(), weight: weight}
}

func TestLoopsAccelerations(t *testing.T) {
	eachSize(t, func(t *testing.T, r *trial, width, height int) {
		for _, how := range [][2]int64{{PhaseOne, PhaseOne}, {PhaseOne * 2 / 3, PhaseOne * 5 / 3}} {
			size := cellSize >> r.IntN(MaxLevel+1)
			short := func() flow.Vec { return flow.Vec{X: int32(r.IntN(1 << 13)), Y: -int32(r.IntN(1 << 13))} }
			e := &evidence{
				inner: flow.Field{Image: image(r, width, height, short)}, outer: r.field(width, height),
				innerError: r.words(width, height, len(creditTable)+9), outerError: r.words(width, height, 1<<16),
				innerFactor: how[0], outerFactor: how[1], limit: largestChange << positionBits, size: size,
			}
			for i := range e.outer.Pix { // most changes are small
				if r.IntN(9) > 0 {
					v := e.inner.Pix[i]
					e.outer.Pix[i] = flow.Vec{X: -v.X + int32(r.IntN(99)), Y: -v.Y}
				}
				if r.IntN(4) > 0 {
					e.outerError.Pix[i] = 0
				}
			}
			columns, rows := (width+size-1)/size, (height+size-1)/size
			side := func() *bendSide {
				return &bendSide{changes: image(r, columns, rows, func() change { return change{} }), motion: flow.Field{Image: image(r, columns, rows, r.vector)}}
			}
			want, got := side(), side()
			portable.accelerations(want, e, 0, rows)
			levels(t, func(name string, l loopTable) {
				l.accelerations(got, e, 0, rows/2)
				l.accelerations(got, e, rows/2, rows)
				same(t, name+" changes", got.changes.Pix, want.changes.Pix, columns)
				same(t, name+" motion", got.motion.Pix, want.motion.Pix, columns)
			})
		}
	})
}

func TestLoopsSpread(t *testing.T) {
	eachSize(t, func(t *testing.T, r *trial, width, height int) {
		for level := range MaxLevel + 1 {
			size := cellSize >> level
			cells := image(r, (width+size-1)/size, (height+size-1)/size, func() [2]float32 {
				if r.IntN(3) == 0 {
					return [2]float32{float32(r.IntN(17)-8) / 8, 0}
				}
				return [2]float32{r.Float32()*96 - 48, r.Float32() - 0.5}
			})
			want, got := r.field(width, height), r.field(width, height)
			portable.spread(want, cells, level, 0, height)
			levels(t, func(name string, l loopTable) {
				l.spread(got, cells, level, 0, height/2)
				l.spread(got, cells, level, height/2, height)
				same(t, fmt.Sprint(name, " level ", level), got.Pix, want.Pix, width)
			})
		}
	})
}

func TestLoopsSmooth(t *testing.T) {
	eachSize(t, func(t *testing.T, r *trial, width, height int) {
		src := r.words(width, height, 1<<16)
		want, got := r.words(width, height, 2), r.words(width, height, 2)
		levels(t, func(name string, l loopTable) {
			portable.smoothAcross(want, src, 0, height)
			l.smoothAcross(got, src, 0, height)
			same(t, name+" across", got.Pix, want.Pix, width)
			portable.smoothDown(want, src, 0, height)
			l.smoothDown(got, src, 0, height)
			same(t, name+" down", got.Pix, want.Pix, width)
		})
	})
}

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
				checkRender(t, r, n, shape.level, shape.chroma, size[0], size[1], 1023, func(l loopTable) renderLoop[uint16] { return l.render16 })
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
	levels(t, func(name string, table loopTable) {
		for _, l := range layers {
			clear(l.mask.Pix)
			for _, p := range l.dst {
				for y := range p.Height {
					clear(p.Row(y))
				}
			}
		}
		of(table)(s, layers, 0, rows/2)
		of(table)(s, layers, rows/2, rows)
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
	var layers []layer[T]
	add := func(sx, sy, planes int) {
		l := layer[T]{geometry: newGeometry(level, sx, sy)}
		w, h := (width+1<<sx-1)>>sx, (height+1<<sy-1)>>sy
		samples := func() frame.Image[T] {
			return guarded(r, w, h, w+r.IntN(4), func() T { return T(r.below(limit + 1)) })
		}
		for range planes {
			l.dst, l.a, l.b = append(l.dst, samples()), append(l.a, samples()), append(l.b, samples())
			for _, c := range []*[]*coefficients{&l.ca, &l.cb} {
				*c = append(*c, &coefficients{image(r, w+2*margin, h+2*margin, func() float32 {
					return (r.Float32()*1.4 - 0.2) * float32(limit)
				}), w, h, BSpline})
			}
		}
		l.mask = image(r, w, h, func() uint8 { return 0 })
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
			return flow.Field{Image: image(r, w, h, func() flow.Vec { return flow.Vec{X: r.Int32N(999), Y: r.Int32N(999)} })}
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

func BenchmarkLoops(b *testing.B) {
	const width, height = 960, 540
	r := newTrial(b, 1, true)
	h := r.hypotheses(13, width, height)
	smoothMotions(r, h)
	s, layers := newScene[uint8](r, 1, 1, [2]int{1, 1}, 2*width, 2*height, 255)
	s.hypotheses, s.taps = h, newTaps(bspline.Cubic)
	coarse, blocks := newScene[uint8](r, 1, 2, [2]int{1, 1}, 2*width, 2*height, 255)
	coarse.taps = s.taps
	coarse.hypotheses = r.hypotheses(13, width/2, height/2)
	smoothMotions(r, coarse.hypotheses)
	x, y, out, src := r.guide(width, height), r.guide(width, height), r.words(width, height, 2), r.words(width, height, 4000)
	columns, rows := width/choiceSize, height/choiceSize
	energies, motions := make([]int16, columns*rows*len(h)), make([]flow.Vec, columns*rows*len(h))
	dst := flow.NewField(width, height)
	inverse := reciprocals(5)
	c := &chooser{labels: len(h), energies: energies, motions: motions, sums: make([]int16, len(energies)), guide: r.guide(columns, rows)}
	m := Motion{Flow: h[0].motion, Phase: PhaseOne / 2, Weight: src}
	b0 := &band{width: width, y1: height}
	b0.vectors = make([]vectorSum, b0.size())
	loops.addVectors(b0, h[0].motion, &m, height/2, 0, width)
	masks := frame.NewImage[uint8](width, height)
	const size = cellSize / 2
	e := &evidence{
		inner: h[0].motion, outer: h[1].motion, innerError: src, outerError: src,
		innerFactor: PhaseOne, outerFactor: PhaseOne, limit: largestChange << positionBits, size: size,
	}
	side := &bendSide{}
	side.changes.Resize(width/size, (height+size-1)/size)
	side.motion.Resize(width/size, (height+size-1)/size)
	cells := frame.NewImage[[2]float32](width/size, (height+size-1)/size)
	for _, loop := range []struct {
		name string
		run  func(l loopTable)
	}{
		{"disagreement", func(l loopTable) { l.disagreement(out, x, y, h[0].motion, flow.Field{}, PhaseOne/2, 0, height) }},
		{"disagreementBeyond", func(l loopTable) { l.disagreementBeyond(out, x, y, h[0].motion, PhaseOne/2, 1, 0, height) }},
		{"warpError", func(l loopTable) { l.warpError(out, x, y, h[0].motion, 0, height) }},
		{"boxMean", func(l loopTable) { l.boxMean(out, src, 2, inverse, 0, height) }},
		{"median", func(l loopTable) { l.median(dst, h[0].motion, 0, height) }},
		{"weigh", func(l loopTable) { l.weigh(h, 0, width*height) }},
		{"cellMeans", func(l loopTable) { l.cellMeans(h, energies, motions, 0, rows) }},
		{"share", func(l loopTable) { l.share(h, energies, columns, rows, 0, height) }},
		{"follow", func(l loopTable) {
			l.follow(c, 0, columns, rows, 1, columns)
			l.follow(c, 0, 1, columns, columns, rows)
		}},
		{"addVectors", func(l loopTable) {
			for y := range height {
				for x := 0; x < width; x += cellWidth {
					l.addVectors(b0, h[0].motion, &m, y, x, x+cellWidth)
				}
			}
		}},
		{"storeVectors", func(l loopTable) {
			for y := range height {
				l.storeVectors(dst.Row(y), masks.Row(y), row(b0, b0.vectors, y), leastTrust)
			}
		}},
		{"average", func(l loopTable) {
			for y := range height {
				l.average(dst.Row(y), []estimate{{forward: *h[0], reverse: *h[1]}}, y)
			}
		}},
		{"floats", func(l loopTable) { l.floats8(layers[0].ca[0].Pix[:len(layers[0].a[0].Pix)], layers[0].a[0].Pix) }},
		{"accelerations", func(l loopTable) { l.accelerations(side, e, 0, height/size) }},
		{"spread", func(l loopTable) { l.spread(dst, cells, 1, 0, height) }},
		{"smoothAcross", func(l loopTable) { l.smoothAcross(out, src, 0, height) }},
		{"smoothDown", func(l loopTable) { l.smoothDown(out, src, 0, height) }},
		{"render 2x2", func(l loopTable) { l.render8(s, layers, 0, height) }},
		{"render 4x4", func(l loopTable) { l.render8(coarse, blocks, 0, height/2) }},
	} {
		for _, level := range simd.Levels() {
			l := variant(level)
			b.Run(loop.name+"/"+level.String(), func(b *testing.B) {
				for b.Loop() {
					loop.run(l)
				}
			})
		}
	}
}

// smoothMotions makes motions and weights like those of pictures: most hypotheses agree at
// most places.
func smoothMotions(r *trial, list []*hypothesis) {
	for k, h := range list {
		h.motion = flow.NewField(h.weight.Width, h.weight.Height)
		for i := range h.motion.Pix {
			h.motion.Pix[i] = flow.Vec{X: 700 + int32(i%64) + int32(i>>16), Y: -310}
			if k%5 == 4 && i>>10%8 == 0 {
				h.motion.Pix[i].X = 90
			}
			h.weight.Pix[i] = uint16(3000 + r.IntN(1000))
			if k > 1 && i>>7%2 == 0 {
				h.weight.Pix[i] = uint16(r.IntN(30))
			}
		}
	}
}
