// SPDX-License-Identifier: Apache-2.0
/* Recorded traces, and what is planned from them. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "matcher/sig.h"
#include "tools/plan.h"

static const char signatures[] = "[kernel accum]\nmatch = _Z12accum_kernelPfS_i\nop = add\n"
				 "args = inout in1 n\ndtype = f32\n"
				 "[kernel rmsnorm]\nmatch = _Z14rmsnorm_kernelPfS_S_ii\n"
				 "op = rmsnorm\nargs = out in0 weight cols -\ndtype = f32\n"
				 "eps = 1e-5\nrows = 1\n";

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static struct config c;

	config_load(&c, false);
	fuzz_quiet();
	config_add_text(&c, "fuzz", signatures);
	sig_compile(&c);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool on[PATTERN_COUNT];
	const char *path = fuzz_file(data, size);

	memset(on, true, sizeof(on));
	plan_file(path, false, PLAN_CHAINS, on, STORES_PROVEN, fuzz_sink());
	plan_file(path, true, PLAN_LARGER, on, STORES_ASSUME_DEAD, fuzz_sink());
	return 0;
}

/* Only libFuzzer has it. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room) __attribute__((weak));

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
	if (LLVMFuzzerMutate && seed % 8 == 0)
		return LLVMFuzzerMutate(data, size, room);
	for (unsigned n = 1 + seed % 4; n; n--, seed = seed * 1103515245u + 12345u)
		size = fuzz_lines(data, size, room, seed);
	return size;
}
