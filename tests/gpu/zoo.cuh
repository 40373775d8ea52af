/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RMSNorms as people write them by hand, one for each way of adding a row up, and spellings of the
 * rest, for the probe to recognise. Included once for each flavour that a program may be built in:
 *   ZOO(name)   the kernel's name in this flavour
 *   ZOO_FAST    1 where the flavour is --use_fast_math: the host compiler has no such flag, so what
 *               nvcc does to / and sqrtf is written out for it
 */
#ifndef ZOO
#error "define ZOO(name) and ZOO_FAST first"
#endif

#if defined(__CUDACC__) || !ZOO_FAST
#define ZOO_DIV(a, b) ((a) / (b))
#define ZOO_SQRT(a) sqrtf(a)
#define ZOO_RCPSQRT(a) (1.0f / sqrtf(a))
#else
#define ZOO_DIV(a, b) __fdividef(a, b)
#define ZOO_SQRT(a) softgpu::approx_sqrt(a)
#define ZOO_RCPSQRT(a) rsqrtf(a)
#endif

#ifndef ZOO_COMMON
#define ZOO_COMMON
typedef __nv_bfloat16 zoo_bf16;

__device__ inline float zoo_load(float v)
{
	return v;
}
__device__ inline float zoo_load(zoo_bf16 v)
{
	return __bfloat162float(v);
}
__device__ inline void zoo_store(float *p, float v)
{
	*p = v;
}
__device__ inline void zoo_store(zoo_bf16 *p, float v)
{
	*p = __float2bfloat16(v);
}

/* Sum over a warp, in lane 0: distances 16 to 1, or 1 to 16 as CUB goes. */
__device__ inline float zoo_warp_down(float v)
{
	for (int d = 16; d > 0; d /= 2)
		v += __shfl_down_sync(0xffffffffu, v, d);
	return v;
}
__device__ inline float zoo_warp_up(float v)
{
	for (int d = 1; d < 32; d *= 2)
		v += __shfl_down_sync(0xffffffffu, v, d);
	return v;
}
__device__ inline float zoo_warp_xor(float v)
{
	for (int d = 16; d > 0; d >>= 1)
		v += __shfl_xor_sync(0xffffffffu, v, d);
	return v;
}

/* Over a block: the first warp reduces the warps' sums; or one thread adds them in order. */
__device__ inline float zoo_block_first(float v)
{
	__shared__ float sums[32];
	int lane = threadIdx.x % 32, warp = threadIdx.x / 32;

	v = zoo_warp_down(v);
	if (lane == 0)
		sums[warp] = v;
	__syncthreads();
	if (warp == 0) {
		v = lane < (int)blockDim.x / 32 ? sums[lane] : 0.0f;
		v = zoo_warp_down(v);
		if (lane == 0)
			sums[0] = v;
	}
	__syncthreads();
	return sums[0];
}
__device__ inline float zoo_block_cub(float v)
{
	__shared__ float sums[33];

	v = zoo_warp_up(v);
	if (threadIdx.x % 32 == 0)
		sums[threadIdx.x / 32] = v;
	__syncthreads();
	if (threadIdx.x == 0) {
		for (int w = 1; w < (int)blockDim.x / 32; w++)
			v += sums[w];
		sums[32] = v;
	}
	__syncthreads();
	return sums[32];
}
__device__ inline float zoo_block_halving(float v)
{
	__shared__ float sums[1024];

	sums[threadIdx.x] = v;
	__syncthreads();
	for (int d = blockDim.x / 2; d > 0; d /= 2) {
		if ((int)threadIdx.x < d)
			sums[threadIdx.x] += sums[threadIdx.x + d];
		__syncthreads();
	}
	return sums[0];
}
__device__ inline float zoo_block_one(float v)
{
	__shared__ float sums[1024];
	__shared__ float total;

	sums[threadIdx.x] = v;
	__syncthreads();
	if (threadIdx.x == 0) {
		float t = 0;

		for (int i = 0; i < (int)blockDim.x; i++)
			t += sums[i];
		total = t;
	}
	__syncthreads();
	return total;
}
#endif

#define ZOO_KERNEL(name, type) \
	extern "C" __global__ void ZOO(name)(type *out, const type *x, const type *w, int n, float eps)
#define ZOO_ROW(type)                      \
	x += (size_t)blockIdx.x * n;       \
	out += (size_t)blockIdx.x * n;     \
	float ss = 0

/* The add before each. */
#define ZOO_ADD(name, type)                                                                        \
	extern "C" __global__ void ZOO(name)(type *out, const type *a, const type *b, int n)       \
	{                                                                                          \
		int i = blockIdx.x * blockDim.x + threadIdx.x;                                     \
                                                                                                   \
		if (i < n)                                                                         \
			zoo_store(&out[i], zoo_load(a[i]) + zoo_load(b[i]));                       \
	}
ZOO_ADD(add_f32, float)
ZOO_ADD(add_bf16, zoo_bf16)

/* How the usual strided sum is reduced, and how the scale is spelled. */
#define ZOO_STRIDED(name, type, reduce, scale_of, result)                                          \
	ZOO_KERNEL(name, type)                                                                     \
	{                                                                                          \
		ZOO_ROW(type);                                                                     \
		for (int i = threadIdx.x; i < n; i += blockDim.x) {                                \
			float v = zoo_load(x[i]);                                                  \
			ss += v * v;                                                               \
		}                                                                                  \
		ss = reduce(ss);                                                                   \
		float s = scale_of;                                                                \
		for (int i = threadIdx.x; i < n; i += blockDim.x) {                                \
			float v = zoo_load(x[i]), g = zoo_load(w[i]);                              \
			zoo_store(&out[i], result);                                                \
		}                                                                                  \
	}
ZOO_STRIDED(first_f32, float, zoo_block_first, rsqrtf(ZOO_DIV(ss, n) + eps), v * s * g)
ZOO_STRIDED(cub_f32, float, zoo_block_cub, ZOO_RCPSQRT(ZOO_DIV(ss, n) + eps), g * (s * v))
ZOO_STRIDED(halving_f32, float, zoo_block_halving, rsqrtf(ss * (1.0f / n) + eps), v * (s * g))
ZOO_STRIDED(one_f32, float, zoo_block_one, rsqrtf(ZOO_DIV(ss, n) + eps), (v * g) * s)
ZOO_STRIDED(xdiv_f32, float, zoo_block_first, ZOO_SQRT(ZOO_DIV(ss, n) + eps), ZOO_DIV(v, s) * g)
ZOO_STRIDED(oneplus_f32, float, zoo_block_first, rsqrtf(ZOO_DIV(ss, n) + eps), v * s * (1.0f + g))
ZOO_STRIDED(first_bf16, zoo_bf16, zoo_block_first, rsqrtf(ZOO_DIV(ss, n) + eps), v * s * g)
ZOO_STRIDED(cub_bf16, zoo_bf16, zoo_block_cub, ZOO_RCPSQRT(ZOO_DIV(ss, n) + eps), g * (s * v))
ZOO_STRIDED(round_bf16, zoo_bf16, zoo_block_first, rsqrtf(ZOO_DIV(ss, n) + eps),
	    g * __bfloat162float(__float2bfloat16(v * s)))

/* eps is a literal of type double. */
extern "C" __global__ void ZOO(epsd_f32)(float *out, const float *x, const float *w, int n)
{
	ZOO_ROW(float);
	for (int i = threadIdx.x; i < n; i += blockDim.x)
		ss += x[i] * x[i];
	ss = zoo_block_first(ss);
	float s = rsqrtf(ZOO_DIV(ss, n) + 1e-5);
	for (int i = threadIdx.x; i < n; i += blockDim.x)
		out[i] = x[i] * s * w[i];
}

/* A warp for each row, several rows in a block. */
extern "C" __global__ void ZOO(warp_f32)(float *out, const float *x, const float *w, int rows, int n, float eps)
{
	int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
	float ss = 0;

	if (row >= rows)
		return;
	x += (size_t)row * n;
	out += (size_t)row * n;
	for (int i = lane; i < n; i += 32)
		ss += x[i] * x[i];
	ss = zoo_warp_xor(ss);
	float s = rsqrtf(ZOO_DIV(ss, n) + eps);
	for (int i = lane; i < n; i += 32)
		out[i] = x[i] * s * w[i];
}

/* A thread for each row. */
extern "C" __global__ void ZOO(thread_f32)(float *out, const float *x, const float *w, int rows, int n, float eps)
{
	int row = blockIdx.x * blockDim.x + threadIdx.x;
	float ss = 0;

	if (row >= rows)
		return;
	x += (size_t)row * n;
	out += (size_t)row * n;
	for (int i = 0; i < n; i++)
		ss += x[i] * x[i];
	float s = ZOO_RCPSQRT(ZOO_DIV(ss, n) + eps);
	for (int i = 0; i < n; i++)
		out[i] = w[i] * (s * x[i]);
}

/* A GPU faults where it is read from an address that is no multiple of the access; one of software
 * does as it is told. */
#ifdef __CUDACC__
#define ZOO_ALIGNED(p, bytes)
#else
#define ZOO_ALIGNED(p, bytes)       \
	if ((size_t)(p) % (bytes))  \
	__trap()
#endif

/* Four at a time: summed up first; added one by one; in an accumulator each. n % 4 singly. */
#define ZOO_VEC4(name, declare, accumulate, total)                                                 \
	ZOO_KERNEL(name, float)                                                                    \
	{                                                                                          \
		ZOO_ROW(float);                                                                    \
		ZOO_ALIGNED(x, 16);                                                                \
		declare;                                                                           \
		for (int i = threadIdx.x; i < n / 4; i += blockDim.x) {                            \
			float4 v = ((const float4 *)x)[i];                                         \
			accumulate;                                                                \
		}                                                                                  \
		total;                                                                             \
		for (int i = n / 4 * 4 + threadIdx.x; i < n; i += blockDim.x)                      \
			ss += x[i] * x[i];                                                         \
		ss = zoo_block_first(ss);                                                          \
		float s = rsqrtf(ZOO_DIV(ss, n) + eps);                                            \
		for (int i = threadIdx.x; i < n; i += blockDim.x)                                  \
			out[i] = x[i] * s * w[i];                                                  \
	}
ZOO_VEC4(inner4_f32, , ss += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w, )
ZOO_VEC4(chain4_f32, , ss += v.x * v.x; ss += v.y * v.y; ss += v.z * v.z; ss += v.w * v.w, )
ZOO_VEC4(pairs4_f32, , ss += (v.x * v.x + v.y * v.y) + (v.z * v.z + v.w * v.w), )
ZOO_VEC4(lanes4_f32, float4 a = make_float4(0, 0, 0, 0),
	 a.x += v.x * v.x; a.y += v.y * v.y; a.z += v.z * v.z; a.w += v.w * v.w, ss = ((a.x + a.y) + a.z) + a.w)

/* Unrolled by four with an accumulator each; the rest goes to the first. */
ZOO_KERNEL(unroll4_f32, float)
{
	ZOO_ROW(float);
	float a0 = 0, a1 = 0, a2 = 0, a3 = 0;
	int i = threadIdx.x, t = blockDim.x;

	for (; i + 3 * t < n; i += 4 * t) {
		a0 += x[i] * x[i];
		a1 += x[i + t] * x[i + t];
		a2 += x[i + 2 * t] * x[i + 2 * t];
		a3 += x[i + 3 * t] * x[i + 3 * t];
	}
	for (; i < n; i += t)
		a0 += x[i] * x[i];
	ss = (a0 + a1) + (a2 + a3);
	ss = zoo_block_first(ss);
	float s = rsqrtf(ZOO_DIV(ss, n) + eps);
	for (int k = threadIdx.x; k < n; k += blockDim.x)
		out[k] = x[k] * s * w[k];
}

/* Each thread a stretch of its own. */
ZOO_KERNEL(contig_f32, float)
{
	ZOO_ROW(float);
	int each = (n + blockDim.x - 1) / blockDim.x;

	for (int i = threadIdx.x * each; i < (int)(threadIdx.x + 1) * each && i < n; i++)
		ss += x[i] * x[i];
	ss = zoo_block_cub(ss);
	float s = rsqrtf(ZOO_DIV(ss, n) + eps);
	for (int i = threadIdx.x; i < n; i += blockDim.x)
		out[i] = x[i] * s * w[i];
}

/* bf16 by pairs, each pair summed up first; and everything rounded to bf16, the scale too. */
ZOO_KERNEL(pair_bf16, zoo_bf16)
{
	ZOO_ROW(zoo_bf16);
	ZOO_ALIGNED(x, 4);
	for (int i = threadIdx.x; i < n / 2; i += blockDim.x) {
		float2 v = __bfloat1622float2(((const __nv_bfloat162 *)x)[i]);

		ss += v.x * v.x + v.y * v.y;
	}
	if (n % 2 && threadIdx.x == 0)
		ss += zoo_load(x[n - 1]) * zoo_load(x[n - 1]);
	ss = zoo_block_first(ss);
	float s = rsqrtf(ZOO_DIV(ss, n) + eps);
	for (int i = threadIdx.x; i < n; i += blockDim.x)
		zoo_store(&out[i], zoo_load(x[i]) * s * zoo_load(w[i]));
}
ZOO_KERNEL(native_bf16, zoo_bf16)
{
	ZOO_ROW(zoo_bf16);
	for (int i = threadIdx.x; i < n; i += blockDim.x)
		ss += zoo_load(x[i]) * zoo_load(x[i]);
	ss = zoo_block_halving(ss);
	zoo_bf16 s = __float2bfloat16(rsqrtf(ZOO_DIV(ss, n) + eps));
	for (int i = threadIdx.x; i < n; i += blockDim.x)
		out[i] = __hmul(__hmul(x[i], s), w[i]);
}

/* From the end of the row: an order that no candidate has. */
ZOO_KERNEL(backwards_bf16, zoo_bf16)
{
	ZOO_ROW(zoo_bf16);
	for (int i = n - 1 - (int)threadIdx.x; i >= 0; i -= blockDim.x)
		ss += zoo_load(x[i]) * zoo_load(x[i]);
	ss = zoo_block_first(ss);
	float s = rsqrtf(ZOO_DIV(ss, n) + eps);
	for (int i = threadIdx.x; i < n; i += blockDim.x)
		zoo_store(&out[i], zoo_load(x[i]) * s * zoo_load(w[i]));
}

#undef ZOO_DIV
#undef ZOO_SQRT
#undef ZOO_RCPSQRT
#undef ZOO_KERNEL
#undef ZOO_ROW
#undef ZOO_ADD
#undef ZOO_STRIDED
#undef ZOO_VEC4
