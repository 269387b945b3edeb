// The holes of a flow get the nearest known vector.

#include "fill.cuh"
#include "motion.cuh"

// fill_nearest replaces the vectors of motion z whose bit in known is clear by the nearest vector
// whose bit is set, by Euclidean distance. Among equally near vectors it takes the leftmost, and
// among those the uppermost; if no vector is known, it stores zero. arrive_flow sets known and
// holes, the number of clear bits.
//
// A thread looks at its own column, then at the columns one pixel further away on both sides, as
// long as a vector there could be nearer than the nearest found so far, or as near.
extern "C" __global__ void fill_nearest(Vec *motions, const uint32_t *known, const unsigned long long *holes, int width, int height) {
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x >= width || y >= height) return;
	motions += (size_t)blockIdx.z * width * height;
	known += (size_t)blockIdx.z * ((height + 31) / 32) * width;
	if (known[(size_t)(y >> 5) * width + x] >> (y & 31) & 1) return;
	if (holes[blockIdx.z] == (unsigned long long)width * height) {
		Vec zero = {0, 0};
		motions[(size_t)y * width + x] = zero;
		return;
	}
	int64_t least = INT64_MAX;
	int column = -1, row = -1;
	for (int k = 0; (int64_t)k * k <= least; k++) {
		if (x - k < 0 && x + k >= width) break;
		for (int side = -1; side <= 1; side += 2) {
			int c = x + side * k;
			if (c < 0 || c >= width || (k == 0 && side > 0)) continue;
			// Rows further away than reach cannot win.
			int reach = least == INT64_MAX ? height : (int)sqrtf((float)(least - (int64_t)k * k)) + 1;
			int r = nearest_row(known, width, height, c, y, reach);
			if (r < 0) continue;
			int64_t d = (int64_t)k * k + (int64_t)(r - y) * (r - y);
			if (d < least || (d == least && (c < column || (c == column && r < row)))) {
				least = d;
				column = c;
				row = r;
			}
		}
	}
	motions[(size_t)y * width + x] = motions[(size_t)row * width + column];
}
