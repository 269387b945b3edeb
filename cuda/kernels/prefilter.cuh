// The filter of one pole over one subregion of a line (Briand and Davy, algorithm 7),
// with the operations of package warp/bspline in the same order.
#pragma once

#include "boundary.cuh"

// kRegion is the length of a subregion. No truncation index is larger.

// kGroup is the number of samples that are loaded before the first is used.
const int kGroup = 16;

template <typename T>
struct Pole {
	T z;
	T border; // the factor of table 3 at the end of a line
	int n;    // the truncation index
};

// causal computes equation 15.
template <typename T>
HOST_DEVICE T causal(T z, T before, T s) { return s + z * before; }

// anticausal computes equation 18.
template <typename T>
HOST_DEVICE T anticausal(T z, T after, T s) { return z * (after - s); }

// A Line gives a thread access to a line of samples. Its tile holds samples [lo, hi),
// which the filter overwrites:
//
//	T read(int i)             reads a sample of the tile
//	void write(int i, T v)    writes a sample of the tile
//	void read(int i, T v[kGroup])    the same for samples i to i+kGroup-1,
//	void write(int i, T v[kGroup])   with i a multiple of kGroup
//	void put(int i, T v), void put(int i, T v[kGroup])  store coefficients
//	T source(int i)           reads a sample of the whole line, never overwritten

// follow returns the output of the causal filter after n samples i, i+step, ... from
// read.
template <typename T, typename Read>
HOST_DEVICE T follow(Read read, T z, T c, int i, int step, int n) {
#pragma unroll 8
	for (int k = 0; k < n; k++, i += step) c = causal(z, c, read(i));
	return c;
}

// follow_back returns the output of the anticausal filter after n samples i, i-1, ...
// from read.
template <typename T, typename Read>
HOST_DEVICE T follow_back(Read read, T z, T c, int i, int n) {
#pragma unroll 8
	for (int k = 0; k < n; k++, i--) c = anticausal(z, c, read(i));
	return c;
}

// causal_start_before returns the output before the first sample, computed from the n
// samples that precede it by the boundary.
template <typename T, typename Read>
HOST_DEVICE T causal_start_before(Read read, T z, int n, int boundary, int length) {
	int from = boundary_index(boundary, -n, length), step = boundary_index(boundary, 1 - n, length) - from;
	if (n < length) return follow(read, z, (T)0, from, step, n);
	T c = 0;
	for (int i = -n; i < 0; i++) c = causal(z, c, read(boundary_index(boundary, i, length)));
	return c;
}

// causal_start returns the output before sample a, the first of a subregion (equation
// 19). The tile must still hold only samples.
template <typename T, typename Line>
HOST_DEVICE T causal_start(const Line &line, const Pole<T> &q, int boundary, int length, int a) {
	auto tile = [&](int i) { return line.read(i); };
	if (a > 0) return follow(tile, q.z, (T)0, a - q.n, 1, q.n);
	if (line.hi == length || (q.n < line.hi && boundary != kPeriodic)) return causal_start_before(tile, q.z, q.n, boundary, length);
	return causal_start_before([&](int i) { return line.source(i); }, q.z, q.n, boundary, length);
}

// causal_run filters samples [i, end); c is the output before them. i must be a
// multiple of kGroup.
template <typename T, typename Line>
HOST_DEVICE void causal_run(Line &line, T z, T c, int i, int end) {
	T v[kGroup], w[kGroup];
	int groups = (end - i) / kGroup;
	if (groups > 0) line.read(i, v);
	// The loop reads the next group while it filters one.
	for (; groups > 0; groups -= 2, i += 2 * kGroup) {
		if (groups > 1) line.read(i + kGroup, w);
#pragma unroll
		for (int k = 0; k < kGroup; k++) v[k] = c = causal(z, c, v[k]);
		line.write(i, v);
		if (groups == 1) {
			i += kGroup;
			break;
		}
		if (groups > 2) line.read(i + 2 * kGroup, v);
#pragma unroll
		for (int k = 0; k < kGroup; k++) w[k] = c = causal(z, c, w[k]);
		line.write(i + kGroup, w);
	}
	for (; i < end; i++) {
		c = causal(z, c, line.read(i));
		line.write(i, c);
	}
}

// anticausal_run stores the coefficients of samples [begin, end); c is the coefficient
// after them. begin must be a multiple of kGroup.
template <typename T, typename Line>
HOST_DEVICE void anticausal_run(Line &line, T z, T c, int begin, int end) {
	for (; (end - begin) % kGroup != 0; end--) {
		c = anticausal(z, c, line.read(end - 1));
		line.put(end - 1, c);
	}
	T v[kGroup], w[kGroup];
	int groups = (end - begin) / kGroup;
	if (groups > 0) line.read(end - kGroup, v);
	for (; groups > 0; groups -= 2, end -= 2 * kGroup) {
		if (groups > 1) line.read(end - 2 * kGroup, w);
#pragma unroll
		for (int k = kGroup - 1; k >= 0; k--) v[k] = c = anticausal(z, c, v[k]);
		line.put(end - kGroup, v);
		if (groups == 1) break;
		if (groups > 2) line.read(end - 3 * kGroup, v);
#pragma unroll
		for (int k = kGroup - 1; k >= 0; k--) w[k] = c = anticausal(z, c, w[k]);
		line.put(end - 2 * kGroup, w);
	}
}

// period_start returns the sum over the causal outputs that follow the end of a periodic line,
// which equal the outputs from its beginning on: first(i) for i less than q.n and length.
template <typename T, typename First>
HOST_DEVICE T period_start(First first, const Pole<T> &q, int length) {
	T c = 0;
	if (q.n <= length) return follow(first, q.z, c, q.n - 1, -1, q.n);
	for (int i = q.n - 1; i >= 0; i--) c = causal(q.z, c, first(i % length));
	return c;
}

// anticausal_start returns the coefficient after subregion [a, b), or the line's last one if b ends
// the line. The tile must hold causal outputs from b-1 on (equation 20). before is the output at
// sample length-2, if the line has one, and period the result of period_start; they matter only
// near the end (table 3).
template <typename T, typename Line>
HOST_DEVICE T anticausal_start(const Line &line, const Pole<T> &q, int boundary, int length, int b, T before, T period) {
	auto tile = [&](int i) { return line.read(i); };
	if (b + q.n < length) return follow_back(tile, q.z, (T)0, b + q.n - 1, q.n);
	T c, last = line.read(length - 1);
	if (boundary == kPeriodic) {
		c = -q.z * (last + q.z * period);
	} else if (boundary == kWholeSymmetric) {
		c = q.border * (last + q.z * (length == 1 ? last : before));
	} else {
		c = q.border * last;
	}
	return follow_back(tile, q.z, c, length - 2, length - 1 - b);
}

// anticausal_region stores the coefficients of subregion [a, b); c is the result of
// anticausal_start.
template <typename T, typename Line>
HOST_DEVICE void anticausal_region(Line &line, const Pole<T> &q, int length, int a, int b, T c) {
	if (b == length) line.put(--b, c);
	anticausal_run(line, q.z, c, a, b);
}

// filter_region stores the coefficients of subregion [a, b). The tile must reach from max(a-n, 0)
// or before to min(b+n, length). If the boundary is periodic, spare needs room for q.n values, STEP
// apart.
template <int STEP, typename T, typename Line>
HOST_DEVICE void filter_region(Line &line, const Pole<T> &q, int boundary, int length, int a, int b, T *spare) {
	int hi = b + q.n < length ? b + q.n : length;
	T own = causal_start(line, q, boundary, length, a), next = 0, period = 0, before = 0;
	if (b < hi) next = causal_start(line, q, boundary, length, b);
	if (b + q.n >= length) {
		// The end of the line needs causal outputs of other subregions.
		if (boundary == kPeriodic) {
			auto source = [&](int i) { return line.source(i); };
			T c = causal_start_before(source, q.z, q.n, boundary, length);
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
