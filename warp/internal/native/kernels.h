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
#include "render.h"
#include "splat.h"
#include "bend.h"

#define KERNELS \
	{disagreement, disagreement_beyond, warp_error, box_mean, median, weigh, cell_means, share, smooth_across, smooth_down, \
		follow, add_vectors, store_vectors, average, accelerations, \
		spread_bends, floats8, floats16, render8, render16}
