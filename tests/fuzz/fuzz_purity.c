// SPDX-License-Identifier: Apache-2.0
/* Images as the probe child judges them. */
#include "tests/fuzz/fuzz.h"

#include "shim/purity.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	fuzz_quiet();
	return 0;
}

static void variable(void *arg, const char *name, size_t size)
{
	fprintf(fuzz_sink(), "%s", name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const kernel[] = {"_Z5plainPfPKfS1_i", "_Z4nonev"};
	struct purity p;

	for (unsigned i = 0; i < 2; i++)
		purity_check(data, size, 90, kernel[i], &p);
	purity_variables(data, size, 90, variable, NULL);
	return 0;
}
