/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of graph_chain: (a + b) * s + c one launch each, for whole numbers and for floats. */
#ifndef GRAPH_CHAIN_KERNELS_CUH
#define GRAPH_CHAIN_KERNELS_CUH

#define GRAPH_CHAIN_EACH(name, type, value)                                                        \
	__global__ void name(type *out, const type *a, const type *b, int n)                       \
	{                                                                                          \
		int i = blockIdx.x * blockDim.x + threadIdx.x;                                     \
                                                                                                   \
		if (i < n)                                                                         \
			out[i] = value;                                                            \
	}

GRAPH_CHAIN_EACH(chain_iadd, int, (int)((unsigned)a[i] + (unsigned)b[i]))
GRAPH_CHAIN_EACH(chain_imul, int, (int)((unsigned)a[i] * (unsigned)b[i]))
GRAPH_CHAIN_EACH(chain_fadd, float, a[i] + b[i])
GRAPH_CHAIN_EACH(chain_fmul, float, a[i] * b[i])

/* out = a * s */
__global__ void chain_fscale(float *out, const float *a, float s, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = a[i] * s;
}

/* No signature knows these. What comes next depends on all that was left. */
GRAPH_CHAIN_EACH(chain_imix, int, (int)((unsigned)a[i] * 2654435761u + (unsigned)b[n - 1 - i]))
GRAPH_CHAIN_EACH(chain_fmix, float, a[i] / (1.0f + fabsf(a[i])) - 0.25f * b[n - 1 - i])

#endif
