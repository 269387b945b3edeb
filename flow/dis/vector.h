#pragma once

// Vectors of 128 bits: GCC's and Clang's own operators, and what they lack.

#include <stdint.h>
#include <string.h>

typedef int16_t i16x8 __attribute__((vector_size(16)));
typedef int32_t i32x4 __attribute__((vector_size(16)));
typedef float f32x4 __attribute__((vector_size(16)));

#if defined(__SSE2__)
#include <emmintrin.h>

// widen returns 8 bytes as 16-bit numbers.
static inline i16x8 widen(const uint8_t *p) {
	return (i16x8)_mm_unpacklo_epi8(_mm_loadl_epi64((const __m128i *)p), _mm_setzero_si128());
}

// widen44 returns 4 bytes from each of p and q as 16-bit numbers.
static inline i16x8 widen44(const uint8_t *p, const uint8_t *q) {
	int32_t lo, hi;
	memcpy(&lo, p, 4);
	memcpy(&hi, q, 4);
	__m128i both = _mm_unpacklo_epi32(_mm_cvtsi32_si128(lo), _mm_cvtsi32_si128(hi));
	return (i16x8)_mm_unpacklo_epi8(both, _mm_setzero_si128());
}

// dot returns a[0]b[0] + a[1]b[1], a[2]b[2] + a[3]b[3], and so on.
static inline i32x4 dot(i16x8 a, i16x8 b) { return (i32x4)_mm_madd_epi16((__m128i)a, (__m128i)b); }

// narrow returns 32-bit numbers that fit into 16 bits.
static inline i16x8 narrow(i32x4 lo, i32x4 hi) { return (i16x8)_mm_packs_epi32((__m128i)lo, (__m128i)hi); }

// low and high interleave the lower and the upper halves of a and b.
static inline i16x8 low(i16x8 a, i16x8 b) { return (i16x8)_mm_unpacklo_epi16((__m128i)a, (__m128i)b); }
static inline i16x8 high(i16x8 a, i16x8 b) { return (i16x8)_mm_unpackhi_epi16((__m128i)a, (__m128i)b); }

// middle returns the upper half of a and the lower half of b.
static inline i16x8 middle(i16x8 a, i16x8 b) {
	return (i16x8)_mm_shuffle_pd((__m128d)a, (__m128d)b, 1);
}

static inline i16x8 greater(i16x8 a, i16x8 b) { return (i16x8)_mm_max_epi16((__m128i)a, (__m128i)b); }

// floats4 converts to floats; nearest rounds to the nearest integer, ties to even.
static inline f32x4 floats4(i32x4 v) { return (f32x4)_mm_cvtepi32_ps((__m128i)v); }
static inline i32x4 nearest(f32x4 v) { return (i32x4)_mm_cvtps_epi32((__m128)v); }
static inline int32_t nearest1(float v) { return _mm_cvtss_si32(_mm_set_ss(v)); }

// scaled returns the floats nearest to factor*v + w, which must be below 2^53.
static inline f32x4 scaled(i32x4 v, double factor, i32x4 w) {
	__m128d f = _mm_set1_pd(factor);
	__m128i vh = _mm_unpackhi_epi64((__m128i)v, (__m128i)v), wh = _mm_unpackhi_epi64((__m128i)w, (__m128i)w);
	__m128d lo = _mm_add_pd(_mm_mul_pd(_mm_cvtepi32_pd((__m128i)v), f), _mm_cvtepi32_pd((__m128i)w));
	__m128d hi = _mm_add_pd(_mm_mul_pd(_mm_cvtepi32_pd(vh), f), _mm_cvtepi32_pd(wh));
	return (f32x4)_mm_movelh_ps(_mm_cvtpd_ps(lo), _mm_cvtpd_ps(hi));
}

// pairs stores x[0], y[0], x[1], y[1] and so on.
static inline void pairs(int32_t *dst, i32x4 x, i32x4 y) {
	_mm_storeu_si128((__m128i *)dst, _mm_unpacklo_epi32((__m128i)x, (__m128i)y));
	_mm_storeu_si128((__m128i *)(dst + 4), _mm_unpackhi_epi32((__m128i)x, (__m128i)y));
}

static inline int32_t sum(i32x4 v) {
	__m128i n = (__m128i)v;
	n = _mm_add_epi32(n, _mm_unpackhi_epi64(n, n));
	return _mm_cvtsi128_si32(_mm_add_epi32(n, _mm_shuffle_epi32(n, 1)));
}

#elif defined(__aarch64__)
#include <arm_neon.h>

static inline i16x8 widen(const uint8_t *p) { return (i16x8)vmovl_u8(vld1_u8(p)); }

static inline i16x8 widen44(const uint8_t *p, const uint8_t *q) {
	uint32_t both[2];
	memcpy(both, p, 4);
	memcpy(both + 1, q, 4);
	return (i16x8)vmovl_u8(vreinterpret_u8_u32(vld1_u32(both)));
}

static inline i32x4 dot(i16x8 a, i16x8 b) {
	int16x8_t x = (int16x8_t)a, y = (int16x8_t)b;
	return (i32x4)vpaddq_s32(vmull_s16(vget_low_s16(x), vget_low_s16(y)), vmull_high_s16(x, y));
}

static inline i16x8 narrow(i32x4 lo, i32x4 hi) {
	return (i16x8)vcombine_s16(vmovn_s32((int32x4_t)lo), vmovn_s32((int32x4_t)hi));
}

static inline i16x8 low(i16x8 a, i16x8 b) { return (i16x8)vzip1q_s16((int16x8_t)a, (int16x8_t)b); }
static inline i16x8 high(i16x8 a, i16x8 b) { return (i16x8)vzip2q_s16((int16x8_t)a, (int16x8_t)b); }
static inline i16x8 middle(i16x8 a, i16x8 b) { return (i16x8)vextq_s16((int16x8_t)a, (int16x8_t)b, 4); }
static inline i16x8 greater(i16x8 a, i16x8 b) { return (i16x8)vmaxq_s16((int16x8_t)a, (int16x8_t)b); }

static inline f32x4 floats4(i32x4 v) { return (f32x4)vcvtq_f32_s32((int32x4_t)v); }
static inline i32x4 nearest(f32x4 v) { return (i32x4)vcvtnq_s32_f32((float32x4_t)v); }
static inline int32_t nearest1(float v) { return vcvtns_s32_f32(v); }

static inline f32x4 scaled(i32x4 v, double factor, i32x4 w) {
	int32x4_t n = (int32x4_t)v, m = (int32x4_t)w;
	float64x2_t lo = vaddq_f64(vmulq_n_f64(vcvtq_f64_s64(vmovl_s32(vget_low_s32(n))), factor),
		vcvtq_f64_s64(vmovl_s32(vget_low_s32(m))));
	float64x2_t hi = vaddq_f64(vmulq_n_f64(vcvtq_f64_s64(vmovl_high_s32(n)), factor), vcvtq_f64_s64(vmovl_high_s32(m)));
	return (f32x4)vcvt_high_f32_f64(vcvt_f32_f64(lo), hi);
}

static inline void pairs(int32_t *dst, i32x4 x, i32x4 y) {
	int32x4x2_t both = {{(int32x4_t)x, (int32x4_t)y}};
	vst2q_s32(dst, both);
}

static inline int32_t sum(i32x4 v) { return vaddvq_s32((int32x4_t)v); }

#endif

static inline i16x8 all16(int v) {
	int16_t w = (int16_t)v;
	return (i16x8){w, w, w, w, w, w, w, w};
}

// both16 returns v and w alternating.
static inline i16x8 both16(int v, int w) {
	int16_t a = (int16_t)v, b = (int16_t)w;
	return (i16x8){a, b, a, b, a, b, a, b};
}

// words and sums are vectors of 16-bit and 32-bit numbers. They hold as many rows of a patch, of 8
// samples each, as fit, or twice as many rows of a 4x4 cell.
#if defined(__AVX2__)
#include <immintrin.h>

enum { rows_at_once = 2 };
typedef int16_t words __attribute__((vector_size(32)));
typedef int32_t sums __attribute__((vector_size(32)));
typedef float floats __attribute__((vector_size(32)));

static inline words widen_rows(const uint8_t *p, int pitch) {
	__m128i both = _mm_unpacklo_epi64(_mm_loadl_epi64((const __m128i *)p), _mm_loadl_epi64((const __m128i *)(p + pitch)));
	return (words)_mm256_cvtepu8_epi16(both);
}

static inline words widen_cell(const uint8_t *p, int pitch) {
	__m128i rows = (__m128i)widen44(p, p + pitch), next = (__m128i)widen44(p + 2 * pitch, p + 3 * pitch);
	return (words)_mm256_inserti128_si256(_mm256_castsi128_si256(rows), next, 1);
}

// one_row_on returns the rows that begin one row after those in a. b follows a.
static inline words one_row_on(words a, words b) { return (words)_mm256_permute2x128_si256((__m256i)a, (__m256i)b, 0x21); }

static inline words all(int v) { return (words)_mm256_set1_epi16((int16_t)v); }
static inline words both(int v, int w) { return (words)_mm256_set1_epi32((uint16_t)v | (int32_t)((uint32_t)w << 16)); }
static inline sums dot_rows(words a, words b) { return (sums)_mm256_madd_epi16((__m256i)a, (__m256i)b); }
static inline words low_rows(words a, words b) { return (words)_mm256_unpacklo_epi16((__m256i)a, (__m256i)b); }
static inline words high_rows(words a, words b) { return (words)_mm256_unpackhi_epi16((__m256i)a, (__m256i)b); }
static inline words narrow_rows(sums lo, sums hi) { return (words)_mm256_packs_epi32((__m256i)lo, (__m256i)hi); }
static inline words greater_rows(words a, words b) { return (words)_mm256_max_epi16((__m256i)a, (__m256i)b); }
static inline floats floats_of(sums v) { return (floats)_mm256_cvtepi32_ps((__m256i)v); }
static inline sums nearest_rows(floats v) { return (sums)_mm256_cvtps_epi32((__m256)v); }

static inline int32_t sum_rows(sums v) {
	return sum((i32x4)_mm256_castsi256_si128((__m256i)v) + (i32x4)_mm256_extracti128_si256((__m256i)v, 1));
}

// fraction holds the weights of neighbouring samples. The column weights are negative, because
// bytes can hold -128 but not 128.
typedef struct {
	__m256i columns;
	words rows, whole;
} fraction;

static inline fraction fraction_of(int fx, int fy) {
	return (fraction){_mm256_set1_epi16((int16_t)((uint8_t)(fx - 128) | (uint8_t)-fx << 8)), all(fy << 9), all(fy >= 64 ? -1 : 0)};
}

// across_rows returns minus the weighted means, times 128, of the samples at p and p+1. It
// reads 16 samples.
static inline words across_rows(const uint8_t *p, int pitch, const fraction *f) {
	const __m256i pairs = _mm256_broadcastsi128_si256(_mm_set_epi8(8, 7, 7, 6, 6, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0));
	__m256i v = _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)p)), _mm_loadu_si128((const __m128i *)(p + pitch)), 1);
	return (words)_mm256_maddubs_epi16(_mm256_shuffle_epi8(v, pairs), f->columns);
}

// travelled returns v times the fraction of a row, rounded down.
static inline words travelled(words v, const fraction *f) {
	return (words)_mm256_mulhi_epi16((__m256i)v, (__m256i)f->rows) + (v & f->whole);
}

// cell_rows sets upper to the means of a cell's rows, and lower to those of the rows one below.
enum { cell_groups = 1 };
static inline void cell_rows(words upper[cell_groups], words lower[cell_groups], const uint8_t *p, int pitch, const fraction *f) {
	const __m256i pairs = _mm256_broadcastsi128_si256(_mm_set_epi8(12, 11, 11, 10, 10, 9, 9, 8, 4, 3, 3, 2, 2, 1, 1, 0));
	__m128i r[5];
	for (int j = 0; j < 5; j++)
		r[j] = _mm_loadl_epi64((const __m128i *)(p + j * (int64_t)pitch));
	__m128i r12 = _mm_unpacklo_epi64(r[1], r[2]);
	__m256i u = _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_unpacklo_epi64(r[0], r[1])), _mm_unpacklo_epi64(r[2], r[3]), 1);
	__m256i v = _mm256_inserti128_si256(_mm256_castsi128_si256(r12), _mm_unpacklo_epi64(r[3], r[4]), 1);
	upper[0] = (words)_mm256_maddubs_epi16(_mm256_shuffle_epi8(u, pairs), f->columns);
	lower[0] = (words)_mm256_maddubs_epi16(_mm256_shuffle_epi8(v, pairs), f->columns);
}

// scaled_rows returns the floats nearest to factor*v + w, which must be below 2^53.
static inline floats scaled_rows(sums v, double factor, sums w) {
	__m256d f = _mm256_set1_pd(factor);
	__m256d lo = _mm256_add_pd(_mm256_mul_pd(_mm256_cvtepi32_pd(_mm256_castsi256_si128((__m256i)v)), f),
		_mm256_cvtepi32_pd(_mm256_castsi256_si128((__m256i)w)));
	__m256d hi = _mm256_add_pd(_mm256_mul_pd(_mm256_cvtepi32_pd(_mm256_extracti128_si256((__m256i)v, 1)), f),
		_mm256_cvtepi32_pd(_mm256_extracti128_si256((__m256i)w, 1)));
	return (floats)_mm256_set_m128(_mm256_cvtpd_ps(hi), _mm256_cvtpd_ps(lo));
}

// store_pairs stores x[0], y[0], x[1], y[1] and so on of one row to dst, and of the row two below.
static inline void store_pairs(int32_t *dst, sums x, sums y) {
	__m256i lo = _mm256_unpacklo_epi32((__m256i)x, (__m256i)y), hi = _mm256_unpackhi_epi32((__m256i)x, (__m256i)y);
	_mm256_storeu_si256((__m256i *)dst, _mm256_permute2x128_si256(lo, hi, 0x20));
	_mm256_storeu_si256((__m256i *)(dst + 16), _mm256_permute2x128_si256(lo, hi, 0x31));
}

#else

enum { rows_at_once = 1 };
typedef i16x8 words;
typedef i32x4 sums;
typedef f32x4 floats;

static inline words widen_rows(const uint8_t *p, int pitch) {
	(void)pitch;
	return widen(p);
}

static inline words widen_cell(const uint8_t *p, int pitch) { return widen44(p, p + pitch); }

static inline words one_row_on(words a, words b) {
	(void)a;
	return b;
}

static inline words all(int v) { return all16(v); }
static inline words both(int v, int w) { return both16(v, w); }
static inline sums dot_rows(words a, words b) { return dot(a, b); }
static inline words low_rows(words a, words b) { return low(a, b); }
static inline words high_rows(words a, words b) { return high(a, b); }
static inline words narrow_rows(sums lo, sums hi) { return narrow(lo, hi); }
static inline words greater_rows(words a, words b) { return greater(a, b); }
static inline floats floats_of(sums v) { return floats4(v); }
static inline sums nearest_rows(floats v) { return nearest(v); }
static inline int32_t sum_rows(sums v) { return sum(v); }

typedef struct {
	words left, right, rows, whole;
} fraction;

static inline fraction fraction_of(int fx, int fy) {
#if defined(__aarch64__)
	return (fraction){all(fx - 128), all(-fx), all(fy << 8), all(0)};
#else
	return (fraction){all(fx - 128), all(-fx), all(fy << 9), all(fy >= 64 ? -1 : 0)};
#endif
}

static inline words across_rows(const uint8_t *p, int pitch, const fraction *f) {
	(void)pitch;
	return widen(p) * f->left + widen(p + 1) * f->right;
}

static inline words travelled(words v, const fraction *f) {
#if defined(__aarch64__)
	return (words)vqdmulhq_s16((int16x8_t)v, (int16x8_t)f->rows);
#else
	return (words)_mm_mulhi_epi16((__m128i)v, (__m128i)f->rows) + (v & f->whole);
#endif
}

enum { cell_groups = 2 };
static inline void cell_rows(words upper[cell_groups], words lower[cell_groups], const uint8_t *p, int pitch, const fraction *f) {
	const uint8_t *r0 = p, *r1 = r0 + pitch, *r2 = r1 + pitch, *r3 = r2 + pitch, *r4 = r3 + pitch;
	words r4s = widen44(r4, r4) * f->left + widen44(r4 + 1, r4 + 1) * f->right;
	upper[0] = widen44(r0, r1) * f->left + widen44(r0 + 1, r1 + 1) * f->right;
	upper[1] = widen44(r2, r3) * f->left + widen44(r2 + 1, r3 + 1) * f->right;
	lower[0] = middle(upper[0], upper[1]);
	lower[1] = middle(upper[1], r4s);
}

static inline floats scaled_rows(sums v, double factor, sums w) { return scaled(v, factor, w); }
static inline void store_pairs(int32_t *dst, sums x, sums y) { pairs(dst, x, y); }

#endif

// between_rows returns the weighted means, times 16 and rounded, of the rows that across_rows or
// cell_rows returned: (128 upper + (lower - upper) fraction + 512)>>10, in 16 bits.
static inline words between_rows(words upper, words lower, const fraction *f) {
	return (travelled(upper - lower, f) + (4 - upper)) >> 3;
}
