// The kernels, for the widest vectors that the including file's instructions have.

#include <stddef.h>

#include "native.h"
#include "vector.h"

// GCC leaves products and sums apart because of -std=c11; Clang must be told.
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif

#include "measure.h"

#include "median.h"

#include "choice.h"
#include "guesses.h"
#include "render.h"
#include "splat.h"
#include "bend.h"
#include "calm.h"
#include "expect.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

#define SAMPLE uint8_t
#define NAME(name) JOIN(name, 8)
#include "blocks.h"
#include "soften.h"
#undef SAMPLE
#undef NAME
#define SAMPLE uint16_t
#define NAME(name) JOIN(name, 16)
#include "blocks.h"
#include "soften.h"

#define KERNELS \
	{disagreement, disagreement_beyond, warp_error, box_mean, halve, median, weigh, cell_means, share, smooth_across, smooth_down, \
		follow, extents, add_vectors, store_vectors, average, accelerations, \
		spread_bends, floats8, floats16, render8, render16, \
		soften8, soften16}
