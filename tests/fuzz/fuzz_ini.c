// SPDX-License-Identifier: Apache-2.0
/* Configuration files, and the signatures in them. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "config/config.h"
#include "config/sections.h"
#include "matcher/decode.h"
#include "matcher/pattern.h"
#include "matcher/sig.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	fuzz_quiet();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct param param[] = {{0, 8}, {8, 8}, {16, 8}, {24, 4}};
	struct kernel k = {.name = (char[]){"_Z3addPfPKfS1_i"},
			   .nparam = 4,
			   .param_bytes = 28,
			   .param = param};
	uint8_t bytes[28] = {0, 16, 0, 0, 0, 0, 0, 0, 0, 32, 0, 0, 0, 0, 0, 0, 0, 48, [24] = 128};
	struct launch l = {.kernel = &k, .grid = {1, 1, 1}, .block = {128, 1, 1}, .params = bytes};
	bool on[PATTERN_COUNT];
	struct config c;
	struct op op;

	config_load(&c, false);
	fuzz_quiet();
	sections_read(&c, "fuzz", (const char *)data, size);
	fuzz_quiet(); /* the text may have set it otherwise */
	pattern_switches(&c, on);
	sig_compile(&c);
	decode_kernel(&k);
	decode_launch(&l, &op);
	config_print(&c, fuzz_sink());
	config_free(&c);
	sig_forget();
	return 0;
}
