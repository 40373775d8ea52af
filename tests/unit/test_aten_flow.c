// SPDX-License-Identifier: Apache-2.0
/*
 * Do the ranges of a whole program fit together? What a launch reads was written by earlier
 * launches, all of it, or not at all (weights, inputs). A range that is too long, too short or
 * elsewhere shows as one that is written in part.
 */
#include "atens.h"

enum { MOST = 4096 };

static struct range written[MOST];
static unsigned nwritten;

static int by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->lo < y->lo ? -1 : x->lo > y->lo;
}

/* How many bytes of r were written. */
static uint64_t covered(struct range r)
{
	static struct range part[MOST];
	uint64_t bytes = 0, end = r.lo;
	unsigned n = 0;

	for (unsigned i = 0; i < nwritten; i++)
		if (range_overlap(written[i], r))
			part[n++] = written[i];
	qsort(part, n, sizeof(part[0]), by_start);
	for (unsigned i = 0; i < n; i++) {
		uint64_t lo = part[i].lo > end ? part[i].lo : end;
		uint64_t hi = part[i].hi < r.hi ? part[i].hi : r.hi;

		if (hi > lo)
			bytes += hi - lo;
		if (hi > end)
			end = hi;
	}
	return bytes;
}

/* In part: nothing but biases, whose size is not known exactly. Not written: weights, inputs, and
 * counters that a fill zeroed, which is no launch. */
static void test_flow(void **arg)
{
	static const struct {
		const char *file;
		unsigned whole, part, none;
	} row[] = {
		{"hf_llama_bf16.jsonl.gz", 491, 0, 71},
		{"hf_llama_bf16_train.jsonl.gz", 384, 0, 45},
		{"hf_phi3_bf16.jsonl.gz", 135, 0, 17},
		{"hf_gpt2_bf16.jsonl.gz", 262, 9, 87},
	};

	for (unsigned i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		unsigned whole = 0, part = 0, none = 0;
		struct trace *t = trace_open(command_data(row[i].file));
		struct trace_event e;
		struct op op;

		assert_non_null(t);
		nwritten = 0;
		while (trace_next(t, &e)) {
			if (e.kind != TRACE_LAUNCH || decode_launch(&e.launch, &op))
				continue;
			for (unsigned k = 0; k < op.noperand; k++) {
				struct range r = operand_range(&op.operand[k]);
				uint64_t bytes = covered(r);

				if (op.operand[k].access != ACCESS_READ)
					continue;
				if (bytes == r.hi - r.lo)
					whole++;
				else if (bytes)
					part++;
				else
					none++;
			}
			for (unsigned k = 0; k < op.noperand; k++)
				if (op.operand[k].access == ACCESS_WRITE) {
					assert_true(nwritten < MOST);
					written[nwritten++] = operand_range(&op.operand[k]);
				}
		}
		trace_close(t);
		if (whole != row[i].whole || part != row[i].part || none != row[i].none)
			fail_msg("%s: %u read as written, %u in part, %u not written", row[i].file,
				 whole, part, none);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flow),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
