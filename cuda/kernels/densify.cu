// The flow at each pixel, from the vectors of the patches that cover the pixel.

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

// densify sets forward and backward, of out_width by out_height vectors, to the means of
// the vectors of the patches that cover each pixel, weighted by how little the pictures
// differ there. z is the direction. If limit is not 0, the result is in 1/256 pixel, and
// limit is the largest magnitude of a component.
extern "C" __global__ void densify(Vec *forward, int forward_stride, Vec *backward, int backward_stride, int out_width, int out_height, int limit,
		const Vec *vectors, const uint8_t *level, size_t distance, int width, int height, int pitch, int columns, int rows, int stride) {
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x >= out_width || y >= out_height) return;
	const uint8_t *a = level + blockIdx.z * distance, *b = level + (1 - blockIdx.z) * distance;
	vectors += (size_t)blockIdx.z * columns * rows;
	int left = strides(max(x - (patch_size - 1), 0) + stride - 1, stride), right = min(strides(x, stride), columns - 1);
	int top = strides(max(y - (patch_size - 1), 0) + stride - 1, stride), bottom = min(strides(y, stride), rows - 1);
	int64_t sx = 0, sy = 0;
	int sum = 0;
	for (int j = top; j <= bottom; j++)
		for (int i = left; i <= right; i++) {
			Vec v = vectors[j * columns + i];
			int w = densify_weight(difference_at(a, b, width, height, pitch, x, y, v));
			sx += (int64_t)w * v.x;
			sy += (int64_t)w * v.y;
			sum += w;
		}
	Vec u = {__float2int_rn((float)sx / (float)sum), __float2int_rn((float)sy / (float)sum)};
	if (limit) u = {clamp_to((u.x + 2) >> 2, -limit, limit), clamp_to((u.y + 2) >> 2, -limit, limit)};
	(blockIdx.z ? backward + (size_t)y * backward_stride : forward + (size_t)y * forward_stride)[x] = u;
}
