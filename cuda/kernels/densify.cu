// The flow at each pixel, from the vectors of the patches that cover it.

#include "dis.cuh"

// difference_at returns the difference, in 1/16, between b at pixel (x, y) moved by v
// and a at the pixel.
static __device__ int difference_at(const uint8_t *a, const uint8_t *b, int width, int height, int pitch, int x, int y, Vec v) {
	int px = clamp_to(x * vector_one + v.x, 0, (width - 1) * vector_one);
	int py = clamp_to(y * vector_one + v.y, 0, (height - 1) * vector_one);
	int fx = fraction(px), fy = fraction(py);
	const uint8_t *p = b + (ptrdiff_t)(py >> 10) * pitch + (px >> 10), *q = p + pitch;
	int top = p[0] * (128 - fx) + p[1] * fx, bottom = q[0] * (128 - fx) + q[1] * fx;
	return ((top * (128 - fy) + bottom * fy + 512) >> 10) - 16 * a[(ptrdiff_t)y * pitch + x];
}

// Level is a level of two pictures, with the vectors of its patches.
struct Level {
	const Vec *vectors;
	const uint8_t *a, *b;
	int width, height, pitch, columns, rows, stride;
};

// dense_at returns the mean of the vectors of the patches that cover a pixel, weighted by how
// little the pictures differ there. If limit is not 0, the result is in 1/256 pixel, and limit
// bounds the magnitude of its components.
static __device__ Vec dense_at(const Level &l, int x, int y, int limit) {
	int columns = l.columns, rows = l.rows, stride = l.stride;
	int left = strides(max(x - (patch_size - 1), 0) + stride - 1, stride), right = min(strides(x, stride), columns - 1);
	int top = strides(max(y - (patch_size - 1), 0) + stride - 1, stride), bottom = min(strides(y, stride), rows - 1);
	int64_t sx = 0, sy = 0;
	int sum = 0;
	for (int j = top; j <= bottom; j++)
		for (int i = left; i <= right; i++) {
			Vec v = l.vectors[j * columns + i];
			int w = densify_weight(difference_at(l.a, l.b, l.width, l.height, l.pitch, x, y, v));
			sx += (int64_t)w * v.x;
			sy += (int64_t)w * v.y;
			sum += w;
		}
	Vec u = {__float2int_rn((float)sx / (float)sum), __float2int_rn((float)sy / (float)sum)};
	if (limit) u = {clamp_to((u.x + 2) >> 2, -limit, limit), clamp_to((u.y + 2) >> 2, -limit, limit)};
	return u;
}

#define LEVEL                                                                                                        \
	{vectors + (size_t)blockIdx.z * columns * rows, level + blockIdx.z * distance, level + (1 - blockIdx.z) * distance, \
		width, height, pitch, columns, rows, stride}

// densify sets forward and backward, of out_width by out_height vectors, to what dense_at
// returns. z is the direction.
extern "C" __global__ void densify(Vec *forward, int forward_stride, Vec *backward, int backward_stride, int out_width, int out_height, int limit,
		const Vec *vectors, const uint8_t *level, size_t distance, int width, int height, int pitch, int columns, int rows, int stride) {
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x >= out_width || y >= out_height) return;
	Level l = LEVEL;
	(blockIdx.z ? backward + (size_t)y * backward_stride : forward + (size_t)y * forward_stride)[x] = dense_at(l, x, y, limit);
}

// densify_halved is densify for a flow of flow_width by flow_height vectors that is halved,
// as package flow's Halve does, to out_width by out_height. limit is not 0.
extern "C" __global__ void densify_halved(Vec *forward, int forward_stride, Vec *backward, int backward_stride, int out_width, int out_height, int limit,
		const Vec *vectors, const uint8_t *level, size_t distance, int width, int height, int pitch, int columns, int rows, int stride,
		int flow_width, int flow_height) {
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x >= out_width || y >= out_height) return;
	Level l = LEVEL;
	// The last column of an odd width and the last row of an odd height count twice; the mean stays
	// the same.
	Vec sum = {0, 0};
	for (int i = 0; i < 4; i++) {
		Vec v = dense_at(l, min(2 * x + i % 2, flow_width - 1), min(2 * y + i / 2, flow_height - 1), limit);
		sum = {sum.x + v.x, sum.y + v.y};
	}
	Vec mean = {(sum.x + 4) >> 3, (sum.y + 4) >> 3};
	(blockIdx.z ? backward + (size_t)y * backward_stride : forward + (size_t)y * forward_stride)[x] = mean;
}
