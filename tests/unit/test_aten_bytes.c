// SPDX-License-Identifier: Apache-2.0
/*
 * Decoders see bytes of any program: each recorded launch again with bytes, geometry and parameter
 * layouts changed at random. The parameters lie against a page that cannot be read, once before and
 * once behind them. What is still decoded must be an op that those who read it can rely on.
 */
#include <sys/mman.h>

#include "atens.h"
#include "matcher/aten_name.h"
#include "matcher/heed.h"
#include "matcher/key.h"

enum { PAGE = 4096, ROOM = 2 * PAGE, TRIES = 60 };

static uint8_t *room; /* ROOM bytes between two pages without access */
static uint64_t seed = 0x9e3779b97f4a7c15;

static uint64_t random_bits(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static int setup(void **arg)
{
	uint8_t *map = mmap(NULL, ROOM + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED || mprotect(map + PAGE, ROOM, PROT_READ | PROT_WRITE))
		return -1;
	room = map + PAGE;
	return 0;
}

/* Is it an op that can be believed? */
static void check_op(const struct op *op, const struct kernel *k)
{
	assert_in_range(op->code, 1, OP_COUNT - 1);
	assert_true(k->ops >> op->code & 1);
	assert_in_range(op->noperand, 1, OP_MAX_OPERANDS);
	assert_in_range(op->nslot, 0, OP_MAX_SLOTS);
	assert_in_range(op->nscalar, 0, OP_MAX_SCALARS);
	if (op->rows < 1 || op->cols < 1)
		fail_msg("%s: %s %ld %ld", k->name, opcode_name(op->code), (long)op->rows,
			 (long)op->cols);
	for (unsigned i = 0; i < op->noperand; i++) {
		const struct operand *o = &op->operand[i];
		struct range r = operand_range(o);

		assert_in_range(o->ndim, 1, OP_MAX_DIMS);
		assert_in_range(o->dtype, 1, DT_COUNT - 1);
		assert_int_equal(role_kind((enum role)o->role), ROLE_KIND_OPERAND);
		assert_true(o->access == ACCESS_READ || o->access == ACCESS_WRITE);
		for (unsigned d = 0; d < o->ndim; d++)
			assert_true(o->size[d] >= 1 && o->stride[d] >= 0);
		assert_true(r.lo == o->addr && r.hi > r.lo && r.hi < (uint64_t)1 << 58);
	}
	for (unsigned i = 0; i < op->nslot; i++)
		assert_true((uint32_t)op->slot[i].offset + op->slot[i].bytes <= k->param_bytes);
}

static void damage(struct launch *l, uint8_t *p, uint32_t bytes)
{
	for (unsigned n = 1 + random_bits() % 3; n; n--) {
		uint64_t r = random_bits();
		uint32_t at = (uint32_t)(r >> 8) % (bytes ? bytes : 1);
		uint32_t word = r & 16 ? (uint32_t)(r >> 32)
				       : (uint32_t[]){0,          1,          2,  0x7fffffff,
						      0x80000000, UINT32_MAX, 25, 26}[r >> 32 & 7];

		if (r % 8 == 0)
			l->grid[r >> 8 & 1] = word;
		else if (r % 8 == 1)
			l->block[r >> 8 & 1] = word % 1025;
		else if (r % 8 < 4 && bytes >= 4)
			memcpy(p + (at & ~3u) - (at / 4 * 4 + 4 > bytes ? 4 : 0), &word, 4);
		else if (bytes)
			p[at] = (uint8_t)(r >> 40);
	}
}

static unsigned passed_over, heeded;

static bool same(const struct heed *h, const uint8_t *a, const uint8_t *b)
{
	uint8_t x[HEED_BYTES], y[HEED_BYTES];
	const size_t n = heed_take(h, a, x);

	return n == heed_take(h, b, y) && !memcmp(x, y, n);
}

/*
 * Bytes that are said to mean nothing mean nothing: neither to the op nor to the site, whatever is
 * there, one of them or all. Of the others each kernel has some that do.
 */
static void try_blanks(const struct launch *from)
{
	const uint32_t bytes = from->kernel->param_bytes;
	uint8_t *p = room;
	struct launch l = *from;
	struct op op, again;
	struct heed h;
	uint64_t site;
	uint32_t at = 0;

	if (bytes > ROOM || decode_launch(from, &op))
		return;
	site = key_site(from, &op);
	l.params = p;
	assert_true(heed_of(from, &op, &h));
	assert_true(heed_holds(&h, from, &op));
	for (unsigned round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < bytes; i++)
			p[i] = round == 2 ? 0 : (uint8_t)random_bits();
		for (unsigned i = 0; i < h.n; i++)
			memcpy(p + h.span[i].at, from->params + h.span[i].at, h.span[i].bytes);
		assert_int_equal(decode_launch(&l, &again), REASON_NONE);
		if (!op_same(&op, &again))
			fail_msg("%s depends on what is said to mean nothing", from->kernel->name);
		assert_int_equal(key_site(&l, &again), site);
	}
	/* Each of them alone, turned around; the spans are as they are found. */
	memcpy(p, from->params, bytes);
	for (unsigned i = 0; i <= h.n; i++) {
		for (; at < (i < h.n ? h.span[i].at : bytes); at++) {
			p[at] ^= (uint8_t)(1u << at % 8);
			assert_true(same(&h, p, from->params));
			assert_int_equal(decode_launch(&l, &again), REASON_NONE);
			assert_true(op_same(&op, &again));
			p[at] = from->params[at];
			passed_over++;
		}
		for (; i < h.n && at < h.span[i].at + (uint32_t)h.span[i].bytes; at++) {
			p[at] ^= (uint8_t)(1u << at % 8);
			assert_false(same(&h, p, from->params));
			if (decode_launch(&l, &again) || !op_same(&op, &again))
				heeded++;
			p[at] = from->params[at];
		}
	}
}

static unsigned decoded, refused;

static void try_launch(const struct launch *from)
{
	const uint32_t bytes = from->kernel->param_bytes;

	if (bytes > ROOM)
		return;
	for (unsigned i = 0; i < TRIES; i++) {
		struct launch l = *from;
		uint8_t *p = i & 1 ? room : room + ROOM - bytes;
		struct op op;

		memcpy(p, from->params, bytes);
		damage(&l, p, bytes);
		l.params = p;
		if (decode_launch(&l, &op)) {
			refused++;
			assert_int_equal(op.code, OP_opaque);
			continue;
		}
		decoded++;
		check_op(&op, l.kernel);
	}
}

/* A kernel of that name with another layout is another kernel: no byte of it may be misread. */
static void try_layout(const struct kernel *from, const struct launch *launch)
{
	struct param param[64];
	struct kernel k = *from;
	struct launch l = *launch;
	struct op op;

	if (!from->nparam || from->nparam > 64)
		return;
	for (unsigned i = 0; i < 8; i++) {
		uint64_t r = random_bits();
		struct param *changed = &param[(r >> 8) % from->nparam];

		memcpy(param, from->param, from->nparam * sizeof(*param));
		k.param = param;
		k.nparam = r & 4 ? from->nparam : from->nparam - 1;
		changed->bytes = r & 1 ? changed->bytes + 8 : changed->bytes / 2;
		k.param_bytes = 0;
		for (uint32_t j = 0; j < k.nparam; j++)
			if (param[j].offset + param[j].bytes > k.param_bytes)
				k.param_bytes = param[j].offset + param[j].bytes;
		if (k.param_bytes > ROOM)
			continue;
		decode_kernel(&k);
		l.kernel = &k;
		l.params = room + ROOM - k.param_bytes;
		memset(room, (int)(r >> 16 & 1), ROOM);
		if (k.decoder && !decode_launch(&l, &op))
			check_op(&op, &k);
	}
}

static void test_recordings(void **arg)
{
	static const char *const file[] = {
		"aten_ops_bfloat16.jsonl.gz",
		"aten_ops_float32.jsonl.gz",
		"hf_gpt2_bf16_graph.jsonl.gz",
		"hf_llama_bf16.jsonl.gz",
		"hf_llama_bf16_decode_b32_graph.jsonl.gz",
		"hf_llama_bf16_train.jsonl.gz",
		"hf_llama8b_bf16_layer.jsonl.gz",
	};

	for (unsigned i = 0; i < sizeof(file) / sizeof(file[0]); i++) {
		struct trace *t = trace_open(command_data(file[i]));
		struct trace_event e;

		assert_non_null(t);
		while (trace_next(t, &e)) {
			if (e.kind != TRACE_LAUNCH && e.kind != TRACE_KERNEL)
				continue;
			if (e.launch.kernel->decoder) {
				try_launch(&e.launch);
				try_blanks(&e.launch);
			}
			try_layout(e.launch.kernel, &e.launch);
		}
		trace_close(t);
	}
	/* Both happened, often. */
	assert_true(decoded > 10000 && refused > 10000);
	fprintf(stderr, "# %u bytes passed over, %u to which the op owes something\n", passed_over,
		heeded);
	assert_true(passed_over > 100000 && heeded > 50000);
}

/* Names cut short or with letters changed are no names, or other ones. */
static void test_names(void **arg)
{
	static char text[ATEN_NAME_MAX], name[8192];
	struct trace *t = trace_open(command_data("hf_llama_bf16_train.jsonl.gz"));
	struct trace_event e;

	assert_non_null(t);
	while (trace_next(t, &e)) {
		size_t len;

		if (e.kind != TRACE_LAUNCH || strlen(e.launch.kernel->name) >= sizeof(name))
			continue;
		for (unsigned i = 0; i < 40; i++) {
			struct kernel k = *e.launch.kernel;

			strcpy(name, e.launch.kernel->name);
			len = strlen(name);
			name[random_bits() % len] =
				"0123456789ENIZSTULPKR_lfjbv"[random_bits() % 27];
			if (i % 4 == 0)
				name[random_bits() % len] = 0;
			aten_name_text(name, text, i % 2 ? sizeof(text) : 64);
			k.name = name;
			decode_kernel(&k);
		}
	}
	trace_close(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recordings),
		cmocka_unit_test(test_names),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, NULL);
}
