// This header declares, for the CPU, the part of CUDA C++ that the kernels use. Each NAME.cpp,
// which generate writes, includes this file, then NAME.cu in its own namespace, and lists the
// kernels of NAME.cu with KERNEL.
#pragma once

// Products and sums must not be fused.
#pragma GCC optimize("fp-contract=off")

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <type_traits>
#include <utility>

#include "emulator_run.h"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __noinline__
#define __constant__ static
#define __shared__ static // blocks run one after the other
#define __launch_bounds__(...)
#define __align__(n) alignas(n)
#define DYNAMIC_SHARED(T, name) T *const name = (T *)emulator::dynamic_shared

struct uint3 { unsigned x, y, z; };
struct dim3 { unsigned x, y, z; };

extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
static const int warpSize = 32;

#define EMULATED_VECTOR(T, name) \
	struct alignas(2 * sizeof(T)) name##2 { T x, y; }; \
	struct name##3 { T x, y, z; }; \
	struct alignas(sizeof(T) == 8 ? 16 : 4 * sizeof(T)) name##4 { T x, y, z, w; }; \
	static inline name##2 make_##name##2(T x, T y) { return {x, y}; } \
	static inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
EMULATED_VECTOR(unsigned char, uchar)
EMULATED_VECTOR(short, short)
EMULATED_VECTOR(unsigned short, ushort)
EMULATED_VECTOR(int, int)
EMULATED_VECTOR(float, float)
EMULATED_VECTOR(double, double)
struct alignas(8) uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
static inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

namespace emulator {
extern void *dynamic_shared;
// rank returns the calling thread's number in its block. words has a word for each
// thread.
int rank();
extern uint64_t words[1024];
// wait_block and wait_warp return when all threads of the block, or all threads of the
// warp in the mask, have called them.
void wait_block();
void wait_warp(unsigned mask);
// trap ends the launch with an error.
void trap();

// exchange returns the value that lane from of the warp passed.
template <typename T>
T exchange(unsigned mask, T value, int from) {
	static_assert(sizeof(T) <= 8, "values of up to 8 bytes can be shuffled");
	int first = rank() & ~31;
	memcpy(&words[rank()], &value, sizeof(T));
	wait_warp(mask);
	memcpy(&value, &words[first + from], sizeof(T));
	wait_warp(mask);
	return value;
}

template <typename Get>
auto gather(Get get) {
	int n = blockDim.x * blockDim.y * blockDim.z;
	auto result = get(n);
	wait_block();
	return result;
}

typedef void (*Invoke)(const uint64_t *args);

struct Kernel {
	const char *module, *name;
	int args;
	Invoke invoke;
	const Kernel *next;
	Kernel(const char *module, const char *name, int args, Invoke invoke);
};

template <typename T>
T argument(uint64_t bits) {
	T v;
	memcpy(&v, &bits, sizeof(T));
	return v;
}

template <typename... A, size_t... I>
void call(void (*f)(A...), const uint64_t *args, std::index_sequence<I...>) {
	f(argument<A>(args[I])...);
}

template <typename... A>
void call(void (*f)(A...), const uint64_t *args) {
	call(f, args, std::index_sequence_for<A...>());
}

template <typename... A>
constexpr int count(void (*)(A...)) { return sizeof...(A); }
}

#define KERNEL(module, name) \
	static const emulator::Kernel module##_##name( \
		#module, #name, emulator::count(module::name), [](const uint64_t *args) { emulator::call(module::name, args); });

static inline void __syncthreads() { emulator::wait_block(); }
static inline int __syncthreads_count(int p) {
	emulator::words[emulator::rank()] = p != 0;
	emulator::wait_block();
	return emulator::gather([](int n) { int c = 0; for (int i = 0; i < n; i++) c += emulator::words[i]; return c; });
}
static inline int __syncthreads_or(int p) { return __syncthreads_count(p) > 0; }
static inline int __syncthreads_and(int p) { return __syncthreads_count(p) == int(blockDim.x * blockDim.y * blockDim.z); }
static inline void __syncwarp(unsigned mask = 0xffffffff) { emulator::wait_warp(mask); }
static inline void __trap() { emulator::trap(); }
static inline void __threadfence() {}
static inline void __threadfence_block() {}

template <typename T>
T __shfl_sync(unsigned mask, T v, int from, int width = 32) {
	int lane = emulator::rank() & 31;
	return emulator::exchange(mask, v, (lane & ~(width - 1)) | (from & (width - 1)));
}
template <typename T>
T __shfl_up_sync(unsigned mask, T v, unsigned delta, int width = 32) {
	int lane = emulator::rank() & 31, from = lane - int(delta);
	return emulator::exchange(mask, v, from < (lane & ~(width - 1)) ? lane : from);
}
template <typename T>
T __shfl_down_sync(unsigned mask, T v, unsigned delta, int width = 32) {
	int lane = emulator::rank() & 31, from = lane + int(delta);
	return emulator::exchange(mask, v, from > (lane | (width - 1)) ? lane : from);
}
template <typename T>
T __shfl_xor_sync(unsigned mask, T v, int bits, int width = 32) {
	int lane = emulator::rank() & 31, from = lane ^ bits;
	return emulator::exchange(mask, v, from > (lane | (width - 1)) ? lane : from);
}
static inline unsigned __ballot_sync(unsigned mask, int p) {
	int first = emulator::rank() & ~31;
	emulator::words[emulator::rank()] = p != 0;
	emulator::wait_warp(mask);
	unsigned b = 0;
	for (int i = 0; i < 32; i++)
		if (mask >> i & 1 && emulator::words[first + i]) b |= 1u << i;
	emulator::wait_warp(mask);
	return b;
}
static inline int __any_sync(unsigned mask, int p) { return __ballot_sync(mask, p) != 0; }
static inline int __all_sync(unsigned mask, int p) { return __ballot_sync(mask, p) == mask; }

template <typename T, typename U> T atomicAdd(T *p, U v) { T old = *p; *p = old + (T)v; return old; }
template <typename T, typename U> T atomicSub(T *p, U v) { T old = *p; *p = old - (T)v; return old; }
template <typename T, typename U> T atomicMin(T *p, U v) { T old = *p; if ((T)v < old) *p = (T)v; return old; }
template <typename T, typename U> T atomicMax(T *p, U v) { T old = *p; if ((T)v > old) *p = (T)v; return old; }
template <typename T, typename U> T atomicOr(T *p, U v) { T old = *p; *p = old | (T)v; return old; }
template <typename T, typename U> T atomicAnd(T *p, U v) { T old = *p; *p = old & (T)v; return old; }
template <typename T, typename U> T atomicExch(T *p, U v) { T old = *p; *p = (T)v; return old; }
template <typename T, typename U, typename V> T atomicCAS(T *p, U expected, V v) {
	T old = *p;
	if (old == (T)expected) *p = (T)v;
	return old;
}

template <typename A, typename B> typename std::common_type<A, B>::type min(A a, B b) {
	typedef typename std::common_type<A, B>::type T;
	return (T)b < (T)a ? (T)b : (T)a;
}
template <typename A, typename B> typename std::common_type<A, B>::type max(A a, B b) {
	typedef typename std::common_type<A, B>::type T;
	return (T)a < (T)b ? (T)b : (T)a;
}
template <typename T> T __ldg(const T *p) { return *p; }
static inline int __popc(unsigned v) { return __builtin_popcount(v); }
static inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
static inline int __clz(int v) { return v ? __builtin_clz(v) : 32; }
static inline int __clzll(long long v) { return v ? __builtin_clzll(v) : 64; }
static inline int __ffs(int v) { return __builtin_ffs(v); }
static inline int __mulhi(int a, int b) { return (int64_t)a * b >> 32; }
static inline unsigned __sad(int a, int b, unsigned c) { return (a > b ? (unsigned)a - b : (unsigned)b - a) + c; }
static inline unsigned __umulhi(unsigned a, unsigned b) { return (uint64_t)a * b >> 32; }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned __int128)a * b >> 64; }
static inline float __fadd_rn(float a, float b) { return a + b; }
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
static inline float __frcp_rn(float a) { return 1 / a; }
static inline float __fdiv_rn(float a, float b) { return a / b; }
static inline double __dadd_rn(double a, double b) { return a + b; }
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline float __int2float_rn(int v) { return v; }
static inline int __float2int_rn(float v) { return (int)rintf(v); }
static inline int __float2int_rd(float v) { return (int)floorf(v); }
static inline int __float2int_rz(float v) { return (int)v; }
static inline int __float_as_int(float v) { int i; memcpy(&i, &v, 4); return i; }
static inline float __int_as_float(int v) { float f; memcpy(&f, &v, 4); return f; }
// __byte_perm returns the bytes of y:x that the low three bits of each digit of s select.
static inline unsigned __byte_perm(unsigned x, unsigned y, unsigned s) {
	uint64_t bytes = (uint64_t)y << 32 | x;
	unsigned r = 0;
	for (int i = 0; i < 4; i++) r |= (unsigned)(bytes >> 8 * (s >> 4 * i & 7) & 0xff) << 8 * i;
	return r;
}
static inline unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c) { return c + (a & 0xffff) * (b & 0xff) + (a >> 16) * (b >> 8 & 0xff); }
static inline unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c) { return __dp2a_lo(a, b >> 16, c); }
