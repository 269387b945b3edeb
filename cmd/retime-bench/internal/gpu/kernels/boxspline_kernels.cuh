// Kernels that evaluate box splines at many positions.
#pragma once

#include "boxspline_grid.cuh"

// Positions says where thread (a, b, c), number i, evaluates: at the i-th position of lists, at a
// position of a slightly turned and magnified picture or volume, or at random.
enum PositionMode { kListed, kCoherent, kRandom };

struct Positions {
	int mode;
	const double *x, *y, *z;
	double ex, ey, ez;  // random positions are below these; otherwise positions are this far apart
};

// scramble mixes the bits of an index (Wellons' lowbias32).
BOXSPLINE unsigned scramble(unsigned v) {
	v ^= v >> 16;
	v *= 0x7feb352du;
	v ^= v >> 15;
	v *= 0x846ca68bu;
	return v ^ v >> 16;
}

template <typename P>
BOXSPLINE void position(const Positions &p, int na, int nb, int nc, unsigned i, P *x, P *y, P *z) {
	if (p.mode == kListed) {
		*x = (P)p.x[i];
		*y = (P)p.y[i];
		*z = (P)p.z[i];
		return;
	}
	if (p.mode == kCoherent) {
		P a = (P)na, b = (P)nb, c = (P)nc;
		*x = (P)p.ex * (P(0.97) * a + P(0.02) * b + P(0.3));
		*y = (P)p.ey * (P(0.97) * b + P(0.01) * a + P(0.4));
		*z = (P)p.ez * (P(0.98) * c + P(0.01) * a + P(0.2));
		return;
	}
	unsigned r = scramble(i);
	*x = (P)p.ex * (P)(r >> 8) * P(1.0 / (1 << 24));
	r = scramble(r + 0x9e3779b9u);
	*y = (P)p.ey * (P)(r >> 8) * P(1.0 / (1 << 24));
	r = scramble(r + 0x9e3779b9u);
	*z = (P)p.ez * (P)(r >> 8) * P(1.0 / (1 << 24));
}

// Texels reads textures, one for each coset. The centre of the texel of index (0, 0, 0) is
// at (b0, b1, b2).
template <int dim>
struct Texels {
	cudaTextureObject_t t0, t1, t2, t3;
	float b0, b1, b2;

	__device__ float operator()(int array, float x, float y, float z) const {
		cudaTextureObject_t t = array == 0 ? t0 : array == 1 ? t1 : array == 2 ? t2 : t3;
		return dim == 2 ? tex2D<float>(t, x + b0, y + b1) : tex3D<float>(t, x + b0, y + b1, z + b2);
	}
};

// Soft interpolates like a texture, but with the full fraction.
struct Soft {
	const float *c;
	Grid g;

	__device__ float row(const float *p, float t) const { return (1 - t) * p[0] + t * p[1]; }
	__device__ float plane(const float *p, float s, float t) const { return (1 - t) * row(p, s) + t * row(p + g.stride, s); }
	__device__ float operator()(int array, float x, float y, float z) const {
		float i = floorf(x), j = floorf(y), k = floorf(z);
		const float *p = c + array * g.coset + (int)i + (long long)(int)j * g.stride + (long long)(int)k * g.slice;
		if (g.slice == 0) return plane(p, x - i, y - j);
		return (1 - (z - k)) * plane(p, x - i, y - j) + (z - k) * plane(p + g.slice, x - i, y - j);
	}
};

// Threads are arranged like the output: width by height by the blocks along z.
#define BOXSPLINE_POSITIONS \
	int mode, const double *xs, const double *ys, const double *zs, int width, int height, double ex, double ey, double ez
#define BOXSPLINE_BEGIN(P) \
	const int na = blockIdx.x * blockDim.x + threadIdx.x, nb = blockIdx.y * blockDim.y + threadIdx.y, nc = blockIdx.z; \
	if (na >= width || nb >= height) return; \
	const unsigned i = (nc * (unsigned)height + nb) * width + na; \
	Positions at = {mode, xs, ys, zs, ex, ey, ez}; \
	P x, y, z; \
	position<P>(at, na, nb, nc, i, &x, &y, &z);

// c points to the coefficient of index (0, 0, 0). slice is 0 in two dimensions.
#define BOXSPLINE_EXACT(FUNCTION, NAME, T) \
	extern "C" __global__ void boxspline_##NAME(T *dst, BOXSPLINE_POSITIONS, const T *c, int stride, int slice, long long coset) { \
		BOXSPLINE_BEGIN(T) \
		Grid g = {stride, slice, coset}; \
		dst[i] = FUNCTION<T, T>(c, g, x, y, z); \
	}
#define BOXSPLINE_SOFT(FUNCTION, NAME) \
	extern "C" __global__ void boxspline_##NAME(float *dst, BOXSPLINE_POSITIONS, const float *c, int stride, int slice, long long coset) { \
		BOXSPLINE_BEGIN(float) \
		Grid g = {stride, slice, coset}; \
		Soft fetch = {c, g}; \
		dst[i] = FUNCTION<Soft, float>(fetch, g, x, y, z); \
	}
#define BOXSPLINE_LINEAR(FUNCTION, NAME, DIM) \
	extern "C" __global__ void boxspline_##NAME(float *dst, BOXSPLINE_POSITIONS, cudaTextureObject_t t0, cudaTextureObject_t t1, \
		cudaTextureObject_t t2, cudaTextureObject_t t3, float b0, float b1, float b2) { \
		BOXSPLINE_BEGIN(float) \
		Grid g = {0, 0, 0}; \
		Texels<DIM> fetch = {t0, t1, t2, t3, b0, b1, b2}; \
		dst[i] = FUNCTION<Texels<DIM>, float>(fetch, g, x, y, z); \
	}

// Measures the bandwidth of reading the coefficients once and writing as many values.
extern "C" __global__ void boxspline_copy(float *dst, const float *src, long long count) {
	long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
	if (i < count) dst[i] = src[i];
}
