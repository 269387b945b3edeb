//go:build cgo && (amd64 || arm64)

package warp

import (
	"retime/flow"
	"retime/frame"
	"retime/frame/simd"
	"retime/warp/internal/native"
)

// variant returns the loops for a level of instructions. What is too small for vectors, or
// has gaps between its rows, goes to the portable ones.
func variant(l simd.Level) loopTable {
	k := native.Of(l)
	if k == nil {
		return portable
	}
	return loopTable{
		measureLoops{
			func(dst frame.Image[uint16], a, b frame.Image[uint8], motion, bend flow.Field, phase Phase, y0, y1 int) {
				if !fits(a) || !fits(b) || !packed(bend.Image) {
					portable.disagreement(dst, a, b, motion, bend, phase, y0, y1)
					return
				}
				k.Disagreement(dst, a, b, motion, bend, int32(phase), y0, y1)
			},
			func(dst frame.Image[uint16], near, far frame.Image[uint8], motion flow.Field, part, way int32, y0, y1 int) {
				if !fits(near) || !fits(far) || !packed(motion.Image) {
					portable.disagreementBeyond(dst, near, far, motion, part, way, y0, y1)
					return
				}
				k.DisagreementBeyond(dst, near, far, motion, part, way, y0, y1)
			},
			func(dst frame.Image[uint16], a, b frame.Image[uint8], f flow.Field, y0, y1 int) {
				if !fits(a) || !fits(b) || !packed(f.Image) {
					portable.warpError(dst, a, b, f, y0, y1)
					return
				}
				k.WarpError(dst, a, b, f, y0, y1)
			},
			func(dst, src frame.Image[uint16], radius int, inverse []uint64, y0, y1 int) {
				if radius == 0 || radius > native.MostRadius || !packed(src) {
					portable.boxMean(dst, src, radius, inverse, y0, y1)
					return
				}
				k.BoxMean(dst, src, radius, inverse, y0, y1)
			},
			k.Halve,
		},
		choiceLoops{
			func(hypotheses []*hypothesis, i0, i1 int) int64 {
				return k.Weigh(natives(hypotheses), native.Gates{Neighbour: neighbourGate, Only: onlyGate}, i0, i1)
			},
			func(c *chooser, i, apart, paths, step, n int) {
				k.Follow(native.Cells{
					Hypotheses: c.labels, Energies: c.energies, Motions: c.motions, Sums: c.sums, Guide: c.guide.Pix,
					Penalties: &penalties, JumpBits: jumpBits,
				}, i, apart, paths, step, n)
			},
			func(hypotheses []*hypothesis, energies []int16, motions []flow.Vec, y0, y1 int) {
				full := hypotheses[0].energy
				k.CellMeans(natives(hypotheses), full.Width, full.Height, energies, motions, y0, y1)
			},
			func(hypotheses []*hypothesis, sums []int16, width, height, y0, y1 int) {
				k.Share(natives(hypotheses), sums, width, height, hypotheses[0].energy.Width, likelihood, y0, y1)
			},
			k.SmoothAcross,
			k.SmoothDown,
		},
		k.Median,
		func(cells []span, vectors []flow.Vec) { native.Extents(k, cells, vectors, cellWidth) },
		addVectorsBy(k),
		func(dst []flow.Vec, mask []uint8, sums []vectorSum, least uint64) bool {
			return native.StoreVectors(k, dst, mask, sums, least)
		},
		func(mean []flow.Vec, estimates []estimate, y int) {
			if len(estimates) > 2 {
				portable.average(mean, estimates, y)
				return
			}
			var storage [4][]flow.Vec
			rows := storage[:0]
			for i := range estimates {
				rows = append(rows, estimates[i].forward.motion.Row(y), estimates[i].reverse.motion.Row(y))
			}
			k.Average(mean, rows, averageShift(len(estimates)))
		},
		bendLoops{
			func(c *changes, e *evidence, y0, y1 int) {
				if !packed(e.inner.Image) || !packed(e.outer.Image) {
					portable.accelerations(c, e, y0, y1)
					return
				}
				native.SumAccelerations(k, native.Accelerations{
					Inner: e.inner, Outer: e.outer, InnerError: e.innerError.Pix, OuterError: e.outerError.Pix,
					InnerFactor: e.innerFactor, OuterFactor: e.outerFactor, Limit: e.limit, Credit: creditTable, Size: e.size,
				}, c.cells.Pix, c.motion.Pix, y0, y1)
			},
			func(dst flow.Field, cells frame.Image[[2]float32], level, y0, y1 int) {
				k.SpreadBends(dst, cells, cellSize>>level, bendScale(level), y0, y1)
			},
		},
		k.Floats8, k.Floats16,
		func(r *renderer, layers []layer[uint8], y0, y1 int) { renderNative(k, r, layers, y0, y1) },
		func(r *renderer, layers []layer[uint16], y0, y1 int) { renderNative(k, r, layers, y0, y1) },
		calmLoops{
			func(c *calm, src frame.Image[uint8], spans []calmSpan, sx, sy, y0, y1 int) {
				native.Soften(k, softening(c, spans, sx, sy), c.blurred, src, y0, y1)
			},
			func(c *calm, src frame.Image[uint16], spans []calmSpan, sx, sy, y0, y1 int) {
				native.Soften(k, softening(c, spans, sx, sy), c.blurred, src, y0, y1)
			},
		},
	}
}

func softening(c *calm, spans []calmSpan, sx, sy int) native.Softening[calmSpan] {
	return native.Softening[calmSpan]{Strengths: c.strengths, Still: c.still, Level: c.level, SX: sx, SY: sy, Spans: spans}
}

func addVectorsBy(k *native.Kernels) func(b *band, src flow.Field, m *Motion, y, x0, x1 int) {
	if !k.AddsVectors() {
		return addVectors
	}
	return func(b *band, src flow.Field, m *Motion, y, x0, x1 int) {
		f := b.flight(x0, y, m.Phase)
		native.AddVectors(k, b.vectors, m.Flow.Row(y)[x0:x1], src.Row(y)[x0:x1], m.weightRow(y, x0, x1), native.Flight{
			Left: f.left, Top: f.top, Columns: f.columns, Lines: f.lines, Stride: f.stride, Phase: int32(f.phase),
		})
	}
}

// fits reports whether a guide is large enough for vectors.
func fits(m frame.Image[uint8]) bool { return m.Width >= native.MinWidth && m.Height >= 2 }

// packed reports whether rows follow each other without gaps.
func packed[E any](m frame.Image[E]) bool { return m.Stride == m.Width }

func natives(hypotheses []*hypothesis) []native.Hypothesis {
	list := make([]native.Hypothesis, len(hypotheses))
	for i, h := range hypotheses {
		list[i] = native.Hypothesis{
			Kind: int(h.kind), Seen: uint8(h.kind.seen()), Bends: h.kind.bends(),
			Motion: h.motion, Cost: h.cost.Pix, Energy: h.energy.Pix, Weight: h.weight.Pix,
		}
	}
	return list
}

func renderNative[T frame.Sample](k *native.Kernels, r *renderer, layers []layer[T], y0, y1 int) {
	// Only B-splines have vector variants.
	spline := true
	var planes []native.Plane[T]
	for i := range layers {
		l := &layers[i]
		for p := range l.dst {
			spline = spline && l.ca[p].kernel != ZwartPowell
			planes = append(planes, native.Plane[T]{
				Dst: l.dst[p], Samples: [2]frame.Image[T]{l.a[p], l.b[p]},
				Coefficients: [2]frame.Image[float32]{l.ca[p].Image, l.cb[p].Image},
				Mask:         l.mask, SX: l.sx, SY: l.sy,
			})
		}
	}
	if !spline || !fits(r.calm.guides[0]) || !fits(r.calm.guides[1]) || len(planes) > native.MostPlanes || len(r.hypotheses) > native.MostHypotheses {
		renderRows(r, layers, y0, y1)
		return
	}
	scene := native.Scene{
		Hypotheses: natives(r.hypotheses), Bend: r.bend.Pix, Width: r.gridWidth, Level: layers[0].level,
		Phase: int32(r.phase), Limit: float32(r.limit), Taps: (*[256][4]float32)(r.taps),
		Guides: r.calm.guides, Means: r.calm.means, Errors: r.calm.errors,
	}
	if t := layers[0].ca[0].light; t != nil {
		scene.Light, scene.Below, scene.First = t.Of, t.Below, t.First
	}
	native.Render(k, &scene, planes, y0, y1)
}
