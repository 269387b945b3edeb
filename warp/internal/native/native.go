//go:build cgo && (amd64 || arm64)

package native

/*
#cgo CFLAGS: -std=c11 -O3 -Wall -Wextra
#cgo noescape call_disagreement
#cgo nocallback call_disagreement
#cgo noescape call_disagreement_beyond
#cgo nocallback call_disagreement_beyond
#cgo noescape call_warp_error
#cgo nocallback call_warp_error
#cgo noescape call_box_mean
#cgo nocallback call_box_mean
#cgo noescape call_halve
#cgo nocallback call_halve
#cgo noescape call_median
#cgo nocallback call_median
#cgo noescape call_weigh
#cgo nocallback call_weigh
#cgo noescape call_cell_means
#cgo nocallback call_cell_means
#cgo noescape call_share
#cgo nocallback call_share
#cgo noescape call_smooth_across
#cgo nocallback call_smooth_across
#cgo noescape call_smooth_down
#cgo nocallback call_smooth_down
#cgo noescape call_follow
#cgo nocallback call_follow
#cgo noescape call_extents
#cgo nocallback call_extents
#cgo noescape call_add_vectors
#cgo nocallback call_add_vectors
#cgo noescape call_store_vectors
#cgo nocallback call_store_vectors
#cgo noescape call_accelerations
#cgo nocallback call_accelerations
#cgo noescape call_spread_bends
#cgo nocallback call_spread_bends
#cgo noescape call_average
#cgo nocallback call_average
#cgo noescape call_floats8
#cgo nocallback call_floats8
#cgo noescape call_floats16
#cgo nocallback call_floats16
#cgo noescape call_render8
#cgo nocallback call_render8
#cgo noescape call_render16
#cgo nocallback call_render16
#cgo noescape call_soften8
#cgo nocallback call_soften8
#cgo noescape call_soften16
#cgo nocallback call_soften16
#include "calls.h"
*/
import "C"

import (
	"unsafe"

	"retime/flow"
	"retime/frame"
)

// Kernels are the loops for a level of instructions. Rows are [y0, y1). Unless said
// otherwise, rows follow each other without gaps and are at least MinWidth long, and
// guides have at least two rows.
type Kernels struct{ k *C.warp_kernels }

// MinWidth is the least width of a guide.
const MinWidth = 8

// vec and words return addresses of elements, which no Go pointer is in.
func vec(v []flow.Vec) *C.warp_vec { return (*C.warp_vec)(unsafe.Pointer(unsafe.SliceData(v))) }

func words(v []uint16) *C.uint16_t { return (*C.uint16_t)(unsafe.Pointer(unsafe.SliceData(v))) }

func shorts(v []int16) *C.int16_t { return (*C.int16_t)(unsafe.Pointer(unsafe.SliceData(v))) }

func guide(m frame.Image[uint8]) C.warp_guide {
	return C.warp_guide{
		pix:   (*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(m.Pix))),
		width: C.int32_t(m.Width), height: C.int32_t(m.Height), stride: C.int32_t(m.Stride),
	}
}

// Disagreement sets dst to the differences between a and b along the motions at a phase of
// at most 65536. bend may be empty. Guides and
// motions may have any stride.
func (k *Kernels) Disagreement(dst frame.Image[uint16], a, b frame.Image[uint8], motion, bend flow.Field, phase int32, y0, y1 int) {
	C.call_disagreement(k.k, words(dst.Pix), guide(a), guide(b), vec(motion.Pix), C.int(motion.Stride), vec(bend.Pix), C.int32_t(phase), C.int(y0), C.int(y1))
}

// DisagreementBeyond sets dst to the differences between near, at the distance part along
// the motions, and far, which is way whole motions further.
func (k *Kernels) DisagreementBeyond(dst frame.Image[uint16], near, far frame.Image[uint8], motion flow.Field, part, way int32, y0, y1 int) {
	C.call_disagreement_beyond(k.k, words(dst.Pix), guide(near), guide(far), vec(motion.Pix), C.int32_t(part), C.int32_t(way), C.int(y0), C.int(y1))
}

// WarpError sets dst to the differences between a and b along f.
func (k *Kernels) WarpError(dst frame.Image[uint16], a, b frame.Image[uint8], f flow.Field, y0, y1 int) {
	C.call_warp_error(k.k, words(dst.Pix), guide(a), guide(b), vec(f.Pix), C.int(y0), C.int(y1))
}

// MostRadius is the largest radius of BoxMean.
const MostRadius = 8

// BoxMean sets dst to means of src over squares. inverse holds 2^32/n for every number n of
// pixels in a square. Images may have any size.
func (k *Kernels) BoxMean(dst, src frame.Image[uint16], radius int, inverse []uint64, y0, y1 int) {
	C.call_box_mean(k.k, words(dst.Pix), words(src.Pix), C.int(src.Width), C.int(src.Height), C.int(radius),
		(*C.uint64_t)(unsafe.Pointer(unsafe.SliceData(inverse))), C.int(y0), C.int(y1))
}

// Halve sets dst to the averages of blocks of two rows, which are at least twice as long.
func (k *Kernels) Halve(dst, a, b []uint8) {
	C.call_halve(k.k, (*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(dst))), (*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(a))),
		(*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(b))), C.int(len(dst)))
}

// Median sets dst to medians of src times sign, 1 or -1. Fields may have any size.
func (k *Kernels) Median(dst, src flow.Field, sign int32, y0, y1 int) {
	C.call_median(k.k, vec(dst.Pix), vec(src.Pix), C.int32_t(sign), C.int(src.Width), C.int(src.Height), C.int(y0), C.int(y1))
}

// SmoothAcross sets dst to src, blurred along x. Images may have any size.
func (k *Kernels) SmoothAcross(dst, src frame.Image[uint16], y0, y1 int) {
	C.call_smooth_across(k.k, words(dst.Pix), words(src.Pix), C.int(src.Width), C.int(y0), C.int(y1))
}

// SmoothDown sets dst to src, blurred along y. Images may have any size.
func (k *Kernels) SmoothDown(dst, src frame.Image[uint16], y0, y1 int) {
	C.call_smooth_down(k.k, words(dst.Pix), words(src.Pix), C.int(src.Width), C.int(src.Height), C.int(y0), C.int(y1))
}

// MostHypotheses is the largest number of hypotheses.
const MostHypotheses = C.warp_most_hypotheses

// Hypothesis is a motion of each pixel, its cost, its energy, and its weight.
type Hypothesis struct {
	Kind   int
	Seen   uint8 // bit 0: in the first neighbour; bit 1: in the second
	Bends  bool
	Motion flow.Field // of any stride
	Cost   []uint16
	Energy []int16
	Weight []uint16
}

// Gates are the tables of energies beside the costs, of one length.
type Gates struct{ Neighbour, Only []int16 }

// Weigh sets the energies of pixels [i0, i1) from the costs, which must be below 1<<15, and
// returns the sum of the least costs.
func (k *Kernels) Weigh(hypotheses []Hypothesis, g Gates, i0, i1 int) int64 {
	e := C.warp_energies{
		hypotheses: C.int32_t(len(hypotheses)), neighbour_gate: shorts(g.Neighbour),
		only_gate: shorts(g.Only), gate_length: C.int32_t(len(g.Only)),
	}
	for i, h := range hypotheses {
		e.cost[i], e.energy[i], e.kind[i] = words(h.Cost), shorts(h.Energy), C.uint8_t(h.Kind)
	}
	return int64(C.call_weigh(k.k, e, C.int(i0), C.int(i1)))
}

// CellMeans sets the means of energies and motions over rows [y0, y1) of cells of four by
// four pixels, by cell, then hypothesis.
func (k *Kernels) CellMeans(hypotheses []Hypothesis, width, height int, energies []int16, motions []flow.Vec, y0, y1 int) {
	c := C.warp_cells{
		hypotheses: C.int32_t(len(hypotheses)), width: C.int32_t(width), height: C.int32_t(height),
		cell_energy: shorts(energies), cell_motion: vec(motions),
	}
	for i, h := range hypotheses {
		c.energy[i], c.motion[i] = shorts(h.Energy), vec(h.Motion.Pix)
		c.stride[i] = C.int32_t(h.Motion.Stride)
	}
	C.call_cell_means(k.k, c, C.int(y0), C.int(y1))
}

// Share sets the weights from the energies and the messages of cells, of which a row of
// width pixels has cells and the picture has cellRows rows.
func (k *Kernels) Share(hypotheses []Hypothesis, sums []int16, cells, cellRows, width int, likelihood []uint16, y0, y1 int) {
	s := C.warp_shares{
		hypotheses: C.int32_t(len(hypotheses)), sums: shorts(sums), cells: C.int32_t(cells), cell_rows: C.int32_t(cellRows),
		width: C.int32_t(width), likelihood: words(likelihood), likelihood_length: C.int32_t(len(likelihood)),
	}
	for i, h := range hypotheses {
		s.energy[i], s.weight[i] = shorts(h.Energy), words(h.Weight)
	}
	C.call_share(k.k, s, C.int(y0), C.int(y1))
}

// Cells are what messages between cells are made of, by cell, then hypothesis. Penalties
// for a change of motion are indexed by the difference of the guide; the whole penalty
// applies from 1<<JumpBits on.
type Cells struct {
	Hypotheses int
	Energies   []int16
	Motions    []flow.Vec
	Sums       []int16
	Guide      []uint8
	Penalties  *[256]uint16
	JumpBits   int
}

// Follow adds to the sums the messages along paths of n cells that go on by step. The first
// path begins at cell i, and each of the others lies apart from the one before.
func (k *Kernels) Follow(c Cells, i, apart, paths, step, n int) {
	C.call_follow(k.k, C.warp_paths{
		hypotheses: C.int32_t(c.Hypotheses), jump_bits: C.int32_t(c.JumpBits), energies: shorts(c.Energies), motions: vec(c.Motions),
		sums: shorts(c.Sums), guide: (*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(c.Guide))), penalties: words(c.Penalties[:]),
	}, C.int(i), C.int(apart), C.int(paths), C.int(step), C.int(n))
}

// Extents sets cells, two int32 each, to the least and the largest vertical components of runs of
// width vectors.
func Extents[Cell any](k *Kernels, cells []Cell, vectors []flow.Vec, width int) {
	var cell Cell
	if unsafe.Sizeof(cell) != C.sizeof_warp_span {
		panic("native: extents have another size in C")
	}
	C.call_extents(k.k, (*C.warp_span)(unsafe.Pointer(unsafe.SliceData(cells))), vec(vectors), C.int(len(vectors)), C.int(width))
}

// Flight maps the pixels of a row to sums: the first one begins at (Left, Top), in 1/256
// pixel of the sums, of which a row has Stride. Pixels beyond Columns or Lines are dropped.
type Flight struct {
	Left, Top      int64
	Columns, Lines uint64
	Stride         int
	Phase          int32
}

// AddsVectors reports whether there is a variant of AddVectors.
func (k *Kernels) AddsVectors() bool { return k.k.add_vectors != nil }

// AddVectors adds vectors, moved along motion, to sums: pairs of int64 components, a uint64
// weight, and 64 bits that stay zero.
func AddVectors[Sum any](k *Kernels, sums []Sum, motion, vectors []flow.Vec, weights []uint16, f Flight) {
	C.call_add_vectors(k.k, vectorSums(sums), vec(motion), vec(vectors), words(weights),
		C.int(len(motion)), C.warp_flight{
			left: C.int64_t(f.Left), top: C.int64_t(f.Top), columns: C.uint64_t(f.Columns), lines: C.uint64_t(f.Lines),
			stride: C.int64_t(f.Stride), phase: C.int32_t(f.Phase),
		})
}

func vectorSums[Sum any](sums []Sum) *C.warp_vector_sum {
	var sum Sum
	if unsafe.Sizeof(sum) != C.sizeof_warp_vector_sum {
		panic("native: sums of vectors have another size in C")
	}
	return (*C.warp_vector_sum)(unsafe.Pointer(unsafe.SliceData(sums)))
}

// StoreVectors sets dst to the means of sums, and mask to 255 at those whose weight is below
// least and to 0 elsewhere. It returns false if a sum may have overflowed; in that case it
// has not set all means.
func StoreVectors[Sum any](k *Kernels, dst []flow.Vec, mask []uint8, sums []Sum, least uint64) bool {
	return C.call_store_vectors(k.k, vec(dst), (*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(mask))), vectorSums(sums), C.int(len(dst)), C.uint64_t(least)) != 0
}

// Average sets dst to the sums of two or four rows, shifted right.
func (k *Kernels) Average(dst []flow.Vec, rows [][]flow.Vec, shift int) {
	var r C.warp_rows
	for i, row := range rows {
		r.row[i] = vec(row)
	}
	C.call_average(k.k, vec(dst), r, C.int(len(rows)), C.int(shift), C.int(len(dst)))
}

// Accelerations are what those of cells of Size by Size pixels are summed up from. The
// credit at 0 is the largest.
type Accelerations struct {
	Inner, Outer             flow.Field
	InnerError, OuterError   []uint16
	InnerFactor, OuterFactor int64
	Limit                    int64
	Credit                   []int64
	Size                     int
}

// SumAccelerations sets the changes, three int64 each, and the mean motions of rows [y0, y1)
// of cells.
func SumAccelerations[Change any](k *Kernels, a Accelerations, changes []Change, motion []flow.Vec, y0, y1 int) {
	var change Change
	if unsafe.Sizeof(change) != C.sizeof_warp_change {
		panic("native: changes have another size in C")
	}
	C.call_accelerations(k.k, C.warp_accelerations{
		inner: vec(a.Inner.Pix), outer: vec(a.Outer.Pix), inner_error: words(a.InnerError), outer_error: words(a.OuterError),
		inner_factor: C.int64_t(a.InnerFactor), outer_factor: C.int64_t(a.OuterFactor), limit: C.int64_t(a.Limit),
		credit: (*C.int64_t)(unsafe.Pointer(unsafe.SliceData(a.Credit))), credit_length: C.int32_t(len(a.Credit)), most_credit: C.int32_t(a.Credit[0]),
		width: C.int32_t(a.Inner.Width), height: C.int32_t(a.Inner.Height), size: C.int32_t(a.Size),
		change: (*C.warp_change)(unsafe.Pointer(unsafe.SliceData(changes))), motion: vec(motion),
	}, C.int(y0), C.int(y1))
}

// SpreadBends interpolates the bends of cells of 2, 4 or 8 pixels, times scale, at the
// pixels of rows [y0, y1).
func (k *Kernels) SpreadBends(dst flow.Field, cells frame.Image[[2]float32], size int, scale float32, y0, y1 int) {
	C.call_spread_bends(k.k, vec(dst.Pix), (*C.float)(unsafe.Pointer(unsafe.SliceData(cells.Pix))), C.int(cells.Width), C.int(cells.Height),
		C.int(size), C.float(scale), C.int(dst.Width), C.int(y0), C.int(y1))
}

// Floats8 sets dst to the samples of src, which is as long.
func (k *Kernels) Floats8(dst []float32, src []uint8) {
	C.call_floats8(k.k, (*C.float)(unsafe.Pointer(unsafe.SliceData(dst))), (*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(src))), C.int64_t(len(src)))
}

// Floats16 does the work of Floats8 for samples of 16 bits.
func (k *Kernels) Floats16(dst []float32, src []uint16) {
	C.call_floats16(k.k, (*C.float)(unsafe.Pointer(unsafe.SliceData(dst))), words(src), C.int64_t(len(src)))
}

// Plane is a plane of the made frame and of its neighbours. Coefficients have a margin of
// eight samples on all sides. Planes of one geometry share a mask.
type Plane[T frame.Sample] struct {
	Dst          frame.Image[T]
	Samples      [2]frame.Image[T]
	Coefficients [2]frame.Image[float32]
	Mask         frame.Image[uint8]
	SX, SY       int // subsampling
}

// MostPlanes is the largest number of planes.
const MostPlanes = C.warp_most_planes

// Scene is what the blocks of a made frame have in common.
type Scene struct {
	Hypotheses   []Hypothesis
	Bend         []flow.Vec // or nothing
	Width, Level int        // of the guides
	Phase        int32
	Limit        float32
	Taps         *[256][4]float32
	// Light, Below and First are warp's LightTable, or nothing.
	Light []float32
	Below []uint16
	First int
	// Means and Errors are of the readings of the guides in the middles of cells of eight by
	// eight pixels of the picture.
	Guides        [2]frame.Image[uint8]
	Means, Errors frame.Image[uint32]
}

// Render fills the planes' blocks of rows [y0, y1) of the guides, and sets the means and the
// errors of the cells whose middle rows are among these.
func Render[T frame.Sample](k *Kernels, s *Scene, planes []Plane[T], y0, y1 int) {
	c := C.warp_scene{
		hypotheses: C.int32_t(len(s.Hypotheses)), bend: vec(s.Bend), width: C.int32_t(s.Width), level: C.int32_t(s.Level),
		phase: C.int32_t(s.Phase), limit: C.float(s.Limit), taps: (*C.float)(unsafe.Pointer(s.Taps)), planes: C.int32_t(len(planes)),
		light: (*C.float)(unsafe.Pointer(unsafe.SliceData(s.Light))), below: words(s.Below), first: C.int32_t(s.First),
		guide: [2]C.warp_guide{guide(s.Guides[0]), guide(s.Guides[1])},
		mean:  (*C.uint32_t)(unsafe.Pointer(unsafe.SliceData(s.Means.Pix))),
		error: (*C.uint32_t)(unsafe.Pointer(unsafe.SliceData(s.Errors.Pix))), columns: C.int32_t(s.Means.Width),
	}
	for i, h := range s.Hypotheses {
		c.motion[i], c.weight[i], c.seen[i] = vec(h.Motion.Pix), words(h.Weight), C.uint8_t(h.Seen)
		c.stride[i] = C.int32_t(h.Motion.Stride)
		if h.Bends {
			c.bends[i] = 1
		}
	}
	for i := range planes {
		p := &planes[i]
		q := &c.plane[i]
		q.dst = unsafe.Pointer(unsafe.SliceData(p.Dst.Pix))
		q.width, q.height, q.stride = C.int32_t(p.Dst.Width), C.int32_t(p.Dst.Height), C.int32_t(p.Dst.Stride)
		q.mask, q.mask_stride = (*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(p.Mask.Pix))), C.int32_t(p.Mask.Stride)
		q.sx, q.sy, q.coefficient_stride = C.int32_t(p.SX), C.int32_t(p.SY), C.int32_t(p.Coefficients[0].Stride)
		for j := range 2 {
			q.samples[j] = unsafe.Pointer(unsafe.SliceData(p.Samples[j].Pix))
			q.sample_stride[j] = C.int32_t(p.Samples[j].Stride)
			q.coefficients[j] = (*C.float)(unsafe.Pointer(unsafe.SliceData(p.Coefficients[j].Pix)))
		}
	}
	var sample T
	if unsafe.Sizeof(sample) == 1 {
		C.call_render8(k.k, c, C.int(y0), C.int(y1))
	} else {
		C.call_render16(k.k, c, C.int(y0), C.int(y1))
	}
}
