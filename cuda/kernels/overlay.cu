// The mask of overlays, which are still on top of a moving picture.

#include "overlay.cuh"

enum {
	tile_width = 32,
	tile_height = 16,
	rows = 8,
	threads = tile_width * rows,
	halo_width = tile_width + 2 * overlay_square,
	halo_height = tile_height + 2 * overlay_square
};

// overlay_mask sets mask to the certainty that each pixel belongs to an overlay, but at least to
// the value of given, which may be null. The guides are stored one after the other. The interval's
// two come first; third and fourth are the numbers of two others. flow leads from the first to the
// second, and beyond leads from these to the pictures before and after; beyond may be null. Blocks
// are 32 by 8 threads for tiles of 32 by 16 pixels.
extern "C" __global__ void overlay_mask(uint8_t *mask, const uint8_t *given, const uint8_t *guides, int third, int fourth,
                                        const Vec *flow, const Vec *beyond, int width, int height, int level) {
	__shared__ uint8_t marks[halo_height][halo_width];
	__shared__ uint16_t columns[tile_height][halo_width];
	size_t size = (size_t)width * height;
	OverlayGuides g = {guides, guides + size, guides + third * size, guides + fourth * size, flow, beyond, width, height, level};
	int radius = overlay_radius(level), across = tile_width + 2 * radius, down = tile_height + 2 * radius;
	int left = blockIdx.x * tile_width - radius, top = blockIdx.y * tile_height - radius;
	int any = 0;
	for (int hy = threadIdx.y; hy < down; hy += rows)
		for (int hx = threadIdx.x; hx < across; hx += tile_width) {
			int x = left + hx, y = top + hy;
			int contrast = x >= 0 && y >= 0 && x < width && y < height ? still_contrast(g, x, y) : 0;
			bool marked = contrast > 0 && misfit(g, x, y, contrast);
			marks[hy][hx] = marked ? 255 : 0;
			any |= marked;
		}
	any = __syncthreads_or(any);
	int side = 2 * radius + 1;
	if (any) {
		for (int cy = threadIdx.y; cy < tile_height; cy += rows)
			for (int cx = threadIdx.x; cx < across; cx += tile_width) {
				int sum = 0;
				for (int j = 0; j < side; j++) sum += marks[cy + j][cx];
				columns[cy][cx] = sum;
			}
		__syncthreads();
	}
	int x = left + radius + threadIdx.x;
	for (int row = threadIdx.y; row < tile_height; row += rows) {
		int y = top + radius + row;
		if (x >= width || y >= height) return;
		size_t at = (size_t)y * width + x;
		int found = 0;
		if (any) {
			uint32_t sum = 0;
			for (int i = 0; i < side; i++) sum += columns[row][threadIdx.x + i];
			int high = min(height, y + radius + 1) - max(0, y - radius), wide = min(width, x + radius + 1) - max(0, x - radius);
			found = min(max(box_mean(sum, reciprocal(high * wide)) - overlay_stray, 0) * overlay_gain, 255);
		}
		mask[at] = given ? max(found, (int)given[at]) : found;
	}
}
