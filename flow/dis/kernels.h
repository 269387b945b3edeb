// The kernels, for the widest vectors that the including file's instructions have.

#include "constants.h"
#include "native.h"
#include "vector.h"

// -std=c11 keeps GCC from fusing products and sums; Clang needs this pragma.
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif

enum {
	// A position is rounded down to steps of this many bits before b is read.
	unseen_bits = vector_bits - fraction_bits,
	narrow_limit = 1 << 15,
};

static inline int clamp(int v, int least, int most) { return v < least ? least : v > most ? most : v; }
static inline int absolute(int v) { return v < 0 ? -v : v; }

// place is where b is read for a vector: a sample, and the fractional position after it.
typedef struct {
	const uint8_t *at;
	fraction beyond;
} place;

static inline place place_of(const dis_search *s, const uint8_t *b, int x, int y, dis_vector v, int outside) {
	int px = clamp(x * vector_one + v.x, -outside * vector_one, (s->width - 1) * vector_one);
	int py = clamp(y * vector_one + v.y, -outside * vector_one, (s->height - 1) * vector_one);
	return (place){
		b + (int64_t)(py >> vector_bits) * s->pitch + (px >> vector_bits),
		fraction_of((px & (vector_one - 1)) >> unseen_bits, (py & (vector_one - 1)) >> unseen_bits),
	};
}

#include "search.h"
#include "densify.h"
