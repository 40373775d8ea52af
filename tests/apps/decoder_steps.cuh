/* SPDX-License-Identifier: Apache-2.0 */
/* The decoder's steps in smaller steps, as options ask for them. */
#ifndef DECODER_STEPS_CUH
#define DECODER_STEPS_CUH

#include <cmath>
#include "decoder_model.cuh"
#include "decoder_steps_kernels.cuh"

enum { LORA_RANK = 8 };

/* moves: see launched() */
#define LAUNCH(m, moves, kernel, grid, block, ...)                                                 \
	do {                                                                                       \
		kernel<<<grid, block, 0, (m)->stream>>>(__VA_ARGS__);                              \
		launched(m, moves);                                                                \
	} while (0)
/* For each of n elements. */
#define LAUNCH_EACH(m, n, kernel, ...) LAUNCH(m, false, kernel, blocks(n), BLOCK, __VA_ARGS__)

static bool is(const char *option, const char *value)
{
	return !strcmp(option, value);
}

template <typename T> static T *zeros(size_t n)
{
	T *p;

	CHECK(cudaMalloc(&p, n * sizeof(T)));
	CHECK(cudaMemset(p, 0, n * sizeof(T)));
	return p;
}

template <typename T> static T *uploaded(const std::vector<T> &host)
{
	T *p = zeros<T>(host.size());

	CHECK(cudaMemcpy(p, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
	return p;
}

/* cos and sin of each position and pair; the second half of a head turns as the first. */
static void make_tables(struct model *m)
{
	const int head_dim = m->o.dim / m->o.heads;
	std::vector<real> c, s;

	for (int t = 0; t < m->limit; t++)
		for (int i = 0; i < head_dim; i++) {
			double by = pow(10000.0, -2.0 * (i % (head_dim / 2)) / head_dim) * t;

			c.push_back(host_real((float)cos(by)));
			s.push_back(host_real((float)sin(by)));
		}
	m->s.cos_table = uploaded(c);
	m->s.sin_table = uploaded(s);
}

static unsigned char to_8bits(float v, bool fp8)
{
	unsigned char byte;
	signed char i = (signed char)lrintf(v);
	__nv_fp8_e4m3 e(v);

	memcpy(&byte, fp8 ? (const void *)&e : &i, 1);
	return byte;
}

/* An embedding of 8-bit numbers, each row with a scale of its own. */
static void make_embedding8(struct model *m, uint64_t *state)
{
	const bool fp8 = is(m->o.dequant, "fp8");
	const size_t d = m->o.dim;
	std::vector<unsigned char> table;
	std::vector<float> scales;

	for (int t = 0; t < m->o.vocab; t++) {
		std::vector<float> row(d);
		float most = 1e-6f;

		for (float &v : row) {
			v = next_random(state);
			most = fmaxf(most, fabsf(v));
		}
		scales.push_back(most / (fp8 ? 448.0f : 127.0f));
		for (float v : row)
			table.push_back(to_8bits(v / scales.back(), fp8));
	}
	m->s.table8 = uploaded(table);
	m->s.scales8 = uploaded(scales);
	m->s.rows8 = zeros<unsigned char>(m->o.prompt * d);
	m->s.scale8 = zeros<float>(m->o.prompt);
}

/* From a generator of their own: options do not change the other weights. */
static void steps_make(struct model *m)
{
	const struct options *o = &m->o;
	const size_t d = o->dim, f = o->ffn, rows = o->prompt, n = rows * (d > f ? d : f);
	struct scratch *s = &m->s;
	uint64_t state = 0x2545f4914f6cdd1du;

	if (o->plain())
		return;
	for (struct layer &l : m->layers) {
		l.att_bias = weights(d, 0.1f, 0.0f, &state);
		l.ffn_bias = weights(d, 0.1f, 0.0f, &state);
		l.up_bias = weights(f, 0.3f, 0.0f, &state);
		l.lora_a = weights(LORA_RANK * d, 1.7f / sqrtf((float)d), 0.0f, &state);
		l.lora_b = weights(d * LORA_RANK, 0.6f, 0.0f, &state);
		/* What no position has been written to yet is read, and masked. */
		CHECK(cudaMemset(l.keys, 0, m->limit * d * sizeof(real)));
		CHECK(cudaMemset(l.values, 0, m->limit * d * sizeof(real)));
	}
	s->final_bias = weights(d, 0.1f, 0.0f, &state);
	s->f0 = zeros<float>(n);
	s->f1 = zeros<float>(n);
	s->mean = zeros<float>(rows);
	s->rstd = zeros<float>(rows);
	s->r0 = zeros<real>(n);
	s->r1 = zeros<real>(n);
	s->r2 = zeros<real>(n);
	s->r3 = zeros<real>(n);
	s->k = zeros<real>(n);
	s->k_turned = zeros<real>(n);
	s->q_turned = zeros<real>(n);
	s->mask = zeros<float>(rows * m->limit);
	s->seen = zeros<bool>(rows * m->limit);
	s->cos_now = zeros<real>(rows * d);
	s->sin_now = zeros<real>(rows * d);
	make_tables(m);
	if (!is(o->dequant, "no"))
		make_embedding8(m, &state);
}

/* Rows in float: x itself where it is. */
static const float *raised(struct model *m, float *to, const float *x, int n)
{
	return x;
}

static const float *raised(struct model *m, float *to, const __nv_bfloat16 *x, int n)
{
	LAUNCH_EACH(m, n, cast_up_kernel, to, (const real *)x, n);
	return to;
}

static const float *lowered(struct model *m, float *to, const float *x, int n)
{
	return x;
}

static const __nv_bfloat16 *lowered(struct model *m, __nv_bfloat16 *to, const float *x, int n)
{
	LAUNCH_EACH(m, n, cast_down_kernel, (real *)to, x, n);
	return to;
}

/* Square, mean, plus eps, 1 / root: of x in float, which is what is not yet rounded. */
static void inverse_deviation(struct model *m, float *to, const float *x, int rows)
{
	const int d = m->o.dim, n = rows * d;

	LAUNCH_EACH(m, n, square_kernel, m->s.f1, x, n);
	LAUNCH(m, false, mean_kernel, rows, BLOCK, to, m->s.f1, d);
	LAUNCH_EACH(m, rows, add_number_kernel, to, EPS, rows);
	LAUNCH_EACH(m, rows, rsqrt_kernel, to, rows);
}

/* RMSNorm in six kernels, eight with casts. */
static void norm_chain(struct model *m, real *out, const real *x, const real *weight, int rows)
{
	const int d = m->o.dim, n = rows * d;
	const float *up = raised(m, m->s.f0, x, n);

	inverse_deviation(m, m->s.rstd, up, rows);
	LAUNCH_EACH(m, n, mul_row_kernel, m->s.f1, up, m->s.rstd, rows, d);
	LAUNCH_EACH(m, n, weight_kernel, out, lowered(m, m->s.r0, m->s.f1, n), weight, rows, d);
}

/* LayerNorm in nine kernels, eleven with casts. */
static void layer_chain(struct model *m, real *out, const real *x, const real *weight,
			const real *bias, int rows)
{
	const int d = m->o.dim, n = rows * d;
	const float *up = raised(m, m->s.f0, x, n);

	LAUNCH(m, false, mean_kernel, rows, BLOCK, m->s.mean, up, d);
	LAUNCH_EACH(m, n, sub_row_kernel, m->s.f0, up, m->s.mean, rows, d);
	inverse_deviation(m, m->s.rstd, m->s.f0, rows);
	LAUNCH_EACH(m, n, mul_row_kernel, m->s.f1, m->s.f0, m->s.rstd, rows, d);
	LAUNCH_EACH(m, n, weight_kernel, out, lowered(m, m->s.r0, m->s.f1, n), weight, rows, d);
	LAUNCH_EACH(m, n, bias_kernel, out, bias, rows, d);
}

static void layernorm(struct model *m, real *out, const real *x, const real *weight,
		      const real *bias, int rows)
{
	LAUNCH(m, false, layernorm_kernel, rows, BLOCK, out, m->s.mean, m->s.rstd, x, weight, bias,
	       m->o.dim, EPS);
}

/* a + b in float, with casts before and behind it. */
static void add_casting(struct model *m, real *out, const real *a, const real *b, int n)
{
	LAUNCH_EACH(m, n, cast_up_kernel, m->s.f0, a, n);
	LAUNCH_EACH(m, n, cast_up_kernel, m->s.f1, b, n);
	LAUNCH_EACH(m, n, add_float_kernel, m->s.f0, m->s.f0, m->s.f1, n);
	LAUNCH_EACH(m, n, cast_down_kernel, out, m->s.f0, n);
}

/* x / 2 * (1 + tanh(k * (x + c * x^3))) in nine kernels */
static void gelu_chain(struct model *m, real *x, int n)
{
	real *t = m->s.r0;

	LAUNCH_EACH(m, n, product_kernel, t, x, x, n);
	LAUNCH_EACH(m, n, product_kernel, t, t, x, n);
	LAUNCH_EACH(m, n, scale_kernel, t, t, 0.044715f, n);
	LAUNCH_EACH(m, n, add_kernel, t, x, t, n);
	LAUNCH_EACH(m, n, scale_kernel, t, t, 0.7978845608f, n);
	LAUNCH_EACH(m, n, tanh_kernel, t, n);
	LAUNCH_EACH(m, n, shift_kernel, t, 1.0f, n);
	LAUNCH_EACH(m, n, scale_kernel, x, x, 0.5f, n);
	LAUNCH_EACH(m, n, product_kernel, x, x, t, n);
}

/* What each row of this pass sees. */
static void make_masks(struct model *m, int first, int rows)
{
	if (m->step)
		LAUNCH(m, true, make_mask_at_kernel, rows, BLOCK, m->s.mask, m->s.seen, first,
		       m->limit, m->step);
	else
		LAUNCH(m, true, make_mask_kernel, rows, BLOCK, m->s.mask, m->s.seen, first,
		       m->limit);
}

/* Scores of all positions, scaled, masked, softmax. */
static void split_softmax(struct model *m, const struct layer *l, const real *q, int rows)
{
	const int h = m->o.heads, head_dim = m->o.dim / h, n = rows * h * m->limit;

	LAUNCH(m, false, all_scores_kernel, dim3(h, rows), 64, m->scores, q, l->keys, m->o.dim,
	       head_dim, m->limit);
	LAUNCH_EACH(m, n, scale_scores_kernel, m->scores, 1.0f / sqrtf((float)head_dim), n);
	if (is(m->o.softmax, "where"))
		LAUNCH_EACH(m, n, choose_kernel, m->scores, m->s.seen, -INFINITY, rows, h,
			    m->limit);
	else
		LAUNCH_EACH(m, n, add_mask_kernel, m->scores, m->s.mask, rows, h, m->limit);
	LAUNCH(m, false, softmax_row_kernel, rows * h, 64, m->scores, m->limit);
}

static void look_up_tables(struct model *m, int first, int rows)
{
	const int head_dim = m->o.dim / m->o.heads;
	const struct scratch *s = &m->s;

	if (m->step)
		LAUNCH(m, true, look_up_at_kernel, rows, BLOCK, s->cos_now, s->sin_now,
		       s->cos_table, s->sin_table, head_dim, first, m->step);
	else
		LAUNCH(m, true, look_up_kernel, rows, BLOCK, s->cos_now, s->sin_now, s->cos_table,
		       s->sin_table, head_dim, first);
}

/* x * cos + (second half negated, first half) * sin, in five kernels */
static void rotate_half(struct model *m, real *out, const real *x, int rows)
{
	const int h = m->o.heads, head_dim = m->o.dim / h, half = head_dim / 2;
	const int n = rows * m->o.dim;
	const struct scratch *s = &m->s;

	LAUNCH_EACH(m, n, mul_table_kernel, s->r0, x, s->cos_now, rows, h, head_dim);
	LAUNCH_EACH(m, n / 2, neg_half_kernel, s->r1, x + half, rows * h, half);
	LAUNCH_EACH(m, n, cat_half_kernel, s->r2, s->r1, x, rows * h, half);
	LAUNCH_EACH(m, n, mul_table_kernel, s->r3, s->r2, s->sin_now, rows, h, head_dim);
	LAUNCH_EACH(m, n, add_kernel, out, s->r0, s->r3, n);
}

/* Keys go to the cache once they are turned. */
static void keep_keys(struct model *m, real *cache, int rows)
{
	const int n = rows * m->o.dim;

	if (m->step)
		LAUNCH(m, true, keep_at_kernel, blocks(n), BLOCK, cache, m->s.k_turned, n, m->o.dim,
		       m->step);
	else
		LAUNCH(m, true, keep_kernel, blocks(n), BLOCK, cache, m->s.k_turned, n);
}

static void embed_8bits(struct model *m, int first, int rows)
{
	const struct scratch *s = &m->s;
	const int d = m->o.dim, n = rows * d;

	if (m->step)
		LAUNCH(m, true, embed8_at_kernel, rows, BLOCK, s->rows8, s->scale8, s->table8,
		       s->scales8, m->tokens + first, d, m->step);
	else
		LAUNCH(m, true, embed8_kernel, rows, BLOCK, s->rows8, s->scale8, s->table8,
		       s->scales8, m->tokens + first, d);
	if (is(m->o.dequant, "fp8"))
		LAUNCH_EACH(m, n, dequantise_fp8_kernel, m->x, (const __nv_fp8_e4m3 *)s->rows8,
			    s->scale8, rows, d);
	else
		LAUNCH_EACH(m, n, dequantise_int8_kernel, m->x, (const signed char *)s->rows8,
			    s->scale8, rows, d);
}

/* cap * tanh(logits / cap) */
static void cap_logits(struct model *m)
{
	const int n = m->o.vocab;

	LAUNCH_EACH(m, n, scale_kernel, m->logits, m->logits, 1.0f / 30.0f, n);
	LAUNCH_EACH(m, n, tanh_kernel, m->logits, n);
	LAUNCH_EACH(m, n, scale_kernel, m->logits, m->logits, 30.0f, n);
}

#endif
