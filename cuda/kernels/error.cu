// The error along a motion: the difference between a picture and another, read along
// the flow to it and averaged over three by three pixels; and the trust in a splat
// along that motion.

#include "motion.cuh"

enum { tile_width = 32, tile_height = 16, rows = 8, halo_width = tile_width + 2, halo_height = tile_height + 2 };

// warp_error sets error z to the error along flow z, and trust z to the trust that follows from it.
// Pictures and flows are stored one after the other, each width by height without gaps. Pictures 0
// and 1 belong to the interval; 2 and 3 come before and after it. Even flows begin at picture 0,
// odd ones at picture 1. The first inner flows lead to the other of these two, the rest to the
// picture beyond. In these, what flow 0 or 1 shows to be hidden in the other picture is trusted less.
extern "C" __global__ void warp_error(const uint8_t *pictures, const Vec *flows, int inner, uint16_t *errors, uint16_t *trust,
                                      const uint16_t *trust_table, int trust_entries, int width, int height) {
	__shared__ uint16_t differences[halo_height][halo_width];
	int z = blockIdx.z, from = z & 1, to = z < inner ? 1 - from : 2 + from;
	size_t size = (size_t)width * height;
	const uint8_t *a = pictures + from * size, *b = pictures + to * size;
	const Vec *flow = flows + z * size;
	int left = blockIdx.x * tile_width - 1, top = blockIdx.y * tile_height - 1;
	for (int i = threadIdx.y * tile_width + threadIdx.x; i < halo_width * halo_height; i += tile_width * rows) {
		int x = left + i % halo_width, y = top + i / halo_width;
		uint16_t d = 0;
		if (x >= 0 && y >= 0 && x < width && y < height) {
			size_t at = (size_t)y * width + x;
			Vec v = flow[at];
			d = difference((uint32_t)a[at] << 16,
			               lookup(b, width, height, (x << position_bits) + v.x, (y << position_bits) + v.y));
		}
		differences[i / halo_width][i % halo_width] = d;
	}
	__syncthreads();
	int x = left + 1 + threadIdx.x;
	if (x >= width) return;
	int columns = min(width, x + 2) - max(0, x - 1);
	for (int row = threadIdx.y; row < tile_height; row += rows) {
		int y = top + 1 + row;
		if (y >= height) return;
		uint32_t sum = 0;
		for (int j = 0; j < 3; j++)
			for (int i = 0; i < 3; i++) sum += differences[row + j][threadIdx.x + i];
		int lines = min(height, y + 2) - max(0, y - 1);
		uint16_t e = box_mean(sum, reciprocal(lines * columns));
		size_t at = (size_t)y * width + x;
		errors[z * size + at] = e;
		uint16_t t = trust_table[min((int)e, trust_entries - 1)];
		int64_t miss;
		if (z >= inner && (!missed(flows + (1 - from) * size, width, height, x, y, flows[from * size + at], &miss) || miss > miss_least)) t = max(t >> behind_shift, 1);
		trust[z * size + at] = t;
	}
}
