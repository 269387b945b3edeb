//go:build linux

package warp

import (
	"fmt"
	"sync"
	"testing"

	"retime/flow"
	"retime/frame"
	"retime/frame/simd/simdtest"
)

func TestLoopsFloats(t *testing.T) {
	eachSize(t, func(t *testing.T, r *trial, width, height int) {
		src8 := randomImage(r, width, 1, func() uint8 { return uint8(r.below(256)) })
		src16 := r.words(width, 1, 1<<16)
		zero := func() float32 { return 0 }
		want, got := randomImage(r, width, 1, zero), randomImage(r, width, 1, zero)
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
		masks := [2]frame.Image[uint8]{randomImage(r, width, 1, func() uint8 { return 1 }), randomImage(r, width, 1, func() uint8 { return 1 })}
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
				inner: flow.Field{Image: randomImage(r, width, height, short)}, outer: r.field(width, height),
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
			side := func() *changes {
				return &changes{cells: randomImage(r, columns, rows, func() change { return change{} }), motion: flow.Field{Image: randomImage(r, columns, rows, r.vector)}}
			}
			want, got := side(), side()
			portable.accelerations(want, e, 0, rows)
			levels(t, func(name string, l loopTable) {
				l.accelerations(got, e, 0, rows/2)
				l.accelerations(got, e, rows/2, rows)
				same(t, name+" changes", got.cells.Pix, want.cells.Pix, columns)
				same(t, name+" motion", got.motion.Pix, want.motion.Pix, columns)
			})
		}
	})
}

func TestLoopsSpread(t *testing.T) {
	eachSize(t, func(t *testing.T, r *trial, width, height int) {
		for level := range MaxLevel + 1 {
			size := cellSize >> level
			cells := randomImage(r, (width+size-1)/size, (height+size-1)/size, func() [2]float32 {
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

// Chunks change nothing, whatever the height.
func TestChunks(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {9, 2}, {8, 15}, {12, 16}, {9, 17}, {10, 33}, {17, 130}} {
		r := newTrial(t, uint64(size[1]), false)
		width, height := size[0], size[1]
		src, once := flow.Field{Image: randomImage(r, width, height, r.vector)}, flow.NewField(width, height)
		got, want := flow.NewField(width, height), flow.NewField(width, height)
		weights := r.words(width, height, 4097)
		var blurred, across, smoothed frame.Image[uint16]
		across.Resize(width, height)
		smoothed.Resize(width, height)
		loops.median(once, src, 1, 0, height)
		loops.median(want, once, -1, 0, height)
		loops.smoothAcross(across, weights, 0, height)
		loops.smoothDown(smoothed, across, 0, height)
		var fields, images sync.Pool
		for workers := range 4 {
			medianTwice(frame.Workers{N: 1 + workers}, got, src, -1, &fields)
			same(t, fmt.Sprint("medians, workers ", workers), got.Pix, want.Pix, width)
			smooth(frame.Workers{N: 1 + workers}, &blurred, weights, &images)
			same(t, fmt.Sprint("weights, workers ", workers), blurred.Pix, smoothed.Pix, width)
		}
	}
}

func TestLoopsExtents(t *testing.T) {
	eachSize(t, func(t *testing.T, r *trial, width, _ int) {
		row := randomImage(r, width, 1, r.vector).Pix
		columns := (width + cellWidth - 1) / cellWidth
		cells := func() []span { return randomImage(r, columns, 1, func() span { return span{} }).Pix }
		want, got := cells(), cells()
		portable.extents(want, row)
		levels(t, func(name string, l loopTable) {
			l.extents(got, row)
			same(t, name, got, want, columns)
		})
	})
}
