//go:build linux

package dis

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"retime/flow"
	"retime/frame"
	"retime/frame/simd"
	"retime/frame/simd/simdtest"
)

// everyVariant returns the kernels that this processor can run, the portable ones first.
func everyVariant() []variant {
	levels := simd.Levels()
	return variants(levels[len(levels)-1])
}

// trial is random input for all kernels of one level.
type trial struct {
	rng        *rand.Rand
	level      level
	coarser    level
	pyramids   [2][]uint8 // of one level
	own, other []best
	coarse     []vector
}

func newTrial(seed uint64, s scene, width, height, stride int) *trial {
	r := &trial{rng: rand.New(rand.NewPCG(seed, 1))}
	r.level = level{width: width, height: height, columns: patchesAlong(width, stride), rows: patchesAlong(height, stride), stride: stride}
	l := &r.level
	l.pitch = (width + 2*borderSize + 15) &^ 15
	l.origin = borderSize*l.pitch + borderSize
	a, b := s.pair(seed, width, height)
	for i, m := range []frame.Image[uint8]{a, b} {
		r.pyramids[i] = make([]uint8, l.pitch*(height+2*borderSize))
		for y := range height {
			l.fill(r.pyramids[i], m, y)
		}
		l.enclose(r.pyramids[i])
	}
	for i := range l.columns * l.rows {
		r.own = append(r.own, r.best())
		r.other = append(r.other, r.best())
		if i > 0 && i%2 == 0 {
			// Vectors that evaluation can only just tell apart, or only just not.
			r.own[i].vector = vector{r.own[i-1].x + r.rng.Int32N(17) - 8, r.own[i-1].y + r.rng.Int32N(17) - 8}
		}
	}
	r.coarser = level{width: (width + 1) / 2, height: (height + 1) / 2}
	for range r.coarser.width * r.coarser.height {
		r.coarse = append(r.coarse, r.vector(1<<28))
	}
	return r
}

// vector returns a vector that is short, of whole pixels, long, or next to a bound that the steps
// compare with.
func (r *trial) vector(limit int32) vector {
	component := func() int32 {
		switch r.rng.IntN(10) {
		case 0:
			return r.rng.Int32N(2*limit) - limit
		case 1:
			return (r.rng.Int32N(41) - 20) * vectorOne
		case 2:
			return []int32{limit - 1, -limit, stepLimit, -stepLimit, 1<<15 - 1, 1 << 15, -1 << 15}[r.rng.IntN(7)]
		}
		return r.rng.Int32N(1<<13) - 1<<12
	}
	return vector{component(), component()}
}

func (r *trial) best() best {
	return best{r.vector(1 << 29), r.rng.Int32N(patchPixels*1<<(4*r.rng.IntN(5))) + 1, uint8(r.rng.IntN(2)), uint8(r.rng.IntN(2))}
}

// Exact: the portable kernels define the others. Every input and output first ends at a page that
// faults, and then begins at one.
func TestKernels(t *testing.T) {
	const seed = 11
	setting := 0
	for i, size := range [][2]int{{8, 8}, {9, 10}, {11, 8}, {12, 13}, {16, 15}, {31, 17}, {64, 40}, {101, 22}, {8, 97}} {
		for j, s := range scenes {
			stride := 4
			if j%3 == 0 {
				stride = 1 + (i+j)%patchSize
			}
			r := newTrial(uint64(seed+100*i+j), s, size[0], size[1], stride)
			o := Default()
			settings[setting%len(settings)].change(&o)
			setting++
			t.Run(fmt.Sprintf("%s %dx%d stride %d %s", s.name, size[0], size[1], stride, settings[(setting-1)%len(settings)].name), func(t *testing.T) {
				r.run(t, o, j%2 == 0)
			})
		}
	}
}

func (r *trial) run(t *testing.T, o Options, end bool) {
	l := &r.level
	s := search{&o, l, simdtest.Copy(t, r.pyramids[0], end), simdtest.Copy(t, r.pyramids[1], end)}
	own, other, coarse := simdtest.Copy(t, r.own, end), simdtest.Copy(t, r.other, end), simdtest.Copy(t, r.coarse, end)
	got, want := simdtest.Guarded[best](t, l.columns, end), make([]best, l.columns)
	compare := func(name string, row int, run func(k kernels, dst []best)) {
		t.Helper()
		all := everyVariant()
		run(all[0].kernels, want)
		for _, v := range all[1:] {
			run(v.kernels, got)
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("%s, %s, row %d, patch %d: %+v, want %+v", v.level, name, row, i, got[i], want[i])
				}
			}
		}
	}
	for row := range l.rows {
		for _, reach := range []bool{false, true} {
			compare("first without a coarser level", row, func(k kernels, dst []best) { k.first(&s, dst, row, nil, nil, reach) })
		}
		compare("first", row, func(k kernels, dst []best) { k.first(&s, dst, row, &r.coarser, coarse, false) })
		compare("propagate", row, func(k kernels, dst []best) { k.propagate(&s, dst, row, own, other) })
	}
	for row := range (l.height + cellSize - 1) / cellSize {
		rows := min(cellSize, l.height-cellSize*row)
		got := simdtest.Guarded[vector](t, rows*l.width, end)
		compareDense(t, &s, got, row, own)
	}
}

// compareDense fails unless every variant of densify sets got to what the portable one returns.
func compareDense(t *testing.T, s *search, got []vector, row int, patches []best) {
	t.Helper()
	all := everyVariant()
	want := make([]vector, len(got))
	all[0].densify(s, want, row, patches)
	for _, v := range all[1:] {
		clear(got)
		v.densify(s, got, row, patches)
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("%s, densify, row %d, (%d, %d): %v, want %v", v.level, row, i%s.level.width, i/s.level.width, got[i], want[i])
			}
		}
	}
}

// Steps of hundreds of units, some of which a fused product would round to another integer.
func TestKernelRounding(t *testing.T) {
	r := newTrial(3, moving("", 1.7, 2.2), 300, 200, 1)
	o := Default()
	o.Iterations = 1
	s := search{&o, &r.level, r.pyramids[0], r.pyramids[1]}
	got, want := make([]best, r.level.columns), make([]best, r.level.columns)
	for row := range r.level.rows {
		all := everyVariant()
		all[0].first(&s, want, row, nil, nil, false)
		for _, v := range all[1:] {
			v.first(&s, got, row, nil, nil, false)
			if !slices.Equal(got, want) {
				t.Fatalf("%s, row %d: %v, want %v", v.level, row, got, want)
			}
		}
	}
}

// Every difference gets the weight of the table, in every lane.
func TestKernelWeights(t *testing.T) {
	const width = 256
	o := Default()
	l := level{width: width, height: 8, columns: patchesAlong(width, 4), rows: 1, stride: 4, pitch: width + 2*borderSize}
	l.origin = borderSize*l.pitch + borderSize
	a, b := make([]uint8, l.pitch*(l.height+2*borderSize)), make([]uint8, l.pitch*(l.height+2*borderSize))
	ramp := frame.NewImage[uint8](width, l.height)
	for i := range ramp.Pix {
		ramp.Pix[i] = uint8(i % width)
	}
	for y := range l.height {
		l.fill(b, ramp, y)
	}
	l.enclose(b)
	s := search{&o, &l, a, b}
	patches, got := make([]best, l.columns), make([]vector, cellSize*width)
	for shift := range int32(16) {
		for i := range patches {
			// Neighbours differ, so that a wrong weight shows in the mean.
			patches[i].vector = vector{64*shift + 8192*int32(i%2), int32(i) * 5000}
		}
		compareDense(t, &s, got, 0, patches)
	}
}

// Cells whose patches all have one vector, which may be so long that its mean differs from it.
func TestKernelUniformVectors(t *testing.T) {
	r := newTrial(5, scenes[0], 31, 22, 4)
	o := Default()
	s := search{&o, &r.level, r.pyramids[0], r.pyramids[1]}
	for _, v := range []vector{{}, {1, -1}, {700, -1300}, {1<<20 - 1, 1 - 1<<20}, {1 << 20, 5}, {-3, -1 << 20}, {123456789, 87654321}, {-1<<28 - 77, 1<<28 + 33}} {
		for i := range r.own {
			r.own[i].vector = v
		}
		for row := range (r.level.height + cellSize - 1) / cellSize {
			rows := min(cellSize, r.level.height-cellSize*row)
			compareDense(t, &s, make([]vector, rows*r.level.width), row, r.own)
		}
	}
}

func TestKernelSettle(t *testing.T) {
	r := &trial{rng: rand.New(rand.NewPCG(6, 1))}
	for n := 1; n < 40; n++ {
		src := simdtest.Guarded[vector](t, n, n%2 == 0)
		for i := range src {
			src[i] = r.vector(1 << 29)
		}
		limit := []int32{512, 1 << 12, 1 << 29}[n%3]
		got, want := simdtest.Guarded[flow.Vec](t, n, n%2 == 0), make([]flow.Vec, n)
		settle(want, src, limit)
		for _, v := range everyVariant() {
			clear(got)
			v.settle(got, src, limit)
			if !slices.Equal(got, want) {
				t.Fatalf("%s: %v, want %v", v.level, got, want)
			}
		}
	}
}

func TestKernelSettleHalved(t *testing.T) {
	r := &trial{rng: rand.New(rand.NewPCG(7, 1))}
	for n := 1; n < 70; n++ {
		var rows [2][]vector
		for i := range rows {
			rows[i] = simdtest.Guarded[vector](t, n, n%2 == 0)
			for j := range rows[i] {
				rows[i][j] = r.vector(1 << 29)
			}
		}
		if n%5 == 0 {
			rows[1] = rows[0] // an odd last row
		}
		limit := []int32{512, 1 << 12, 1 << 28}[n%3]
		got, want := simdtest.Guarded[flow.Vec](t, (n+1)/2, n%2 == 0), make([]flow.Vec, (n+1)/2)
		settleHalved(want, rows[0], rows[1], limit)
		for _, v := range everyVariant() {
			clear(got)
			v.settleHalved(got, rows[0], rows[1], limit)
			if !slices.Equal(got, want) {
				t.Fatalf("%s, %d vectors: %v, want %v", v.level, n, got, want)
			}
		}
	}
}

func BenchmarkKernels(b *testing.B) {
	for _, v := range everyVariant() {
		x, y := moving("", 7.3, -2.6).pair(0, 960, 540)
		e := open(b, Default(), 1)
		e.kernels = v.kernels
		b.Run(v.level.String(), func(b *testing.B) {
			for b.Loop() {
				estimate(b, e, x, y)
			}
		})
	}
}
