#pragma once

// Vectors as wide as the including file's instructions have, by GCC's and Clang's own
// operators, and what those lack.

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

// Wider vectors stand for four floats or integers on any processor.
typedef float f32x4 __attribute__((vector_size(16)));
typedef int32_t i32x4 __attribute__((vector_size(16)));

#if defined(__AVX2__)
enum { lanes = 8 };
typedef int32_t ints __attribute__((vector_size(32)));
typedef uint32_t uints __attribute__((vector_size(32)));
typedef float vectors __attribute__((vector_size(32)));
typedef uint16_t words __attribute__((vector_size(16)));
#else
enum { lanes = 4 };
typedef int32_t ints __attribute__((vector_size(16)));
typedef uint32_t uints __attribute__((vector_size(16)));
typedef float vectors __attribute__((vector_size(16)));
typedef uint16_t words __attribute__((vector_size(8)));
#endif

static inline ints all(int32_t v) { return (ints){0} + v; }
static inline ints load(const int32_t *p) {
	ints v;
	memcpy(&v, p, sizeof v);
	return v;
}
static inline ints choose(ints mask, ints a, ints b) { return (a & mask) | (b & ~mask); }

// load_words, store_words convert from and to 16 bits.
static inline ints load_words(const uint16_t *p) {
	words v;
	memcpy(&v, p, sizeof v);
	return __builtin_convertvector(v, ints);
}
static inline void store_words(uint16_t *p, ints v) {
	words w = __builtin_convertvector(v, words);
	memcpy(p, &w, sizeof w);
}

#if defined(__AVX2__)
static inline ints lesser(ints a, ints b) { return (ints)_mm256_min_epi32((__m256i)a, (__m256i)b); }
static inline ints greater(ints a, ints b) { return (ints)_mm256_max_epi32((__m256i)a, (__m256i)b); }
// any reports whether a lane of a mask is set; bits returns a bit for each lane.
static inline int any(ints mask) { return !_mm256_testz_si256((__m256i)mask, (__m256i)mask); }
static inline unsigned bits(ints mask) { return (unsigned)_mm256_movemask_ps((__m256)mask); }
// dot returns the sum of the two 16-bit products in each lane.
static inline ints dot(ints a, ints b) { return (ints)_mm256_madd_epi16((__m256i)a, (__m256i)b); }
// widen_pairs returns lanes pairs of bytes as pairs of 16-bit numbers.
static inline ints widen_pairs(words v) { return (ints)_mm256_cvtepu8_epi16((__m128i)v); }
// load_bytes returns consecutive bytes; load_pairs returns each of them beside the next one, as
// pairs of 16-bit numbers.
static inline ints load_bytes(const uint8_t *p) { return (ints)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p)); }
static inline ints load_pairs(const uint8_t *p) {
	return (ints)_mm256_cvtepu8_epi16(_mm_unpacklo_epi8(_mm_loadl_epi64((const __m128i *)p), _mm_loadl_epi64((const __m128i *)(p + 1))));
}
// components returns the horizontal and vertical components of consecutive vectors.
static inline void components(const int32_t *p, ints *x, ints *y) {
	ints a = load(p), b = load(p + lanes);
	__m256i lo = (__m256i)_mm256_shuffle_ps((__m256)a, (__m256)b, 0x88), hi = (__m256i)_mm256_shuffle_ps((__m256)a, (__m256)b, 0xdd);
	*x = (ints)_mm256_permute4x64_epi64(lo, 0xd8);
	*y = (ints)_mm256_permute4x64_epi64(hi, 0xd8);
}
#else
static inline ints lesser(ints a, ints b) { return choose(a < b, a, b); }
static inline ints greater(ints a, ints b) { return choose(a > b, a, b); }
static inline void components(const int32_t *p, ints *x, ints *y) {
	ints a = load(p), b = load(p + lanes);
	*x = __builtin_shufflevector(a, b, 0, 2, 4, 6);
	*y = __builtin_shufflevector(a, b, 1, 3, 5, 7);
}
#if defined(__SSE2__)
static inline unsigned bits(ints mask) { return (unsigned)_mm_movemask_ps((__m128)mask); }
static inline int any(ints mask) { return bits(mask) != 0; }
static inline ints dot(ints a, ints b) { return (ints)_mm_madd_epi16((__m128i)a, (__m128i)b); }
static inline ints widen_pairs(words v) {
	__m128i pairs;
	pairs = _mm_loadl_epi64((const __m128i *)&v);
	return (ints)_mm_unpacklo_epi8(pairs, _mm_setzero_si128());
}
static inline __m128i four_bytes(const uint8_t *p) {
	int32_t v;
	memcpy(&v, p, sizeof v);
	return _mm_cvtsi32_si128(v);
}
static inline ints load_bytes(const uint8_t *p) {
	__m128i zero = _mm_setzero_si128();
	return (ints)_mm_unpacklo_epi16(_mm_unpacklo_epi8(four_bytes(p), zero), zero);
}
static inline ints load_pairs(const uint8_t *p) {
	return (ints)_mm_unpacklo_epi8(_mm_unpacklo_epi8(four_bytes(p), four_bytes(p + 1)), _mm_setzero_si128());
}
#elif defined(__aarch64__)
static inline unsigned bits(ints mask) {
	return vaddvq_u32(vandq_u32((uint32x4_t)mask, (uint32x4_t){1, 2, 4, 8}));
}
static inline int any(ints mask) { return vmaxvq_u32((uint32x4_t)mask) != 0; }
static inline ints dot(ints a, ints b) {
	int16x8_t x = (int16x8_t)a, y = (int16x8_t)b;
	return (ints)vpaddq_s32(vmull_s16(vget_low_s16(x), vget_low_s16(y)), vmull_high_s16(x, y));
}
static inline ints widen_pairs(words v) { return (ints)vmovl_u8((uint8x8_t)v); }
static inline uint8x8_t four_bytes(const uint8_t *p) {
	uint32_t v;
	memcpy(&v, p, sizeof v);
	return vcreate_u8(v);
}
static inline ints load_bytes(const uint8_t *p) { return (ints)vmovl_u16(vget_low_u16(vmovl_u8(four_bytes(p)))); }
static inline ints load_pairs(const uint8_t *p) { return (ints)vmovl_u8(vzip1_u8(four_bytes(p), four_bytes(p + 1))); }
#endif
#endif

static inline ints magnitude(ints v) { return greater(v, -v); }

static inline f32x4 load4(const float *p) {
	f32x4 v;
	memcpy(&v, p, sizeof v);
	return v;
}
// bounded returns v, which is a number, within 0 and limit.
static inline f32x4 bounded(f32x4 v, float limit) {
	f32x4 zero = {0}, most = zero + limit;
#if defined(__SSE2__)
	return (f32x4)_mm_min_ps(_mm_max_ps((__m128)v, (__m128)zero), (__m128)most);
#else
	i32x4 below;
	v = (f32x4)((i32x4)v & (v > zero));
	below = v < most;
	return (f32x4)(((i32x4)v & below) | ((i32x4)most & ~below));
#endif
}
static inline f32x4 all4(float v) { return (f32x4){v, v, v, v}; }
// pairs returns p[0], p[1], q[0], q[1].
static inline f32x4 pairs(const float *p, const float *q) {
	double a, b;
	memcpy(&a, p, 8);
	memcpy(&b, q, 8);
	typedef double f64x2 __attribute__((vector_size(16)));
	return (f32x4)(f64x2){a, b};
}
