//go:build cgo && (amd64 || arm64)

package dis

/*
#cgo CFLAGS: -std=c11 -O3 -Wall -Wextra
#cgo noescape dis_first
#cgo noescape dis_propagate
#cgo noescape dis_densify
#cgo noescape dis_settle
#cgo noescape dis_settle_halved
#cgo nocallback dis_first
#cgo nocallback dis_propagate
#cgo nocallback dis_densify
#cgo nocallback dis_settle
#cgo nocallback dis_settle_halved
#include "native.h"

static void dis_first(const dis_kernels *k, const dis_search *s, const uint8_t *a, const uint8_t *b, dis_best *dst,
	int row, const dis_vector *coarse, int width, int height, int reach) {
	k->first(s, a, b, dst, row, coarse, width, height, reach);
}

static void dis_propagate(const dis_kernels *k, const dis_search *s, const uint8_t *a, const uint8_t *b, dis_best *dst,
	int row, const dis_best *own, const dis_best *other) {
	k->propagate(s, a, b, dst, row, own, other);
}

static void dis_densify(const dis_kernels *k, const dis_search *s, const uint8_t *a, const uint8_t *b, dis_vector *dst,
	int row, const dis_best *patches) {
	k->densify(s, a, b, dst, row, patches);
}

static void dis_settle(const dis_kernels *k, dis_vector *dst, const dis_vector *src, int n, int32_t limit) {
	k->settle(dst, src, n, limit);
}

static void dis_settle_halved(const dis_kernels *k, dis_vector *dst, const dis_vector *upper, const dis_vector *lower,
	int n, int32_t limit) {
	k->settle_halved(dst, upper, lower, n, limit);
}
*/
import "C"

import (
	"unsafe"

	"retime/flow"
)

// Go and C share this memory, so the layouts must match.
var (
	_ [C.sizeof_dis_best]struct{}   = [unsafe.Sizeof(best{})]struct{}{}
	_ [C.sizeof_dis_vector]struct{} = [unsafe.Sizeof(vector{})]struct{}{}
	_ [C.sizeof_dis_vector]struct{} = [unsafe.Sizeof(flow.Vec{})]struct{}{}
)

// native returns the kernels of k.
func native(k *C.dis_kernels) kernels {
	return kernels{
		first: func(s *search, dst []best, row int, coarser *level, coarse []vector, reach bool) {
			n := s.native()
			var width, height, seek C.int
			if coarser != nil {
				width, height = C.int(coarser.width), C.int(coarser.height)
			}
			if reach {
				seek = 1
			}
			C.dis_first(k, &n, s.sample(s.a), s.sample(s.b), bests(dst), C.int(row), vectors(coarse), width, height, seek)
		},
		propagate: func(s *search, dst []best, row int, own, other []best) {
			n := s.native()
			C.dis_propagate(k, &n, s.sample(s.a), s.sample(s.b), bests(dst), C.int(row), bests(own), bests(other))
		},
		densify: func(s *search, dst []vector, row int, patches []best) {
			if s.level.stride != cellSize {
				s.densify(dst, row, patches)
				return
			}
			n := s.native()
			C.dis_densify(k, &n, s.sample(s.a), s.sample(s.b), vectors(dst), C.int(row), bests(patches))
		},
		settle: func(dst []flow.Vec, src []vector, limit int32) {
			C.dis_settle(k, vectors(dst), vectors(src[:len(dst)]), C.int(len(dst)), C.int32_t(limit))
		},
		settleHalved: func(dst []flow.Vec, upper, lower []vector, limit int32) {
			_ = dst[(len(upper)-1)/2]
			C.dis_settle_halved(k, vectors(dst), vectors(upper), vectors(lower[:len(upper)]), C.int(len(upper)), C.int32_t(limit))
		},
	}
}

func (s *search) native() C.dis_search {
	l, o := s.level, s.options
	n := C.dis_search{
		width: C.int32_t(l.width), height: C.int32_t(l.height), pitch: C.int32_t(l.pitch),
		columns: C.int32_t(l.columns), rows: C.int32_t(l.rows), stride: C.int32_t(l.stride),
		candidates: C.int32_t(o.Candidates), distance: C.int32_t(o.CandidateDistance), reach: C.int32_t(o.Reach),
		neighbours: C.int32_t(o.Neighbours), iterations: C.int32_t(o.Iterations),
	}
	if o.MeanNormalization {
		n.normalize = 1
	}
	return n
}

// sample returns the address of sample (0, 0) of the level.
func (s *search) sample(pyramid []uint8) *C.uint8_t {
	return (*C.uint8_t)(&pyramid[s.level.origin])
}

func bests(s []best) *C.dis_best { return (*C.dis_best)(unsafe.Pointer(unsafe.SliceData(s))) }

func vectors[V vector | flow.Vec](s []V) *C.dis_vector {
	return (*C.dis_vector)(unsafe.Pointer(unsafe.SliceData(s)))
}
