// Splats of vectors.

// exact_limit is the largest weight at which every sum of components fits 64 bits.
static const uint64_t exact_limit = (uint64_t)1 << 32;

// extents compares horizontal components, too, and leaves them out at the end.
static void extents(warp_span *cells, const warp_vec *v, int n, int width) {
	enum { pairs = lanes / 2 };
	for (int first = 0; first < n; first += width, cells++) {
		int end = first + width < n ? first + width : n, i = first;
		ints low = all(INT32_MAX), high = all(INT32_MIN);
		for (; i + pairs <= end; i += pairs) {
			ints w = load(&v[i].x);
			low = lesser(low, w);
			high = greater(high, w);
		}
		warp_span s = {INT32_MAX, INT32_MIN};
		for (int k = 1; k < lanes; k += 2) {
			s.from = low[k] < s.from ? low[k] : s.from;
			s.to = high[k] > s.to ? high[k] : s.to;
		}
		for (; i < end; i++) {
			s.from = v[i].y < s.from ? v[i].y : s.from;
			s.to = v[i].y > s.to ? v[i].y : s.to;
		}
		*cells = s;
	}
}

// Narrower vectors gain too little.
#if defined(__AVX2__)
static inline void add_vector(warp_vector_sum *s, int64_t x, int64_t y, uint64_t weight) {
	s->x += x * (int64_t)weight;
	s->y += y * (int64_t)weight;
	s->weight += weight;
}

// add_pixel adds pixel i to the four sums around its landing.
static inline void add_pixel(warp_vector_sum *sums, warp_vec motion, warp_vec vector, uint64_t weight, int i, const warp_flight *f) {
	int64_t px = f->left + ((int64_t)i << 8) + (int32_t)(((int64_t)motion.x * f->phase + 32768) >> 16);
	int64_t py = f->top + (int32_t)(((int64_t)motion.y * f->phase + 32768) >> 16);
	uint64_t column = (uint64_t)(px >> 8), line = (uint64_t)(py >> 8);
	if (column > f->columns || line > f->lines)
		return;
	uint64_t fx = px & 255, fy = py & 255, lower = weight * fy, upper = weight * 256 - lower;
	warp_vector_sum *at = sums + (int64_t)line * f->stride + (int64_t)column, *below = at + f->stride;
	add_vector(at, vector.x, vector.y, upper * 256 - upper * fx);
	add_vector(at + 1, vector.x, vector.y, upper * fx);
	add_vector(below, vector.x, vector.y, lower * 256 - lower * fx);
	add_vector(below + 1, vector.x, vector.y, lower * fx);
}

// add_to adds components and a 1, times a weight below 2^31, to a sum.
static inline void add_to(warp_vector_sum *s, __m256i xy1, uint32_t weight) {
	__m256i v = _mm256_mul_epi32(xy1, _mm256_set1_epi32((int32_t)weight));
	_mm256_storeu_si256((__m256i *)s, _mm256_add_epi64(_mm256_loadu_si256((const __m256i *)s), v));
}

static inline ints at_most(ints v, int32_t most) { return lesser(greater(v, all(-most)), all(most)); }

static void add_vectors(warp_vector_sum *sums, const warp_vec *motion, const warp_vec *vectors, const uint16_t *weights,
	int n, warp_flight f) {
	int i = 0;
	enum { corners = 4, furthest = 1 << 30 };
	for (; i + lanes <= n; i += lanes) {
		ints vx, vy, w = load_words(weights + i);
		components(&motion[i].x, &vx, &vy);
		if (any(w >= 1 << 15)) {
			for (int k = i; k < i + lanes; k++)
				add_pixel(sums, motion[k], vectors[k], weights[k], k, &f);
			continue;
		}
		// What is limited lands outside.
		ints px = ((int32_t)f.left + (i << 8)) + (columns_from(0) << 8) + at_most(toward(vx, f.phase), furthest);
		ints py = (int32_t)f.top + at_most(toward(vy, f.phase), furthest);
		ints column = px >> 8, line = py >> 8, fx = px & 255, fy = py & 255;
		ints ok = (column >= 0) & (column <= (int32_t)f.columns) & (line >= 0) & (line <= (int32_t)f.lines);
		ints index = line * (int32_t)f.stride + column, lower = w * fy, upper = (w << 8) - lower;
		int32_t at[lanes];
		uint32_t weight[corners][lanes];
		ints parts[corners] = {(upper << 8) - upper * fx, upper * fx, (lower << 8) - lower * fx, lower * fx};
		memcpy(at, &index, sizeof at);
		memcpy(weight, parts, sizeof weight);
		unsigned landed = bits(ok & (w > 0)), whole = bits((fx | fy) == 0);
		for (int k = 0; k < lanes; k++) {
			if (!(landed >> k & 1))
				continue;
			__m128i v = _mm_unpacklo_epi64(_mm_loadl_epi64((const __m128i *)&vectors[i + k]), _mm_set_epi32(0, 0, 0, 1));
			__m256i xy1 = _mm256_cvtepi32_epi64(v);
			warp_vector_sum *s = sums + at[k], *below = s + f.stride;
			add_to(s, xy1, weight[0][k]);
			if (whole >> k & 1) // the other weights are 0
				continue;
			add_to(s + 1, xy1, weight[1][k]);
			add_to(below, xy1, weight[2][k]);
			add_to(below + 1, xy1, weight[3][k]);
		}
	}
	for (; i < n; i++)
		add_pixel(sums, motion[i], vectors[i], weights[i], i, &f);
}
#else
#define add_vectors NULL
#endif

// mean_of returns sum/weight to the nearest integer, ties away from zero.
static inline int32_t mean_of(int64_t sum, uint64_t weight) {
	int64_t sign = sum >> 63;
	uint64_t magnitude = ((uint64_t)((sum ^ sign) - sign) + weight / 2) / weight;
	return (int32_t)(((int64_t)magnitude ^ sign) - sign);
}

#if defined(__AVX2__)
// small_double converts numbers below 2^52.
static inline __m256d small_double(__m256i v) {
	const __m256d bits52 = _mm256_set1_pd(0x1p52);
	return _mm256_sub_pd(_mm256_castsi256_pd(_mm256_or_si256(v, _mm256_castpd_si256(bits52))), bits52);
}

// four_means returns the quotients of four sums by their weights, as mean_of does, where they are below 2^51.
static inline __m128i four_means(__m256i sum, __m256i half, __m256d weight, __m256i *large) {
	__m256i sign = _mm256_cmpgt_epi64(_mm256_setzero_si256(), sum);
	__m256i magnitude = _mm256_add_epi64(_mm256_sub_epi64(_mm256_xor_si256(sum, sign), sign), half);
	*large = _mm256_or_si256(*large, magnitude);
	__m128i q = _mm256_cvttpd_epi32(_mm256_div_pd(small_double(magnitude), weight));
	__m128i low = _mm256_castsi256_si128(sign), high = _mm256_extracti128_si256(sign, 1);
	__m128i signs = _mm_castps_si128(_mm_shuffle_ps(_mm_castsi128_ps(low), _mm_castsi128_ps(high), 0x88));
	return _mm_sub_epi32(_mm_xor_si128(q, signs), signs);
}

// store_four does the work of store_vectors for four sums, or reports that it cannot.
static inline int store_four(warp_vec *dst, uint8_t *mask, const warp_vector_sum *s, uint64_t least) {
	const __m256i *from = (const __m256i *)s;
	if (least > exact_limit)
		return 0;
	__m256i a = _mm256_loadu_si256(from), b = _mm256_loadu_si256(from + 1), c = _mm256_loadu_si256(from + 2), d = _mm256_loadu_si256(from + 3);
	__m256i xw0 = _mm256_unpacklo_epi64(a, b), xw1 = _mm256_unpacklo_epi64(c, d);
	__m256i y = _mm256_permute2x128_si256(_mm256_unpackhi_epi64(a, b), _mm256_unpackhi_epi64(c, d), 0x20);
	__m256i x = _mm256_permute2x128_si256(xw0, xw1, 0x20), w = _mm256_permute2x128_si256(xw0, xw1, 0x31);
	__m256i few = _mm256_cmpgt_epi64(_mm256_set1_epi64x((int64_t)least), w);
	__m256i many = _mm256_cmpgt_epi64(w, _mm256_set1_epi64x((int64_t)exact_limit));
	__m256i half = _mm256_srli_epi64(w, 1), large = _mm256_setzero_si256();
	__m256d weight = small_double(w);
	__m128i qx = four_means(x, half, weight, &large), qy = four_means(y, half, weight, &large);
	large = _mm256_or_si256(_mm256_srli_epi64(large, 51), _mm256_srli_epi64(w, 51));
	if (!_mm256_testz_si256(_mm256_or_si256(few, many), _mm256_set1_epi64x(-1)) || !_mm256_testz_si256(large, large))
		return 0;
	_mm_storeu_si128((__m128i *)dst, _mm_unpacklo_epi32(qx, qy));
	_mm_storeu_si128((__m128i *)(dst + 2), _mm_unpackhi_epi32(qx, qy));
	memset(mask, 0, 4);
	return 1;
}
#endif

// store_vectors divides as floats of 64 bits where they hold the dividends: an inexact
// quotient is then never rounded up to an integer.
static int store_vectors(warp_vec *dst, uint8_t *mask, const warp_vector_sum *sums, int n, uint64_t least) {
	typedef double f64x2 __attribute__((vector_size(16)));
	int exact = 1;
	for (int i = 0; i < n; i++) {
		const warp_vector_sum *s = &sums[i];
#if defined(__AVX2__)
		if (i + 4 <= n && store_four(dst + i, mask + i, s, least)) {
			i += 3;
			continue;
		}
#endif
		if (s->weight < least) {
			dst[i] = (warp_vec){0, 0};
			mask[i] = 255;
			continue;
		}
		mask[i] = 0;
		if (s->weight > exact_limit) {
			exact = 0;
			continue;
		}
		int64_t x_sign = s->x >> 63, y_sign = s->y >> 63, half = (int64_t)(s->weight / 2);
		int64_t x = (s->x ^ x_sign) - x_sign + half, y = (s->y ^ y_sign) - y_sign + half;
		if ((uint64_t)(x | y) >> 53) {
			dst[i] = (warp_vec){mean_of(s->x, s->weight), mean_of(s->y, s->weight)};
			continue;
		}
		double w = (double)(int64_t)s->weight;
		f64x2 q = (f64x2){(double)x, (double)y} / (f64x2){w, w};
		int32_t qx = (int32_t)(int64_t)q[0], qy = (int32_t)(int64_t)q[1];
		dst[i] = (warp_vec){(qx ^ (int32_t)x_sign) - (int32_t)x_sign, (qy ^ (int32_t)y_sign) - (int32_t)y_sign};
	}
	return exact;
}
