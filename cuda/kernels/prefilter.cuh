// The filter of one pole over one subregion of a line (Briand and Davy,
// algorithm 7), with the operations of package warp/bspline in its order.
#pragma once

#include "boundary.cuh"

// kRegion is the length of a subregion, and no truncation index is larger.
const int kRegion = 256;

// kGroup is how many samples are loaded before the first is used.
const int kGroup = 16;

template <typename T>
struct Pole {
	T z;
	T border; // the factor of table 3 at the end of a line
	int n;    // the truncation index
};

// Equation 15.
template <typename T>
HOST_DEVICE T causal(T z, T before, T s) { return s + z * before; }

// Equation 18.
template <typename T>
HOST_DEVICE T anticausal(T z, T after, T s) { return z * (after - s); }

// A Line is what a thread sees of a line of samples. Its tile holds samples
// [lo, hi), which the filter overwrites:
//
//   T read(int i)             the sample from the tile
//   void write(int i, T v)    and to it
//   void read(int i, T v[kGroup])    samples i to i+kGroup-1, i a multiple of
//   void write(int i, T v[kGroup])   kGroup
//   void put(int i, T v), void put(int i, T v[kGroup])  a coefficient
//   T source(int i)           a sample of the whole line, never overwritten

// causal_start returns the output before sample a, the first of a subregion
// (equation 19), while the tile holds samples alone.
template <typename T, typename Line>
HOST_DEVICE T causal_start(const Line &line, const Pole<T> &q, int boundary, int length, int a) {
	T c = 0;
	int i = a - q.n;
	for (; i < 0; i++) {
		int j = boundary_index(boundary, i, length);
		c = causal(q.z, c, line.lo <= j && j < line.hi ? line.read(j) : line.source(j));
	}
	for (; i < a; i++) c = causal(q.z, c, line.read(i));
	return c;
}

// causal_run filters samples [i, end), c standing for the one before them.
// i is a multiple of kGroup.
template <typename T, typename Line>
HOST_DEVICE void causal_run(Line &line, T z, T c, int i, int end) {
	T v[kGroup], next[kGroup];
	if (i + kGroup <= end) line.read(i, v);
	for (; i + kGroup <= end; i += kGroup) {
		bool more = i + 2 * kGroup <= end;
		if (more) line.read(i + kGroup, next);
#pragma unroll
		for (int k = 0; k < kGroup; k++) v[k] = c = causal(z, c, v[k]);
		line.write(i, v);
		if (more) {
#pragma unroll
			for (int k = 0; k < kGroup; k++) v[k] = next[k];
		}
	}
	for (; i < end; i++) {
		c = causal(z, c, line.read(i));
		line.write(i, c);
	}
}

// anticausal_run puts the coefficients of samples [begin, end), c standing for
// the one after them. begin is a multiple of kGroup.
template <typename T, typename Line>
HOST_DEVICE void anticausal_run(Line &line, T z, T c, int begin, int end) {
	for (; end % kGroup != 0 && end > begin; end--) {
		c = anticausal(z, c, line.read(end - 1));
		line.put(end - 1, c);
	}
	T v[kGroup], next[kGroup];
	if (end > begin) line.read(end - kGroup, v);
	for (; end > begin; end -= kGroup) {
		bool more = end - kGroup > begin;
		if (more) line.read(end - 2 * kGroup, next);
#pragma unroll
		for (int k = kGroup - 1; k >= 0; k--) v[k] = c = anticausal(z, c, v[k]);
		line.put(end - kGroup, v);
		if (more) {
#pragma unroll
			for (int k = 0; k < kGroup; k++) v[k] = next[k];
		}
	}
}

// period_start is the sum over the causal outputs that follow the end of a
// periodic line, which are those from its beginning on: first(i) for i less than
// q.n and length.
template <typename T, typename First>
HOST_DEVICE T period_start(First first, const Pole<T> &q, int length) {
	T c = 0;
	for (int i = q.n - 1; i >= 0; i--) c = causal(q.z, c, first(i % length));
	return c;
}

// anticausal_start returns the coefficient after subregion [a, b), or the last one
// of the line if b ends it, while the tile holds causal outputs from b-1 on
// (equation 20). Those of sample length-2, if a line has one, and of period_start
// come from elsewhere; they count only near the end (table 3).
template <typename T, typename Line>
HOST_DEVICE T anticausal_start(const Line &line, const Pole<T> &q, int boundary, int length, int b, T before, T period) {
	T c = 0;
	if (b + q.n < length) {
		for (int i = b + q.n - 1; i >= b; i--) c = anticausal(q.z, c, line.read(i));
		return c;
	}
	T last = line.read(length - 1);
	if (boundary == kPeriodic) {
		c = -q.z * (last + q.z * period);
	} else if (boundary == kWholeSymmetric) {
		c = q.border * (last + q.z * (length == 1 ? last : before));
	} else {
		c = q.border * last;
	}
	for (int i = length - 2; i >= b; i--) c = anticausal(q.z, c, line.read(i));
	return c;
}

// anticausal_region puts the coefficients of subregion [a, b) by what
// anticausal_start returned.
template <typename T, typename Line>
HOST_DEVICE void anticausal_region(Line &line, const Pole<T> &q, int length, int a, int b, T c) {
	if (b == length) line.put(--b, c);
	anticausal_run(line, q.z, c, a, b);
}

// filter_region puts the coefficients of subregion [a, b). The tile reaches from
// max(a-n, 0) or before to min(b+n, length). spare has room for q.n values, STEP
// apart, where the boundary is periodic.
template <int STEP, typename T, typename Line>
HOST_DEVICE void filter_region(Line &line, const Pole<T> &q, int boundary, int length, int a, int b, T *spare) {
	int hi = b + q.n < length ? b + q.n : length;
	T own = causal_start(line, q, boundary, length, a), next = 0, period = 0, before = 0;
	if (b < hi) next = causal_start(line, q, boundary, length, b);
	if (b + q.n >= length) {
		// The causal outputs of other subregions that the end of the line needs.
		if (boundary == kPeriodic) {
			T c = 0;
			for (int i = -q.n; i < 0; i++) c = causal(q.z, c, line.source(boundary_index(boundary, i, length)));
			for (int i = 0; i < q.n && i < length; i++) spare[i * STEP] = c = causal(q.z, c, line.source(i));
			period = period_start([&](int i) { return spare[i * STEP]; }, q, length);
		}
		if (boundary == kWholeSymmetric && a == length - 1) {
			for (int i = a - kRegion - q.n; i < a; i++) before = causal(q.z, before, line.source(boundary_index(boundary, i, length)));
		}
	}
	causal_run(line, q.z, next, b, hi);
	causal_run(line, q.z, own, a, b);
	if (hi == length && length - 2 >= a) before = line.read(length - 2);
	anticausal_region(line, q, length, a, b, anticausal_start(line, q, boundary, length, b, before, period));
}
