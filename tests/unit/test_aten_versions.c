// SPDX-License-Identifier: Apache-2.0
/*
 * Kernels of other versions of PyTorch. tests/data/aten_versions.tsv.gz has, for kernels of the
 * recordings (2.11), the mangled name that the same kernel has in the libraries of other versions,
 * where it takes parameters of the same sizes there. A recorded launch under that name has to be
 * decoded to the same op.
 *
 * A line: version, how many blocks of that kernel do the work of one (elements of 2 bytes went four
 * to a thread, then eight), name in 2.11, name in that version.
 */
#include "atens.h"

enum { ROWS = 600, LINE = 8192 };

static struct row {
	char version[16];
	unsigned blocks;
	char *name, *other;
	unsigned launches;
} rows[ROWS];
static unsigned nrow;

static void read_rows(void)
{
	gzFile f = gzopen(command_data("aten_versions.tsv.gz"), "r");
	char line[LINE], name[LINE], other[LINE];

	assert_non_null(f);
	while (gzgets(f, line, sizeof(line))) {
		struct row *r = &rows[nrow++];

		assert_in_range(nrow, 1, ROWS);
		assert_int_equal(
			sscanf(line, "%15s\t%u\t%s\t%s", r->version, &r->blocks, name, other), 4);
		r->name = strdup(name);
		r->other = strdup(other);
	}
	gzclose(f);
}

/* One launch under another name. The geometry of a vectorized kernel goes with its name. */
static void as_in(struct row *r, const struct launch *l)
{
	struct kernel k = *l->kernel;
	struct launch m = *l;
	struct op want, got;
	char text[2048];
	int32_t n;

	/* What is not said of an op is whatever was there. */
	memset(&want, 0, sizeof(want));
	memset(&got, 0, sizeof(got));
	if (decode_launch(l, &want)) /* not all launches of a known kernel are */
		return;
	k.name = r->other;
	decode_kernel(&k);
	m.kernel = &k;
	if (r->blocks > 1) {
		memcpy(&n, l->params, sizeof(n));
		m.grid[0] = (uint32_t)((n + 511) / 512);
	}
	r->launches++;
	if (decode_launch(&m, &got))
		fail_msg("PyTorch %s: not decoded: %s", r->version, r->other);
	snprintf(text, sizeof(text), "%s", atens_spell(&want));
	if (strcmp(text, atens_spell(&got)) || memcmp(&want.order, &got.order, sizeof(got.order)) ||
	    want.eps != got.eps || want.plus_one != got.plus_one)
		fail_msg("PyTorch %s: %s, not %s: %s", r->version, atens_spell(&got), text,
			 r->other);
}

static void recorded(const char *file)
{
	struct trace *t = trace_open(command_data(file));
	struct trace_event e;

	assert_non_null(t);
	while (trace_next(t, &e)) {
		if ((e.kind != TRACE_LAUNCH && e.kind != TRACE_KERNEL) || !e.launch.kernel)
			continue;
		for (unsigned i = 0; i < nrow; i++)
			if (!strcmp(rows[i].name, e.launch.kernel->name))
				as_in(&rows[i], &e.launch);
	}
	trace_close(t);
}

static void test_versions(void **arg)
{
	static const char *const files[] = {"aten_ops_bfloat16",
					    "aten_ops_float16",
					    "aten_ops_float32",
					    "hf_gpt2_bf16",
					    "hf_llama_bf16",
					    "hf_llama_bf16_decode_b1_graph",
					    "hf_llama_bf16_decode_b32_graph",
					    "hf_llama_bf16_train",
					    "hf_phi3_bf16"};
	static const struct {
		const char *version;
		unsigned kernels;
	} least[] = {{"2.4.1", 100}, {"2.6.0", 107}, {"2.8.0", 112}, {"2.15.0", 110}};

	read_rows();
	for (unsigned i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char name[64];

		snprintf(name, sizeof(name), "%s.jsonl.gz", files[i]);
		recorded(name);
	}
	for (unsigned v = 0; v < sizeof(least) / sizeof(least[0]); v++) {
		unsigned kernels = 0;

		for (unsigned i = 0; i < nrow; i++)
			kernels += !strcmp(rows[i].version, least[v].version) && rows[i].launches;
		if (kernels < least[v].kernels)
			fail_msg("PyTorch %s: %u kernels", least[v].version, kernels);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_versions)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
