package bspline

import (
	"retime/frame"
	"retime/frame/simd"
)

// loopTable holds the inner loops for float32 that have variants for vector instructions.
type loopTable struct {
	// causal and anticausal run over every subregion; samples from end on do not change.
	causal     func(t *tile[float32], z float32)
	anticausal func(t *tile[float32], z float32, end int)
	// startCausal computes the output before every subregion but the first from n samples, and
	// startAnticausal the output after each of the first count subregions.
	startCausal     func(t *tile[float32], z float32, n int)
	startAnticausal func(t *tile[float32], z float32, n, count int)
	// move copies n rows of as many elements as a tile has lanes.
	move         func(dst []float32, dstStride int, src []float32, srcStride, n int)
	transposeIn  func(d []float32, img frame.Image[float32], y, x0, x1 int)
	transposeOut func(d []float32, img frame.Image[float32], y, x0, x1 int)
	// across sets each of sums to the weighted sum of n coefficients of row, starting with the
	// element that first names. down sets out to the weighted sums of the rows of sums, which form
	// a ring that starts with row first.
	across func(sums, row []float32, first []int, weights []float32, n int)
	down   func(out []float32, sums frame.Image[float32], first int, weights []float32)
}

// portable holds the functions that define the loops.
var portable = loopTable{
	everyCausal[float32], everyAnticausal[float32],
	startCausal[float32], startAnticausal[float32],
	moveRows[float32], transposeIn[float32], transposeOut[float32],
	across[float32], down[float32],
}

// loops are the loops in use.
var loops = variant(simd.Chosen())

func everyCausal[T Float](t *tile[T], z T) {
	for r := range t.carry {
		causal(t.samples(r*Region, t.end(r)), z, &t.carry[r])
	}
}

func everyAnticausal[T Float](t *tile[T], z T, end int) {
	for r := range t.carry {
		anticausal(t.samples(r*Region, min(t.end(r), end)), z, &t.carry[r])
	}
}

func startCausal[T Float](t *tile[T], z T, n int) {
	for r := 1; r < len(t.carry); r++ {
		t.carry[r] = [lanes]T{}
		follow(t.samples(r*Region-n, r*Region), z, &t.carry[r])
	}
}

func startAnticausal[T Float](t *tile[T], z T, n, count int) {
	for r := range count {
		t.carry[r] = [lanes]T{}
		followBack(t.samples(t.end(r), t.end(r)+n), z, &t.carry[r])
	}
}
