package bspline

import (
	"retime/frame"
	"retime/frame/simd"
)

// loopTable is the inner loops for float32 that have variants for vector instructions.
type loopTable struct {
	// causal and anticausal run over every subregion; samples from end on stay.
	causal       func(t *tile[float32, float32], z float32)
	anticausal   func(t *tile[float32, float32], z float32, end int)
	transposeIn  func(d []float32, img frame.Image[float32], y, x0, x1 int)
	transposeOut func(d []float32, img frame.Image[float32], y, x0, x1 int)
}

// portable are the functions that define the loops.
var portable = loopTable{
	everyCausal[float32, float32], everyAnticausal[float32, float32], transposeIn[float32], transposeOut[float32],
}

// loops are those in use.
var loops = variant(simd.Chosen())

func everyCausal[S, C Float](t *tile[S, C], z C) {
	for r := range t.carry {
		causal(t.samples(r*Region, t.end(r)), z, &t.carry[r])
	}
}

func everyAnticausal[S, C Float](t *tile[S, C], z C, end int) {
	for r := range t.carry {
		anticausal(t.samples(r*Region, min(t.end(r), end)), z, &t.carry[r])
	}
}
