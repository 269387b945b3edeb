//go:build linux

package warp

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"retime/flow"
	"retime/frame"
	"retime/frame/simd"
	"retime/frame/simd/simdtest"
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

func randomImage[E any](t *trial, width, height int, f func() E) frame.Image[E] {
	return guarded(t, width, height, width, f)
}

func (t *trial) words(width, height, limit int) frame.Image[uint16] {
	return randomImage(t, width, height, func() uint16 { return uint16(t.below(limit)) })
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
	return flow.Field{Image: randomImage(t, width, height, func() flow.Vec {
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
		h.energy = randomImage(t, width, height, func() int16 { return int16(t.below(covering-leastOnly+1) + leastOnly) })
		sparse := t.IntN(3)
		h.weight = randomImage(t, width, height, func() uint16 {
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
		a, b, bend := r.guide(width, height), r.guide(width, height), r.field(width, height)
		want, got := r.words(width, height, 2), r.words(width, height, 2)
		pan := flow.NewField(width, height) // all pixels move alike
		v := flow.Vec{X: int32(r.IntN(1<<12) - 1<<11), Y: int32(r.IntN(1<<12) - 1<<11)}
		for i := range pan.Pix {
			pan.Pix[i] = v
		}
		for _, motion := range []flow.Field{r.field(width, height), pan} {
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
		}
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

func TestLoopsHalve(t *testing.T) {
	eachSize(t, func(t *testing.T, r *trial, width, _ int) {
		byteOf := func() uint8 { return uint8(r.below(256)) }
		a, b := randomImage(r, 2*width, 1, byteOf), randomImage(r, 2*width, 1, byteOf)
		want, got := randomImage(r, width, 1, byteOf), randomImage(r, width, 1, byteOf)
		portable.halve(want.Pix, a.Pix, b.Pix)
		levels(t, func(name string, l loopTable) {
			clear(got.Pix)
			l.halve(got.Pix, a.Pix, b.Pix)
			same(t, name, got.Pix, want.Pix, width)
		})
	})
}

func TestLoopsMedian(t *testing.T) {
	eachSize(t, func(t *testing.T, r *trial, width, height int) {
		src := flow.Field{Image: randomImage(r, width, height, r.vector)}
		want, got := r.field(width, height), r.field(width, height)
		for _, sign := range []int32{1, -1} {
			portable.median(want, src, sign, 0, height)
			levels(t, func(name string, l loopTable) {
				clear(got.Pix)
				l.median(got, src, sign, 0, height/2)
				l.median(got, src, sign, height/2, height)
				same(t, fmt.Sprint(name, " sign ", sign), got.Pix, want.Pix, width)
			})
		}
	})
}
