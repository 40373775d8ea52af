/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of signatures: compiles sections, makes kernels and the parameters of their launches.
 */
#ifndef AF_TESTS_UNIT_SIGS_H
#define AF_TESTS_UNIT_SIGS_H

#include <inttypes.h>

#include "matcher/decode.h"
#include "matcher/sig.h"

__attribute__((unused)) static void compile(const char *text, unsigned bad)
{
	static struct config c; /* kernels keep pointing into compiled signatures */

	config_free(&c);
	config_load(&c, false);
	assert_int_equal(config_add_text(&c, "t.ini", text), 0);
	assert_int_equal(sig_compile(&c), bad);
}

/* A kernel whose parameters have these sizes (one digit each), laid out as CUDA does. */
__attribute__((unused)) static struct kernel *kernel(const char *name, const char *sizes)
{
	static struct kernel k;
	static struct param p[40];
	uint32_t at = 0, n = 0;

	for (; sizes[n]; n++) {
		uint32_t bytes = (uint32_t)(sizes[n] - '0');

		at = (at + bytes - 1) & ~(bytes - 1);
		p[n] = (struct param){at, bytes};
		at += bytes;
	}
	k = (struct kernel){.name = (char *)name, .nparam = n, .param_bytes = at, .param = p};
	decode_kernel(&k);
	return &k;
}

struct bytes {
	uint8_t b[128];
};

__attribute__((unused)) static void put(struct bytes *b, const struct kernel *k, unsigned i,
					uint64_t v)
{
	memcpy(b->b + k->param[i].offset, &v, k->param[i].bytes);
}

__attribute__((unused)) static bool is_dense(const struct operand *o)
{
	int64_t stride = dtype_bytes((enum dtype)o->dtype);

	for (unsigned d = o->ndim; d-- > 0; stride *= o->size[d])
		if (o->stride[d] != stride)
			return false;
	return true;
}

/* "rmsnorm 2x8: out w f32 2x8 @1000, weight r f16 8 @3000", or the reason why it is opaque; sizes
 * of what has gaps or is broadcast have strides in bytes: "3:32x4:4". */
__attribute__((unused)) static const char *spell(enum reason why, const struct op *op)
{
	static char text[1024];
	int n;

	if (why)
		return reason_word(why);
	n = snprintf(text, sizeof(text), "%s %" PRId64 "x%" PRId64 ":", opcode_name(op->code),
		     op->rows, op->cols);
	for (unsigned i = 0; i < op->noperand; i++) {
		const struct operand *o = &op->operand[i];

		n += snprintf(text + n, sizeof(text) - (size_t)n, "%s %s %s %s ", i ? "," : "",
			      role_name((enum role)o->role), o->access == ACCESS_WRITE ? "w" : "r",
			      dtype_name((enum dtype)o->dtype));
		for (unsigned d = 0; d < o->ndim; d++) {
			n += snprintf(text + n, sizeof(text) - (size_t)n, "%s%" PRId64,
				      d ? "x" : "", o->size[d]);
			if (!is_dense(o))
				n += snprintf(text + n, sizeof(text) - (size_t)n, ":%" PRId64,
					      o->stride[d]);
		}
		n += snprintf(text + n, sizeof(text) - (size_t)n, " @%" PRIx64, o->addr);
	}
	return text;
}

/* Decodes a launch with these arguments and geometry of a kernel of that name and layout. */
__attribute__((unused)) static const char *launched(const char *name, const char *sizes,
						    const uint64_t *arg, const uint32_t grid[3],
						    const uint32_t block[3])
{
	static struct op op; /* as a caller's, not zeroed */
	struct kernel *k = kernel(name, sizes);
	struct bytes b = {{0}};
	struct launch l = {.kernel = k, .params = b.b};

	memcpy(l.grid, grid, sizeof(l.grid));
	memcpy(l.block, block, sizeof(l.block));
	assert_non_null(k->decoder);
	for (unsigned i = 0; i < k->nparam; i++)
		put(&b, k, i, arg[i]);
	return spell(decode_launch(&l, &op), &op);
}

#endif
