// The loops for one type of coefficients: T, and its vectors V and the vectors I of integers.

#define V NAME(V)
#define I NAME(I)
#define K(number) ((T)(number))

enum { NAME(lanes) = vector_bytes / sizeof(T) };
#define lanes NAME(lanes)

// The same as batch in batch.go.
typedef struct {
	int64_t at[batch_size];
	T u[3][batch_size];
} NAME(batch);

static inline V NAME(load)(const T *p) {
	V v;
	memcpy(&v, p, sizeof v);
	return v;
}
#define load NAME(load)

// store writes the first n lanes.
static inline void NAME(store)(T *p, V v, int64_t n) {
	if (n >= lanes) {
		memcpy(p, &v, sizeof v);
		return;
	}
	for (int64_t j = 0; j < n; j++) p[j] = v[j];
}
#define store NAME(store)

// row2 to row4 set v[k] to the coefficient k after the one at c + at[j], in each lane j. row3 also
// sets v[3]: arrays extend beyond what an element reads.
static inline __attribute__((always_inline)) void NAME(row2)(V *v, const T *c, const int64_t *at) {
	const T *p[most_lanes];
	for (int j = 0; j < lanes; j++) p[j] = c + at[j];
	NAME(two)(v, p);
}
static inline __attribute__((always_inline)) void NAME(row4)(V *v, const T *c, const int64_t *at) {
	const T *p[most_lanes];
	for (int j = 0; j < lanes; j++) p[j] = c + at[j];
	NAME(four)(v, p);
}

#define ROW2(v, from) NAME(row2)(v, c + (from), at)
#define ROW3(v, from) NAME(row4)(v, c + (from), at)
#define ROW4(v, from) NAME(row4)(v, c + (from), at)

// turns2 and turns3 set turn[k] to the row of the turn's matrix, and in 2 or 3 the shift, by which
// coordinate k follows from u; s[k] to the steps along the turned axes; and p to the index of the
// coefficient that sites are relative to. A table's entry holds the matrix by rows, the shift and
// the class; values holds the rows as numbers.
static inline __attribute__((always_inline)) void NAME(turns2)(V (*turn)[4], int64_t (*s)[most_lanes], int64_t *p, I index,
	const int64_t *at, const boxspline_layout *g, const int8_t (*table)[7], const T (*values)[2][4]) {
	for (int k = 0; k < 2; k++) {
		const T *q[most_lanes];
		for (int j = 0; j < lanes; j++) q[j] = values[index[j]][k];
		NAME(four)(turn[k], q);
	}
	for (int j = 0; j < lanes; j++) {
		const int8_t *e = table[index[j]];
		for (int k = 0; k < 2; k++) s[k][j] = e[2 * k] + e[2 * k + 1] * g->stride;
		p[j] = at[j] - e[4] * s[0][j] - e[5] * s[1][j];
	}
}

static inline __attribute__((always_inline)) void NAME(turns3)(V (*turn)[4], int64_t (*s)[most_lanes], int64_t *p, I index,
	const int64_t *at, const boxspline_layout *g, const int8_t (*table)[13], const T (*values)[3][4]) {
	for (int k = 0; k < 3; k++) {
		const T *q[most_lanes];
		for (int j = 0; j < lanes; j++) q[j] = values[index[j]][k];
		NAME(four)(turn[k], q);
	}
	for (int j = 0; j < lanes; j++) {
		const int8_t *e = table[index[j]];
		for (int k = 0; k < 3; k++) s[k][j] = e[3 * k] + e[3 * k + 1] * g->stride + e[3 * k + 2] * g->slice;
		p[j] = at[j] - e[9] * s[0][j] - e[10] * s[1][j] - e[11] * s[2][j];
	}
}

// GATHER returns the coefficients at c + where; where is an expression in the lane j.
#define GATHER(where) \
	({ \
		V v; \
		for (int j = 0; j < lanes; j++) v[j] = c[where]; \
		v; \
	})

// A part evaluates an element at the n places of a batch in the array c, and stores the values in
// dst or adds them to it.
typedef void NAME(part)(const T *c, const boxspline_layout *g, const NAME(batch) *b, T *dst, int64_t n);
#define PART(name) static void NAME(name)(const T *c, const boxspline_layout *g, const NAME(batch) *b, T *dst, int64_t n)

#include "elements.h"

// place sets n places in an array, n a multiple of most_lanes. Callers pass constants for dim and
// scaled; if scaled is 0, the array's coordinates equal the lattice's.
static inline __attribute__((always_inline)) void NAME(place)(NAME(batch) *b, const boxspline_layout *g, const double *const *x,
	const double *offset, const double *up, int64_t n, const int dim, const int scaled) {
	const int64_t step[3] = {1, g->stride, g->slice};
	for (int64_t i = 0; i < n; i += doubles) {
		// Indices are integers below 2^52.
		D at = all(g->origin);
		for (int k = 0; k < dim; k++) {
			D y = row(x[k] + i);
			if (scaled) y = (y - offset[k]) * g->scale;
			D m = below(y + up[k]);
			D u = y - m;
			at += k == 0 ? m : m * (double)step[k];
			NAME(store_doubles)(b->u[k] + i, u);
		}
		L index = integers(at);
		memcpy(b->at + i, &index, sizeof index);
	}
}

static void NAME(places)(NAME(batch) *b, const boxspline_layout *g, const double *const *x, const double *offset, const double *up, int64_t n) {
	const int scaled = g->scale != 1 || offset[0] != 0 || offset[1] != 0 || offset[2] != 0;
	if (g->dim == 2 && !scaled) NAME(place)(b, g, x, offset, up, n, 2, 0);
	else if (g->dim == 2) NAME(place)(b, g, x, offset, up, n, 2, 1);
	else if (!scaled) NAME(place)(b, g, x, offset, up, n, 3, 0);
	else NAME(place)(b, g, x, offset, up, n, 3, 1);
}

static int64_t NAME(run)(int64_t element, const T *const *arrays, const boxspline_layout *g, T *dst, const double *const *x, int64_t n) {
	NAME(part) *const part = NAME(elements)[element].part;
	const double *const up = NAME(elements)[element].up;
	if (!part || g->dim != NAME(elements)[element].dim || g->arrays != NAME(elements)[element].arrays) return -1;
	NAME(batch) b;
	for (int64_t i = 0; i < n; i += batch_size) {
		const int64_t m = n - i < batch_size ? n - i : batch_size;
		const int64_t whole = (m + most_lanes - 1) / most_lanes * most_lanes;
		const double *at[3];
		double copy[3][batch_size];
		for (int64_t k = 0; k < g->dim; k++) {
			at[k] = whole > m ? padded(copy[k], x[k] + i, m) : x[k] + i;
			if (!inside(at[k], g->limit[k], whole)) return i;
		}
		if (g->along) {
			for (int64_t j = 0; j < whole; j++) {
				const double v = at[0][j], w = at[1][j];
				copy[0][j] = v + w;
				copy[1][j] = w - v;
			}
			at[0] = copy[0];
			at[1] = copy[1];
		}
		if (g->arrays == 1) {
			NAME(places)(&b, g, at, g->offsets[0], up, whole);
			part(arrays[0], g, &b, dst + i, m);
			continue;
		}
		// Whole vectors, because parts read what they add to.
		T sums[batch_size] = {0};
		for (int64_t a = 0; a < g->arrays; a++) {
			NAME(places)(&b, g, at, g->offsets[a], up, whole);
			part(arrays[a], g, &b, sums, whole);
		}
		memcpy(dst + i, sums, m * sizeof(T));
	}
	return n;
}

#undef V
#undef I
#undef K
#undef lanes
#undef load
#undef store
#undef ROW2
#undef ROW3
#undef ROW4
#undef GATHER
#undef PART
