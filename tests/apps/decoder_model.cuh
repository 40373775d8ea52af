/* SPDX-License-Identifier: Apache-2.0 */
/* The decoder's options, weights and buffers, and how it launches kernels. */
#ifndef DECODER_MODEL_CUH
#define DECODER_MODEL_CUH

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <cuda_runtime.h>
#include "decoder_kernels.cuh"

#define CHECK(call)                                                                                \
	do {                                                                                       \
		cudaError_t error_ = (call);                                                       \
		if (error_ != cudaSuccess) {                                                       \
			fprintf(stderr, "decoder: %s: %s\n", #call, cudaGetErrorString(error_));   \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)
#define CHECK_LAUNCH() CHECK(cudaGetLastError())

enum { BLOCK = 256 };

static const float EPS = 1e-5f;

struct options {
	int tokens = 32, layers = 2, dim = 288, heads = 6, ffn = 768, vocab = 1024, prompt = 4;
	bool stream = false, time = false, digest = false;
	const char *graph = NULL; /* once, update, params */
	/* Steps in another form, or in smaller steps (decoder_steps.cuh). */
	const char *norm = "rms", *act = "silu", *softmax = "fused", *rope = "fused", *dequant = "no";
	bool cast = false, lora = false, softcap = false;

	bool plain() const
	{
		return !strcmp(norm, "rms") && !strcmp(act, "silu") && !strcmp(softmax, "fused") &&
		       !strcmp(rope, "fused") && !strcmp(dequant, "no") && !cast && !lora && !softcap;
	}
};

struct layer {
	real *att_norm, *wq, *wk, *wv, *wo;
	real *ffn_norm, *gate, *up, *down;
	real *keys, *values; /* [position][dim] */
	real *att_bias, *ffn_bias, *up_bias, *lora_a, *lora_b;
};

/* What steps in smaller steps need. Of as many elements as the activations, or one for each row. */
struct scratch {
	float *f0, *f1, *mean, *rstd;
	real *r0, *r1, *r2, *r3;
	float *mask; /* [row][limit] */
	bool *seen;
	real *cos_table, *sin_table; /* [limit][head_dim] */
	real *cos_now, *sin_now;     /* [row][head_dim] */
	real *k, *k_turned, *q_turned;
	real *final_bias;
	/* The embedding in 8 bits. */
	unsigned char *table8, *rows8;
	float *scales8, *scale8;
};

struct model {
	struct options o;
	int limit; /* positions that the cache holds */
	cudaStream_t stream;
	real *embedding, *final_norm, *logits_weight;
	std::vector<struct layer> layers;
	struct scratch s;
	/* Activations: rows x dim, rows x ffn, ... */
	real *x, *other, *normed, *q, *attended, *delta, *hidden, *hidden_up, *logits;
	float *scores;
	int *tokens; /* [limit + 1] */
	int *step; /* tokens made since the graph was captured; NULL: kernels are told positions */
	std::vector<bool>
		moves; /* of each launch of a pass: do its arguments follow the position? */
};

/* Uniform in [-1, 1), xorshift64*. */
static float next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (float)(int32_t)(*state * 2685821657736338717u >> 32) / 2147483648.0f;
}

static real *device_array(size_t n)
{
	real *p;

	CHECK(cudaMalloc(&p, n * sizeof(real)));
	return p;
}

static real host_real(float v)
{
#ifdef DECODER_BF16
	return __float2bfloat16(v);
#else
	return v;
#endif
}

static real *weights(size_t n, float scale, float mean, uint64_t *state)
{
	std::vector<real> host(n);
	real *p = device_array(n);

	for (size_t i = 0; i < n; i++)
		host[i] = host_real(mean + scale * next_random(state));
	CHECK(cudaMemcpy(p, host.data(), n * sizeof(real), cudaMemcpyHostToDevice));
	return p;
}

/* A kernel was launched. moves: its arguments follow the position. */
static void launched(struct model *m, bool moves)
{
	CHECK_LAUNCH();
	m->moves.push_back(moves);
}

static int blocks(int n)
{
	return (n + BLOCK - 1) / BLOCK;
}

#endif
