package warp

import (
	"retime/flow"
	"retime/frame"
	"retime/frame/simd"
)

// loopTable is the inner loops that have variants for vector instructions. They work on rows
// [y0, y1).
type loopTable struct {
	measureLoops
	choiceLoops
	// median multiplies medians by sign, 1 or -1.
	median func(dst, src flow.Field, sign int32, y0, y1 int)
	// extents sets cells to the least and the largest vertical components in a row.
	extents func(cells []span, vectors []flow.Vec)
	// addVectors adds columns [x0, x1) of row y of src to b.
	addVectors func(b *band, src flow.Field, m *Motion, y, x0, x1 int)
	// storeVectors writes the means and the holes of a row of sums. It returns false if a sum
	// may have overflowed; in that case it has not written all means.
	storeVectors func(dst []flow.Vec, mask []uint8, sums []vectorSum, least uint64) bool
	// average sets mean to the means of the estimates in row y.
	average func(mean []flow.Vec, estimates []estimate, y int)
	bendLoops
	floats8  func(dst []float32, src []uint8)
	floats16 func(dst []float32, src []uint16)
	render8  func(r *renderer, layers []layer[uint8], y0, y1 int)
	render16 func(r *renderer, layers []layer[uint16], y0, y1 int)
	calmLoops
}

// measureLoops make and compare guides.
type measureLoops struct {
	disagreement       func(dst frame.Image[uint16], a, b frame.Image[uint8], motion, bend flow.Field, phase Phase, y0, y1 int)
	disagreementBeyond func(dst frame.Image[uint16], near, far frame.Image[uint8], motion flow.Field, part, way int32, y0, y1 int)
	warpError          func(dst frame.Image[uint16], a, b frame.Image[uint8], f flow.Field, y0, y1 int)
	boxMean            func(dst, src frame.Image[uint16], radius int, inverse []uint64, y0, y1 int)
	// halve sets dst to the averages of blocks of two rows, which are at least twice as long.
	halve func(dst, a, b []uint8)
}

// calmLoops blur what readings contradict.
type calmLoops struct {
	// They set rows [y0, y1), which have the same spans.
	soften8  func(c *calm, src frame.Image[uint8], spans []calmSpan, sx, sy, y0, y1 int)
	soften16 func(c *calm, src frame.Image[uint16], spans []calmSpan, sx, sy, y0, y1 int)
}

// bendLoops find and apply accelerations.
type bendLoops struct {
	// accelerations sums up rows [y0, y1) of cells of side k.
	accelerations func(c *changes, e *evidence, y0, y1 int)
	spread        func(dst flow.Field, cells frame.Image[[2]float32], level, y0, y1 int)
}

// choiceLoops divide pixels among hypotheses.
type choiceLoops struct {
	weigh func(hypotheses []*hypothesis, i0, i1 int) int64
	// follow adds the messages along paths of n cells that go on by step. The first path
	// begins at cell i, and each of the others lies apart from the one before.
	follow       func(c *chooser, i, apart, paths, step, n int)
	cellMeans    func(hypotheses []*hypothesis, energies []int16, motions []flow.Vec, y0, y1 int)
	share        func(hypotheses []*hypothesis, sums []int16, width, height, y0, y1 int)
	smoothAcross func(dst, src frame.Image[uint16], y0, y1 int)
	smoothDown   func(dst, src frame.Image[uint16], y0, y1 int)
}

// portable are the functions that define the loops.
var portable = loopTable{
	measureLoops{disagreementRows, disagreementBeyondRows, warpErrorRows, boxMeanRows, halveRow},
	choiceLoops{weighPixels, (*chooser).followAll, cellMeanRows, shareRows, smoothAcrossRows, smoothDownRows},
	medianRows, extents, addVectors, storeVectors, average,
	bendLoops{(*changes).gatherRows, spreadRows},
	floats[uint8], floats[uint16], renderRows[uint8], renderRows[uint16],
	calmLoops{softenRows[uint8], softenRows[uint16]},
}

// loops are those in use.
var loops loopTable

func init() { loops = variant(simd.Chosen()) }

// convert sets dst to the samples of src.
func convert[T frame.Sample](dst []float32, src []T) {
	switch src := any(src).(type) {
	case []uint8:
		loops.floats8(dst, src)
	case []uint16:
		loops.floats16(dst, src)
	}
}

// render fills the layers' planes.
func render[T frame.Sample](r *renderer, height int, layers []layer[T]) {
	r.workers.Rows(height, func(y0, y1 int) {
		switch l := any(layers).(type) {
		case []layer[uint8]:
			loops.render8(r, l, y0, y1)
		case []layer[uint16]:
			loops.render16(r, l, y0, y1)
		}
	})
}
