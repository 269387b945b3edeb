// Sets the vectors of still pixels to zero, as package flow's KeepStill does.

#include "motion.cuh"

enum {
	tile_width = 32,
	tile_height = 16,
	rows = 8,
	radius = 8, // of the square around a pixel
	halo_width = tile_width + 2 * radius,
	halo_height = tile_height + 2 * radius
};

// keep_still sets both flows to zero at pixels around which a and b are the same in the part of the
// square inside the pictures. Blocks are 32 by 8 threads for tiles of 32 by 16 pixels.
extern "C" __global__ void keep_still(Vec *forward, Vec *backward, const uint8_t *a, const uint8_t *b, int width, int height) {
	__shared__ uint8_t differs[halo_height][halo_width], across[halo_height][tile_width];
	int left = blockIdx.x * tile_width - radius, top = blockIdx.y * tile_height - radius;
	for (int row = threadIdx.y; row < halo_height; row += rows)
		for (int column = threadIdx.x; column < halo_width; column += tile_width) {
			int x = left + column, y = top + row;
			size_t at = (size_t)y * width + x;
			differs[row][column] = x >= 0 && y >= 0 && x < width && y < height && a[at] != b[at];
		}
	__syncthreads();
	for (int row = threadIdx.y; row < halo_height; row += rows) {
		int any = 0;
		for (int i = 0; i <= 2 * radius; i++) any |= differs[row][threadIdx.x + i];
		across[row][threadIdx.x] = any;
	}
	__syncthreads();
	int x = left + radius + threadIdx.x;
	for (int row = threadIdx.y; row < tile_height; row += rows) {
		int y = top + radius + row, any = 0;
		if (x >= width || y >= height) return;
		for (int i = 0; i <= 2 * radius; i++) any |= across[row + i][threadIdx.x];
		if (!any) forward[(size_t)y * width + x] = backward[(size_t)y * width + x] = {0, 0};
	}
}
