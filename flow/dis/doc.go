// Package dis estimates dense optical flow between two pictures by dense inverse
// search (Kroeger, Timofte, Dai and Van Gool, "Fast Optical Flow using Dense Inverse
// Search", ECCV 2016), in both directions at once. Every patch of a level can be
// searched at the same time, and the arithmetic below is exact, so the vectors depend
// neither on the number of workers nor on the machine.
//
// # Arithmetic
//
// What follows is the definition. Numbers are integers, and >> rounds down, unless the
// text says float: an IEEE 754 number of 32 bits, each of whose operations is rounded to
// nearest even by itself, without fused products. A vector is a pair of int32, in
// 1/1024 pixel of the level at hand. "Clamped" means moved to the nearest end of a range.
//
// Levels. Pictures a and b have 8 bits, w by h samples. A picture narrower or lower than
// 8 is first extended to 8 by repeating its border. Level 0 is the picture. Each further
// level halves the size, rounding up. There are 1+n levels, n the largest number with
//
//	2·max(w, h)² >= 32²·4ⁿ  and  min(w, h)>>n >= 8
//
// or 0. Sample (x, y) of a halved picture is the sum, over source samples (2x-1..2x+2,
// 2y-1..2y+2) with clamped indices, of the samples times the weights [1 3 3 1] x
// [1 3 3 1], plus 32, >>6. Outside a picture the samples of its border repeat.
//
// Gradients. gx(x, y) = 4(a(x+1, y) - a(x-1, y)) and gy alike; |g| <= 1020.
//
// Patches are 8x8 samples. With stride s there are ceil((w-8)/s)+1 patches in a row; the
// j-th begins at x = min(s·j, w-8). Rows of patches alike.
//
// Solver of a patch. Gx = Σgx and Gy = Σgy, over its 64 samples; |G| <= 65280.
//
//	Hxx = Σgx² - (Gx²>>6) + 1024      1024 to 66586624
//	Hyy = Σgy² - (Gy²>>6) + 1024
//	Hxy = Σgx·gy - (Gx·Gy>>6)
//	det = max(Hxx·Hyy - Hxy², 1)      below 2^53
//	k   = 512 / float(det)            floats from here
//	A11 = float(Hyy)·k,  A12 = -float(Hxy)·k,  A22 = float(Hxx)·k
//
// Without mean normalization the terms with >>6 are absent. G² needs 33 bits.
//
// Evaluation of a vector v at the patch that begins at (x, y):
//
//	px = 1024x + vx clamped to -7·1024..1024(w-1), py alike
//	X  = px>>10,  fx = (px & 1023)>>3, Y and fy alike      fx: 0 to 127
//
// and for each sample (i, j) of the patch, with b read at (X+i, Y+j):
//
//	t = b(X+i, Y+j)(128-fx) + b(X+i+1, Y+j)fx              0 to 32640
//	u = the same for row Y+j+1
//	d = ((t(128-fy) + u·fy + 512)>>10) - 16a(x+i, y+j)     -4080 to 4080
//
// The sums over the patch fit into 32 bits: sd = Σd, |sd| <= 261120; sdd = Σd² <=
// 1065369600; sx = Σd·gx and sy = Σd·gy, |s| <= 266342400. The cost is sdd - (sd²>>6),
// or sdd without mean normalization; sd² needs 37 bits.
//
// Descent from v0 with N iterations. v = v0, and the best vector is v0. For t = 0 to N:
// evaluate v. Stop if t > 0 and the cost is not below that of the best vector; otherwise
// v is the best vector. Stop if t = N. With
//
//	bx = sx - (sd·Gx>>6), by = sy - (sd·Gy>>6)             |b| <= 532684800
//	dx = A11·float(bx) + A12·float(by)
//	dy = A12·float(bx) + A22·float(by)
//
// (without mean normalization bx = sx, by = sy) clamp dx and dy to ±8192, round them to
// the nearest integer, ties to even, and stop if both are 0. Subtract them from v. Stop
// if a component of v is more than 8192 away from v0's. The descent returns the best
// vector and its cost. One iteration is a full Gauss-Newton step.
//
// Levels are searched from the coarsest to level 0, in four steps; each step ends in both
// directions before the next one begins. Backward, a and b change places.
//
//  1. Reach, on the two coarsest levels (or the only one), unless Reach is 0: of the
//     vectors of whole pixels (i, j), |i|, |j| <= Reach, the one with the least
//     e = cost + 256(|i| + |j|), the first in raster order among equals. 2e < 2^31.
//
//  2. First: on the coarsest level the vector is zero. On another one, candidates are
//     read from the dense flow U of the next coarser level, at (x+4, y+4) and at
//     CandidateDistance D from there, in the order (0, 0), (D, 0), (-D, 0), (0, D),
//     (0, -D), (D, D), (-D, -D), (D, -D), (-D, D); with 5 candidates the order ends after
//     (0, -D). The candidate at (p, q) is 2·U(p>>1, q>>1), indices clamped. The least
//     cost wins, the first among equals. The vector of step 1 replaces the winner if 2e is
//     below the winner's cost. Then the patch descends.
//
//  3. Propagation, in Rounds rounds. A round reads what the round before has left. The
//     candidates are the patch's own vector v, those of its neighbours, in the order of
//     step 2 (in patches) and as far as they exist, 4 or 8, and last the negated vector of
//     the other direction at the patch with column
//     (x + ((vx+512)>>10) + s/2)/s, clamped, and row alike; s/2 rounds down. A candidate
//     replaces the best one if its cost is strictly less. Then the patch descends from the
//     best one.
//
//  4. Densification. Pixel (x, y) averages the vectors of the patches in columns
//     ceil(max(x-7, 0)/s) to min(x/s rounded down, the last), rows alike. The weight of a
//     patch is Weight(|d|), with d as above for the pixel alone: px and py, from the pixel's
//     x and y, are clamped to 0..1024(w-1) and 0..1024(h-1).
//
//     Weight(d) = max(1, the integer nearest to 2^20 / max(16, d)²)      1 to 4096
//
//     U = float(Σ weight·v) / float(Σ weight), per component, from sums of 64 bits,
//     rounded to the nearest integer, ties to even.
//
// A vector of the result is (U+2)>>2, clamped to the field's Limit.
//
// The length of a vector is bounded: a level adds at most Reach + 8(1+Rounds) pixels to twice
// the coarser one's, so with at most 11 levels, Reach 16 and Rounds 16 it stays below
// 2^29.
//
// # Variants
//
// The Go functions of this package follow the definition, but leave out what cannot change
// a result: candidates that a patch has tried before, and descents that would end where
// they begin. On amd64 and arm64, functions in C do the same with vector instructions;
// package frame/simd chooses among them.
package dis
