/* SPDX-License-Identifier: Apache-2.0 */
/* Models as eager frameworks launch them, written down launch by launch (torch.h), and what the
 * planner shall make of them. */
#ifndef AF_TESTS_UNIT_MODELS_H
#define AF_TESTS_UNIT_MODELS_H

#include "matcher/group.h"
#include "tests/unit/torch.h"

static enum dtype low; /* of weights and activations */
static int batch, length, heads, kv_heads, head, rotary, hidden, ffn;
static struct tensor ffn_up, ffn_down, norm_weight, norm_bias, head_weight, proj_q, proj_kv, cosine,
	sine, mask;

/* Parts of models. Each drops what Python would have dropped. */

static bool is_low(void)
{
	return low != DT_f32;
}

static struct tensor replace(struct tensor old, struct tensor now)
{
	t_drop(old);
	return now;
}

/* x / sqrt(mean(x^2) + eps), in f32; x is left alone. */
static struct tensor normed(struct tensor x)
{
	struct tensor h = is_low() ? t_unary(OP_copy, x, DT_f32) : x, square, mean, sum, root, out;

	square = t_unary(OP_square, h, DT_f32);
	mean = t_mean(square);
	t_drop(square);
	sum = t_number(OP_add, mean, 1e-6);
	root = t_unary(OP_rsqrt, sum, DT_f32);
	t_drop(sum);
	out = t_binary(OP_mul, h, root);
	t_drop(root);
	if (is_low())
		t_drop(h);
	t_drop(mean);
	return out;
}

static struct tensor rmsnorm(struct tensor x, struct tensor w)
{
	struct tensor h = normed(x);

	if (is_low())
		h = replace(h, t_unary(OP_copy, h, low));
	return replace(h, t_binary(OP_mul, w, h));
}

/* Gemma's: by 1 + w, in f32. */
static struct tensor rmsnorm_plus_one(struct tensor x, struct tensor w)
{
	struct tensor h = normed(x), f = is_low() ? t_unary(OP_copy, w, DT_f32) : w,
		      one = t_number(OP_add, f, 1);

	if (is_low())
		t_drop(f);
	h = replace(h, t_binary(OP_mul, h, one));
	t_drop(one);
	return is_low() ? replace(h, t_unary(OP_copy, h, low)) : h;
}

/* T5's: the variance of a copy, the product of what it was. */
static struct tensor rmsnorm_t5(struct tensor x, struct tensor w)
{
	struct tensor f = is_low() ? t_unary(OP_copy, x, DT_f32) : t_keep(x),
		      square = t_unary(OP_square, f, DT_f32), mean, sum, root, h;

	t_drop(f);
	mean = t_mean(square);
	t_drop(square);
	sum = t_number(OP_add, mean, 1e-6);
	root = t_unary(OP_rsqrt, sum, DT_f32);
	t_drop(sum);
	h = t_binary(OP_mul, x, root);
	t_drop(root);
	t_drop(mean);
	if (is_low())
		h = replace(h, t_unary(OP_copy, h, low));
	return replace(h, t_binary(OP_mul, w, h));
}

/* x * cos + rotate_half(x) * sin, of the first `rotary` columns of each head. */
static struct tensor rope_one(struct tensor x)
{
	const int last = x.ndim - 1;
	struct tensor all = x, a, n, c, m, out;

	x = t_part(x, last, 0, rotary);
	a = t_binary(OP_mul, x, cosine);
	n = t_unary(OP_neg, t_part(x, last, rotary / 2, rotary / 2), low);
	c = t_cat(n, t_part(x, last, 0, rotary / 2));
	t_drop(n);
	m = t_binary(OP_mul, c, sine);
	t_drop(c);
	out = t_binary(OP_add, a, m);
	t_drop(a);
	t_drop(m);
	if (rotary < head)
		out = replace(out, t_cat(out, t_part(all, last, rotary, head - rotary)));
	return out;
}

/* What no decoder knows: attention. */
static struct tensor attend(struct tensor q)
{
	return t_opaque(q.type, 3, (int64_t[]){batch, length, hidden});
}

/* Scores, scaled, masked, and made to add up to one. */
static struct tensor attend_eagerly(struct tensor q, bool wide)
{
	struct tensor s = t_opaque(low, 4, (int64_t[]){batch, heads, length, length});

	s = replace(s, t_number(OP_scale, s, 0.125));
	s = replace(s, t_binary(OP_add, s, mask));
	s = replace(s, t_softmax(s, wide ? DT_f32 : low));
	if (wide && is_low())
		s = replace(s, t_unary(OP_copy, s, low));
	t_drop(s);
	return attend(q);
}

static struct tensor attention(struct tensor h, bool qk_norm, bool eager)
{
	struct tensor q = t_linear(h, proj_q), k, v, out;

	if (qk_norm)
		q = replace(q, rmsnorm(t_cut(q, head), head_weight));
	else
		q = t_cut(q, head);
	k = t_linear(h, proj_kv);
	if (qk_norm)
		k = replace(k, rmsnorm(t_cut(k, head), head_weight));
	else
		k = t_cut(k, head);
	v = t_linear(h, proj_kv);
	t_drop(h);
	if (rotary) {
		struct tensor q2 = rope_one(t_swap(q, 1, 2)), k2 = rope_one(t_swap(k, 1, 2));

		q = replace(q, q2);
		k = replace(k, k2);
	}
	out = eager ? attend_eagerly(q, true) : attend(q);
	t_drop(q);
	t_drop(k);
	t_drop(v);
	return replace(out, t_linear(out, proj_q));
}

static struct tensor gated(struct tensor h, enum opcode code)
{
	struct tensor g = t_linear(h, ffn_up), u;

	g = replace(g, t_unary(code, g, low));
	u = t_linear(h, ffn_up);
	t_drop(h);
	g = replace(g, t_binary(OP_mul, g, u));
	t_drop(u);
	return replace(g, t_linear(g, ffn_down));
}

/* x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))), one kernel each. */
static struct tensor new_gelu(struct tensor x)
{
	struct tensor half = t_number(OP_scale, x, 0.5), t = t_number(OP_pow, x, 3);

	t = replace(t, t_number(OP_scale, t, 0.044715));
	t = replace(t, t_binary(OP_add, x, t));
	t = replace(t, t_number(OP_scale, t, 0.797885));
	t = replace(t, t_unary(OP_tanh, t, low));
	t = replace(t, t_number(OP_add, t, 1));
	t_drop(x);
	half = replace(half, t_binary(OP_mul, half, t));
	t_drop(t);
	return half;
}

static struct tensor add(struct tensor a, struct tensor b)
{
	struct tensor sum = t_binary(OP_add, a, b);

	t_drop(a);
	t_drop(b);
	return sum;
}

/* Models: layers over x. */

enum { LAYERS = 3 };

static struct tensor llama(struct tensor x)
{
	for (int i = 0; i < LAYERS; i++) {
		x = add(x, attention(rmsnorm(x, norm_weight), false, false));
		x = add(x, gated(rmsnorm(x, norm_weight), OP_silu));
	}
	return replace(x, rmsnorm(x, norm_weight));
}

static struct tensor qwen3(struct tensor x)
{
	for (int i = 0; i < LAYERS; i++) {
		x = add(x, attention(rmsnorm(x, norm_weight), true, false));
		x = add(x, gated(rmsnorm(x, norm_weight), OP_silu));
	}
	return replace(x, rmsnorm(x, norm_weight));
}

static struct tensor gemma(struct tensor x)
{
	x = replace(x, t_number(OP_scale, x, 45.25));
	for (int i = 0; i < LAYERS; i++) {
		x = add(x, attention(rmsnorm_plus_one(x, norm_weight), false, false));
		x = add(x, gated(rmsnorm_plus_one(x, norm_weight), OP_gelu_tanh));
	}
	return replace(x, rmsnorm_plus_one(x, norm_weight));
}

static struct tensor gemma2(struct tensor x)
{
	for (int i = 0; i < LAYERS; i++) {
		struct tensor h = attention(rmsnorm_plus_one(x, norm_weight), false, true);

		x = add(x, replace(h, rmsnorm_plus_one(h, norm_weight)));
		h = gated(rmsnorm_plus_one(x, norm_weight), OP_gelu_tanh);
		x = add(x, replace(h, rmsnorm_plus_one(h, norm_weight)));
	}
	return replace(x, rmsnorm_plus_one(x, norm_weight));
}

/* One norm, attention and MLP side by side. */
static struct tensor phi(struct tensor x)
{
	for (int i = 0; i < LAYERS; i++) {
		struct tensor h = t_layernorm(x, norm_weight, norm_bias), a, m;

		a = attention(t_keep(h), false, false);
		m = new_gelu(t_linear(h, ffn_up));
		t_drop(h);
		m = replace(m, t_linear(m, ffn_down));
		x = add(add(a, m), x);
	}
	return replace(x, t_layernorm(x, norm_weight, norm_bias));
}

/* LayerNorm in front, one kernel for the activation. */
static struct tensor before(struct tensor x, enum opcode activation)
{
	for (int i = 0; i < LAYERS; i++) {
		struct tensor h;

		x = add(attention(t_layernorm(x, norm_weight, norm_bias), false, false), x);
		h = t_layernorm(x, norm_weight, norm_bias);
		h = replace(h, t_linear(h, ffn_up));
		h = replace(h, t_unary(activation, h, low));
		x = add(x, replace(h, t_linear(h, ffn_down)));
	}
	return replace(x, t_layernorm(x, norm_weight, norm_bias));
}

static struct tensor opt(struct tensor x)
{
	return before(x, OP_relu);
}

static struct tensor vit(struct tensor x)
{
	return before(x, OP_gelu_erf);
}

/* LayerNorm behind. */
static struct tensor bert(struct tensor x)
{
	for (int i = 0; i < LAYERS; i++) {
		struct tensor h;

		x = add(attention(t_keep(x), false, true), x);
		x = replace(x, t_layernorm(x, norm_weight, norm_bias));
		h = t_linear(x, ffn_up);
		h = replace(h, t_unary(OP_gelu_erf, h, low));
		x = add(replace(h, t_linear(h, ffn_down)), x);
		x = replace(x, t_layernorm(x, norm_weight, norm_bias));
	}
	return x;
}

static struct tensor t5(struct tensor x)
{
	for (int i = 0; i < LAYERS; i++) {
		struct tensor h, u;

		x = add(x, attention(rmsnorm_t5(x, norm_weight), false, true));
		h = rmsnorm_t5(x, norm_weight);
		u = t_linear(h, ffn_up);
		u = new_gelu(u);
		h = replace(h, t_linear(h, ffn_up));
		u = replace(u, t_binary(OP_mul, u, h));
		t_drop(h);
		x = add(x, replace(u, t_linear(u, ffn_down)));
	}
	return replace(x, rmsnorm_t5(x, norm_weight));
}

/*
 * What must come out: fused, and refused because the gate was overwritten; or not worth it: the
 * norm leaves its means where the add has read, which takes a second kernel, and there were no more
 * than two.
 */
struct want {
	enum pattern_id id;
	unsigned fused, refused;
	enum reason why;
};
#define FUSED(name, n)                                                                             \
	{                                                                                          \
		PATTERN_##name, n, 0, REASON_NONE                                                  \
	}
#define REFUSED(name, n)                                                                           \
	{                                                                                          \
		PATTERN_##name, 0, n, REASON_INPUT_OVERWRITTEN                                     \
	}
#define VAIN(name, n)                                                                              \
	{                                                                                          \
		PATTERN_##name, 0, n, REASON_NOT_PROFITABLE                                        \
	}

static const struct model {
	const char *name;
	struct tensor (*run)(struct tensor x);
	int head, kv_heads, rotary;
	struct want want[5];
} model[] = {
	{"llama",
	 llama,
	 64,
	 2,
	 64,
	 {FUSED(add_rmsnorm, 2 * LAYERS), FUSED(rmsnorm, 1), FUSED(rope, LAYERS),
	  REFUSED(silu_mul, LAYERS)}},
	{"llama, all heads",
	 llama,
	 64,
	 8,
	 64,
	 {FUSED(add_rmsnorm, 2 * LAYERS), FUSED(rmsnorm, 1), FUSED(rope, LAYERS),
	  REFUSED(silu_mul, LAYERS)}},
	{"llama, one head",
	 llama,
	 128,
	 1,
	 128,
	 {FUSED(add_rmsnorm, 2 * LAYERS), FUSED(rmsnorm, 1), FUSED(rope, LAYERS),
	  REFUSED(silu_mul, LAYERS)}},
	{"qwen3",
	 qwen3,
	 128,
	 4,
	 128,
	 {FUSED(add_rmsnorm, 2 * LAYERS), FUSED(rmsnorm, 1 + 2 * LAYERS), FUSED(rope, LAYERS),
	  REFUSED(silu_mul, LAYERS)}},
	{"gemma",
	 gemma,
	 256,
	 1,
	 256,
	 {FUSED(add_rmsnorm, 2 * LAYERS), FUSED(rmsnorm, 1), FUSED(rope, LAYERS),
	  REFUSED(gelu_mul, LAYERS)}},
	{"gemma2",
	 gemma2,
	 256,
	 4,
	 256,
	 {FUSED(add_rmsnorm, 2 * LAYERS), FUSED(rmsnorm, 1 + 2 * LAYERS), FUSED(rope, LAYERS),
	  REFUSED(gelu_mul, LAYERS), FUSED(mask_softmax, LAYERS)}},
	{"phi",
	 phi,
	 80,
	 8,
	 32,
	 {FUSED(add_layernorm, LAYERS), FUSED(rope, LAYERS), FUSED(gelu, LAYERS)}},
	{"opt", opt, 64, 8, 0, {VAIN(add_layernorm, 2 * LAYERS)}},
	{"gpt-neox", vit, 96, 8, 24, {VAIN(add_layernorm, 2 * LAYERS), FUSED(rope, LAYERS)}},
	{"vit", vit, 64, 8, 0, {VAIN(add_layernorm, 2 * LAYERS)}},
	{"bert", bert, 64, 8, 0, {VAIN(add_layernorm, 2 * LAYERS), FUSED(mask_softmax, LAYERS)}},
	{"t5",
	 t5,
	 64,
	 8,
	 0,
	 {FUSED(add_rmsnorm, 2 * LAYERS), FUSED(rmsnorm, 1), FUSED(mask_softmax, LAYERS),
	  FUSED(gelu, LAYERS)}},
};

/* All launches of the model, with tensors in `bytes` of memory at `base`. */
static void model_run(const struct model *m, int head_size, uint64_t base, uint64_t bytes,
		      void (*launch)(const struct op *op))
{
	struct tensor x;

	head = head_size;
	heads = 8;
	kv_heads = m->kv_heads;
	rotary = m->rotary * head_size / m->head;
	hidden = heads * head;
	ffn = 4 * hidden;
	t_begin(base, bytes, launch);
	norm_weight = t_new(low, 1, hidden);
	norm_bias = t_new(low, 1, hidden);
	head_weight = t_new(low, 1, head);
	proj_q = t_new(low, 2, hidden, hidden);
	proj_kv = t_new(low, 2, kv_heads * head, hidden);
	ffn_up = t_new(low, 2, ffn, hidden);
	ffn_down = t_new(low, 2, hidden, ffn);
	mask = t_new(low, 4, batch, 1, length, length);
	if (rotary) {
		cosine = t_new(low, 4, batch, 1, length, rotary);
		sine = t_new(low, 4, batch, 1, length, rotary);
	}
	x = t_new(low, 3, batch, length, hidden);
	t_drop(m->run(x));
}

#endif
