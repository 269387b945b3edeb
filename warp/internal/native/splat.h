// Splats of vectors.

static inline void add_vector(warp_vector_sum *s, int64_t x, int64_t y, uint64_t weight) {
	s->x += x * (int64_t)weight;
	s->y += y * (int64_t)weight;
	s->weight += weight;
}

static void add_vectors(warp_vector_sum *sums, const warp_vec *motion, const warp_vec *vectors, const uint16_t *weights,
	int n, warp_flight f) {
	for (int i = 0; i < n; i++) {
		int64_t px = f.left + ((int64_t)i << 8) + (int32_t)(((int64_t)motion[i].x * f.phase + 32768) >> 16);
		int64_t py = f.top + (int32_t)(((int64_t)motion[i].y * f.phase + 32768) >> 16);
		uint64_t column = (uint64_t)(px >> 8), line = (uint64_t)(py >> 8);
		if (column > f.columns || line > f.lines)
			continue;
		uint64_t fx = px & 255, fy = py & 255, lower = weights[i] * fy, upper = (uint64_t)weights[i] * 256 - lower;
		warp_vector_sum *at = sums + (int64_t)line * f.stride + (int64_t)column, *below = at + f.stride;
		int64_t x = vectors[i].x, y = vectors[i].y;
		add_vector(at, x, y, upper * 256 - upper * fx);
		add_vector(at + 1, x, y, upper * fx);
		add_vector(below, x, y, lower * 256 - lower * fx);
		add_vector(below + 1, x, y, lower * fx);
	}
}
