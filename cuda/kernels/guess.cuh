// The motions that count at a pixel of the guides, with the same bits as package warp.
#pragma once

#include "motion.cuh"

// Seen is the set of neighbours that show a guess.
enum Seen { seen_in_first = 1, seen_in_second = 2, seen_in_both = 3 };

// Guess is a motion, its share, the neighbours that show it, and whether the bend applies to it.
struct Guess {
	Vec v;
	uint32_t share;
	int seen;
	bool bent;
};

// pack packs a guess without its motion into a word: a share is below 2^16.
__device__ inline uint32_t pack(uint32_t share, int seen, bool bent) { return share << 3 | seen << 1 | bent; }

__device__ inline Guess unpack(Vec v, uint32_t packed) {
	Guess g = {v, packed >> 3, (int)(packed >> 1 & 3), (packed & 1) != 0};
	return g;
}

// List holds the guesses of a pixel: number k is at first + k*size.
struct List {
	const Vec *motions;
	const uint32_t *packed;
	uint32_t first, size;
	int n;

	__device__ Guess get(int k) const { return unpack(motions[first + k * size], packed[first + k * size]); }
};

// Guesses holds the guesses of all pixels of the guides, and how many each pixel has.
struct Guesses {
	const Vec *motions;
	const uint32_t *packed;
	const uint8_t *counts;
	uint32_t size; // of the guides

	__device__ List of(uint32_t pixel) const {
		List l = {motions, packed, pixel, size, counts[pixel]};
		return l;
	}
};

// parts divides a guess's share between the neighbours that show it.
__device__ inline void parts(const Guess &g, int32_t phase, uint64_t *first, uint64_t *second) {
	uint32_t of_first = g.seen == seen_in_both ? phase_one - phase : g.seen == seen_in_first ? phase_one : 0;
	uint32_t of_second = g.seen == seen_in_both ? phase : g.seen == seen_in_second ? phase_one : 0;
	*first = (uint64_t)g.share * of_first;
	*second = (uint64_t)g.share * of_second;
}
