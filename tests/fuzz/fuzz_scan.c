// SPDX-License-Identifier: Apache-2.0
/* Files with device code: programs, archives, fatbins, cubins, PTX. */
#include "tests/fuzz/fuzz.h"

#include "tools/scan.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	fuzz_quiet();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct scan s = {.linked_too = size & 1};

	if (!scan_file(&s, fuzz_file(data, size), "fuzz")) {
		scan_print_text(&s, "fuzz", "*a*", fuzz_sink());
		scan_print_json(&s, "fuzz", NULL, fuzz_sink());
		scan_suggest(&s, "fuzz", NULL, fuzz_sink());
	}
	scan_free(&s);
	return 0;
}
