// The loops, for the widest vectors that the including file's instructions have.

#include <string.h>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "native.h"

// -std=c11 keeps GCC from fusing products and sums; Clang needs this pragma.
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif

#if defined(__AVX2__)
enum { vector_bytes = 32 };
#else
enum { vector_bytes = 16 };
#endif

enum { batch_size = 64, most_lanes = 8 };

typedef float f32x4 __attribute__((vector_size(16)));
typedef double f64x2 __attribute__((vector_size(16)));

static inline f32x4 row4(const float *p) {
	f32x4 v;
	memcpy(&v, p, sizeof v);
	return v;
}
static inline f64x2 row2(const double *p) {
	f64x2 v;
	memcpy(&v, p, sizeof v);
	return v;
}
// row22 returns p[0], p[1], q[0], q[1].
static inline f32x4 row22(const float *p, const float *q) {
	double a, b;
	memcpy(&a, p, sizeof a);
	memcpy(&b, q, sizeof b);
	return (f32x4)(f64x2){a, b};
}

// D and L hold as many doubles and integers as fit into a vector.
typedef double D __attribute__((vector_size(vector_bytes)));
typedef int64_t L __attribute__((vector_size(vector_bytes)));
typedef float H __attribute__((vector_size(vector_bytes / 2)));
enum { doubles = vector_bytes / sizeof(double) };

static inline D all(double v) { return (D){0} + v; }
static inline D row(const double *p) {
	D v;
	memcpy(&v, p, sizeof v);
	return v;
}
// below returns v rounded down, for absolute values below 2^51. v must not be -0.
static inline D below(D v) {
#if defined(__AVX2__)
	return _mm256_floor_pd(v);
#else
	const double large = 0x1.8p52;
	D m = (v + large) - large;
	return m - (D)((L)(m > v) & (L)all(1));
#endif
}
// integers converts whole numbers from 0 to 2^52 to integers.
static inline L integers(D v) { return (L)(v + 0x1p52) - (L)all(0x1p52); }

static inline void store_doubles_f32(float *p, D v) {
	H w = __builtin_convertvector(v, H);
	memcpy(p, &w, sizeof w);
}
static inline void store_doubles_f64(double *p, D v) { memcpy(p, &v, sizeof v); }

// inside reports whether n positions are all from 0 to limit.
static int inside(const double *x, double limit, int64_t n) {
	L in = ~(L){0};
	for (int64_t i = 0; i < n; i += doubles) in &= (row(x + i) >= 0) & (row(x + i) <= limit);
	int64_t all = -1;
	for (int j = 0; j < doubles; j++) all &= in[j];
	return all != 0;
}

// padded copies n positions and repeats the last one to fill whole vectors.
static const double *padded(double *copy, const double *x, int64_t n) {
	memcpy(copy, x, n * sizeof *x);
	for (int64_t i = n; i % most_lanes; i++) copy[i] = x[n - 1];
	return copy;
}

#define T float
#define NAME(name) name##_f32
typedef float V_f32 __attribute__((vector_size(vector_bytes)));
typedef int32_t I_f32 __attribute__((vector_size(vector_bytes)));

// two sets v[k] to element k of the rows at p, one row for each lane; four does the same for rows
// of four.
#if defined(__AVX2__)
static inline void two_f32(V_f32 *v, const float *const *p) {
	__m256 a = _mm256_insertf128_ps(_mm256_castps128_ps256((__m128)row22(p[0], p[1])), (__m128)row22(p[4], p[5]), 1);
	__m256 b = _mm256_insertf128_ps(_mm256_castps128_ps256((__m128)row22(p[2], p[3])), (__m128)row22(p[6], p[7]), 1);
	v[0] = (V_f32)_mm256_shuffle_ps(a, b, 0x88);
	v[1] = (V_f32)_mm256_shuffle_ps(a, b, 0xdd);
}
static inline __m256 rows44(const float *p, const float *q) {
	return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p)), _mm_loadu_ps(q), 1);
}
static inline void four_f32(V_f32 *v, const float *const *p) {
	__m256 a = rows44(p[0], p[4]), b = rows44(p[1], p[5]), c = rows44(p[2], p[6]), d = rows44(p[3], p[7]);
	__m256d ab = (__m256d)_mm256_unpacklo_ps(a, b), cd = (__m256d)_mm256_unpacklo_ps(c, d);
	__m256d ef = (__m256d)_mm256_unpackhi_ps(a, b), gh = (__m256d)_mm256_unpackhi_ps(c, d);
	v[0] = (V_f32)_mm256_unpacklo_pd(ab, cd);
	v[1] = (V_f32)_mm256_unpackhi_pd(ab, cd);
	v[2] = (V_f32)_mm256_unpacklo_pd(ef, gh);
	v[3] = (V_f32)_mm256_unpackhi_pd(ef, gh);
}
#else
static inline void two_f32(V_f32 *v, const float *const *p) {
	f32x4 a = row22(p[0], p[1]), b = row22(p[2], p[3]);
	v[0] = __builtin_shufflevector(a, b, 0, 2, 4, 6);
	v[1] = __builtin_shufflevector(a, b, 1, 3, 5, 7);
}
static inline void four_f32(V_f32 *v, const float *const *p) {
	f32x4 a = row4(p[0]), b = row4(p[1]), c = row4(p[2]), d = row4(p[3]);
	f32x4 ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
	f32x4 ef = __builtin_shufflevector(a, b, 2, 6, 3, 7), gh = __builtin_shufflevector(c, d, 2, 6, 3, 7);
	v[0] = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
	v[1] = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
	v[2] = __builtin_shufflevector(ef, gh, 0, 1, 4, 5);
	v[3] = __builtin_shufflevector(ef, gh, 2, 3, 6, 7);
}
#endif

#include "run.h"
#undef T
#undef NAME

#define T double
#define NAME(name) name##_f64
typedef double V_f64 __attribute__((vector_size(vector_bytes)));
typedef int64_t I_f64 __attribute__((vector_size(vector_bytes)));

#if defined(__AVX2__)
static inline __m256d rows22(const double *p, const double *q) {
	return _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(p)), _mm_loadu_pd(q), 1);
}
static inline void two_f64(V_f64 *v, const double *const *p) {
	__m256d a = rows22(p[0], p[2]), b = rows22(p[1], p[3]);
	v[0] = (V_f64)_mm256_unpacklo_pd(a, b);
	v[1] = (V_f64)_mm256_unpackhi_pd(a, b);
}
#else
static inline void two_f64(V_f64 *v, const double *const *p) {
	f64x2 a = row2(p[0]), b = row2(p[1]);
	v[0] = __builtin_shufflevector(a, b, 0, 2);
	v[1] = __builtin_shufflevector(a, b, 1, 3);
}
#endif
static inline void four_f64(V_f64 *v, const double *const *p) {
	const double *q[most_lanes];
	for (int j = 0; j < (int)(vector_bytes / sizeof(double)); j++) q[j] = p[j] + 2;
	two_f64(v, p);
	two_f64(v + 2, q);
}

#include "run.h"

#define LOOPS {run_f32, run_f64}
