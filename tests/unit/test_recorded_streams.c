// SPDX-License-Identifier: Apache-2.0
/*
 * Recorded launches run on the CPU: one by one, against what the planner of streams makes of them.
 * Every byte of memory must be the same in the end, and so must be what each launch reads that is
 * left alone.
 */
#include "tests/unit/recorded_move.h"

#include "matcher/seq.h"
#include "matcher/sig.h"

static struct instead instead;
static unsigned ngroup, late;
static bool looking; /* only which ops are in groups */

static bool may_hold(void *arg, const struct member *m, const struct pattern *p, uint8_t place)
{
	return true;
}

static enum reason hold(void *arg, struct group *g, bool all_held)
{
	return REASON_NONE;
}

static void sent(void *arg, const struct group *g, enum reason why)
{
}

static void alone_unless_looking(uint64_t i)
{
	if (!looking)
		run_alone((unsigned)i);
}

static void together_or_alone(const struct group *g)
{
	const bool together = !instead_make(&instead, g);

	for (unsigned i = 0; i < group_size(g); i++) {
		grouped[g->member[i]->launch.index] |= together;
		if (!together)
			alone_unless_looking(g->member[i]->launch.index);
	}
	if (!together)
		return;
	ngroup++;
	late += instead.late;
	if (!looking)
		instead_run(&instead);
}

/* Does as the planner says, like a window. */
static void obey(const struct seq_out *out, int mine)
{
	for (unsigned i = 0; i < out->nchain; i++)
		together_or_alone(out->chain[i]);
	for (unsigned i = 0; i < out->nflush; i++)
		alone_unless_looking(out->flush[i]->launch.index);
	if (out->act == SEQ_FUSE)
		together_or_alone(out->group);
	else if (mine >= 0 && out->act == SEQ_PASS)
		alone_unless_looking((unsigned)mine);
}

/* Calls between the launches leave memory alone here, so nothing ends at them. */
static void run_stream(bool larger)
{
	const struct seq_policy policy = {.memory = memory,
					  .enabled = enabled,
					  .may_hold = may_hold,
					  .verdict = hold,
					  .done = sent,
					  .chains = true,
					  .larger = larger};
	struct seq *s = seq_new(&policy);
	struct seq_out out;

	assert_non_null(s);
	ngroup = late = 0;
	for (unsigned i = 0; i < nnode; i++) {
		seq_launch(s, &node[i].launch, &node[i].op, &out);
		obey(&out, (int)i);
	}
	seq_barrier(s, REASON_BARRIER, &out);
	obey(&out, -1);
	seq_free(s);
}

/* Only the launches first .. end - 1 from now on. */
static void cut(unsigned first, unsigned end)
{
	assert_true(first < nnode);
	nnode = (end < nnode ? end : nnode) - first;
	memmove(node, node + first, nnode * sizeof(*node));
	for (unsigned i = 0; i < nnode; i++)
		node[i].launch.index = i;
}

/* Whatever is planned leaves what the launches leave one by one. */
static void run_both(const char *name)
{
	memset(grouped, 0, sizeof(grouped));
	looking = true;
	for (unsigned larger = 0; larger < 2; larger++)
		run_stream(larger);
	looking = false;
	run_members(NULL);
	for (unsigned larger = 0; larger < 2; larger++) {
		fill();
		run_stream(larger);
		compare(name);
	}
}

/* Launches first .. end - 1 of a recording. */
static void stream(const char *name, unsigned first, unsigned end, unsigned least_groups)
{
	struct trace *t = recorded_read(command_data(name), false);

	cut(first, end);
	recorded_place();
	run_both(name);
	fprintf(stderr, "# %s: %u launches, %.1f MiB, %u groups, %u in two kernels\n", name, nnode,
		(double)arena_bytes / (1 << 20), ngroup, late);
	assert_true(ngroup >= least_groups);
	recorded_free(t);
}

/* The same launches with memory laid out as chance has it. */
static void test_other_memory(void **arg)
{
	struct trace *t = recorded_read(command_data("hf_llama_bf16.jsonl.gz"), false);
	unsigned groups = 0, waiting = 0;

	cut(260, 387);
	recorded_place();
	move_keep();
	for (unsigned i = 0; i < move_cases(6); i++) {
		run_both(move_some(i));
		groups += ngroup;
		waiting += late;
	}
	fprintf(stderr, "# %u groups, %u in two kernels\n", groups, waiting);
	assert_true(groups > 30);
	recorded_free(t);
}

static void test_streams(void **arg)
{
	stream("hf_llama_bf16.jsonl.gz", 130, 387, 15);
	stream("hf_llama_bf16_train.jsonl.gz", 60, 110, 3);
	stream("hf_phi3_bf16.jsonl.gz", 20, 60, 2);
	stream("hf_gpt2_bf16.jsonl.gz", 72, 217, 15);
	stream("aten_ops_bfloat16.jsonl.gz", 0, 163, 8);
	stream("llama3_cuda_fp32.jsonl.gz", 0, 600, 40);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_other_memory),
	cmocka_unit_test(test_streams),
};

int main(void)
{
	static struct config c;

	config_load(&c, false);
	config_add_file(&c, command_data("llama3_cuda_fp32.ini"));
	sig_compile(&c);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
