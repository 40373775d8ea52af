// SPDX-License-Identifier: Apache-2.0
/*
 * What the planner makes of models (models.h): shapes of prefill and of decoding, three types, and
 * memory that is handed out again as soon as Python drops a tensor.
 */
#include "unit.h"

#include "matcher/seq.h"
#include "tests/unit/models.h"

static unsigned fused[PATTERN_COUNT], refused[PATTERN_COUNT];
static enum reason why_refused[PATTERN_COUNT];
static struct seq *seq;
static uint64_t launches;
static bool verbose;

static enum reason memory(void *arg, struct range r, const struct launch *l, int surviving)
{
	return REASON_NONE;
}

static bool enabled(void *arg, const struct pattern *p)
{
	return true;
}

static bool may_hold(void *arg, const struct member *m, const struct pattern *p, uint8_t node)
{
	return true;
}

static enum reason verdict(void *arg, struct group *g, bool all_held)
{
	return REASON_NONE;
}

static void done(void *arg, const struct group *g, enum reason why)
{
	const enum pattern_id id = pattern_id(g->pattern);

	if (verbose) {
		fprintf(stderr, "# %s %s:", g->pattern->name, reason_word(why));
		for (unsigned i = 0; i < group_size(g); i++)
			fprintf(stderr, " %u", (unsigned)g->member[i]->launch.index);
		fprintf(stderr, "\n");
	}
	*(why ? &refused[id] : &fused[id]) += 1;
	if (why)
		why_refused[id] = why;
}

static void launch(const struct op *op)
{
	static struct kernel k = {.name = (char *)"any"};
	const struct launch l = {
		.kernel = &k, .grid = {1, 1, 1}, .block = {256, 1, 1}, .index = launches++};
	struct seq_out out;

	if (verbose) {
		fprintf(stderr, "# %u %s", (unsigned)l.index, opcode_name(op->code));
		for (unsigned i = 0; i < op->noperand; i++) {
			const struct operand *o = &op->operand[i];

			fprintf(stderr, " %s%s@%x[", i ? "" : ">", dtype_name(o->dtype),
				(unsigned)o->addr);
			for (unsigned d = 0; d < o->ndim; d++)
				fprintf(stderr, "%s%d+%d", d ? " " : "", (int)o->size[d],
					(int)o->stride[d]);
			fprintf(stderr, "]");
		}
		fprintf(stderr, "\n");
	}
	seq_launch(seq, &l, op, &out);
}

static void run(const struct model *m)
{
	const struct seq_policy policy = {.memory = memory,
					  .enabled = enabled,
					  .may_hold = may_hold,
					  .verdict = verdict,
					  .done = done,
					  .chains = true};
	struct seq_out out;

	memset(fused, 0, sizeof(fused));
	memset(refused, 0, sizeof(refused));
	launches = 0;
	seq = seq_new(&policy);
	assert_non_null(seq);
	model_run(m, m->head, 0x7f0000000000, (uint64_t)1 << 34, launch);
	seq_barrier(seq, REASON_BARRIER, &out);
	seq_free(seq);
}

static unsigned check(const struct model *m)
{
	unsigned bad = 0;

	for (unsigned id = 0; id < PATTERN_COUNT; id++) {
		struct want want = {.id = (enum pattern_id)id};

		for (unsigned i = 0; i < 5; i++)
			if (m->want[i].id == id && (m->want[i].fused || m->want[i].refused))
				want = m->want[i];
		if (id == PATTERN_chain || id == PATTERN_lora_add)
			continue;
		if (fused[id] == want.fused && refused[id] == want.refused &&
		    (!want.refused || why_refused[id] == want.why))
			continue;
		fprintf(stderr, "# %s, %s, %d x %d: %u %s fused, %u refused; not %u, %u\n", m->name,
			dtype_name(low), batch, length, fused[id],
			pattern_get((enum pattern_id)id)->name, refused[id], want.fused,
			want.refused);
		bad++;
	}
	return bad;
}

static void test_models(void **arg)
{
	static const enum dtype type[] = {DT_bf16, DT_f16, DT_f32};
	static const int shape[][2] = {{2, 64}, {1, 7}, {1, 1}, {32, 1}, {4, 16}};
	const char *only = getenv("AUTOFUSE_TEST_MODEL");
	unsigned bad = 0;
	char name[64];

	for (unsigned i = 0; i < sizeof(model) / sizeof(model[0]); i++)
		for (unsigned t = 0; t < 3; t++)
			for (unsigned s = 0; s < sizeof(shape) / sizeof(shape[0]); s++) {
				low = type[t];
				batch = shape[s][0];
				length = shape[s][1];
				snprintf(name, sizeof(name), "%s,%u,%u", model[i].name, t, s);
				verbose = only && !strcmp(only, name);
				run(&model[i]);
				bad += check(&model[i]);
			}
	assert_int_equal(bad, 0);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(test_models)};

UNIT_MAIN(tests)
