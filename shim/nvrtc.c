/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/nvrtc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARCH_MAX = 64 };

/* Compute capability * 10 to compile for, and whether to machine code. 0: it is too old for this
 * NVRTC. */
static int target(const struct nvrtc *n, unsigned cc, int *cubin)
{
	int arch[ARCH_MAX], count = 0, best = 0;

	if (n->GetNumSupportedArchs(&count) || count < 1 || count > ARCH_MAX ||
	    n->GetSupportedArchs(arch))
		return 0;
	for (int i = 0; i < count; i++)
		if (arch[i] <= (int)cc && arch[i] > best)
			best = arch[i];
	*cubin = best == (int)cc;
	return best;
}

static char *log_of(const struct nvrtc *n, void *prog)
{
	size_t bytes = 0;
	char *log;

	if (n->GetProgramLogSize(prog, &bytes))
		bytes = 0;
	log = calloc(1, bytes + 1);
	if (log && bytes && n->GetProgramLog(prog, log))
		log[0] = '\0';
	return log;
}

int nvrtc_compile(const struct nvrtc *n, const char *text, unsigned cc, void **image, size_t *bytes,
		  char **log, char *why, unsigned size)
{
	char arch[48], *said = NULL, *out = NULL;
	/* Whatever the bits depend on is spelled in the text. */
	const char *option[] = {arch, "--std=c++17", "-fmad=false", "-default-device"};
	int cubin = 0, chosen = target(n, cc, &cubin), rc;
	void *prog = NULL;
	int ret = -1;

	*image = NULL;
	if (log)
		*log = NULL;
	if (!chosen) {
		snprintf(why, size,
			 "NVRTC %u.%u (%s) does not compile for compute capability %u.%u",
			 n->version / 1000, n->version % 1000 / 10, n->path, cc / 10, cc % 10);
		return -1;
	}
	snprintf(arch, sizeof(arch), "-arch=%s_%d", cubin ? "sm" : "compute", chosen);
	rc = n->CreateProgram(&prog, text, "row.cu", 0, NULL, NULL);
	if (!rc)
		rc = n->CompileProgram(prog, sizeof(option) / sizeof(*option), option);
	if (prog)
		said = log_of(n, prog);
	if (rc) {
		snprintf(why, size, "NVRTC %u.%u: %s: %.400s", n->version / 1000,
			 n->version % 1000 / 10, n->GetErrorString(rc), said ? said : "");
		goto out;
	}
	if (cubin ? n->GetCUBINSize(prog, bytes) : n->GetPTXSize(prog, bytes))
		*bytes = 0;
	out = *bytes ? malloc(*bytes) : NULL;
	if (!out || (cubin ? n->GetCUBIN(prog, out) : n->GetPTX(prog, out))) {
		snprintf(why, size, "NVRTC %u.%u gave no image", n->version / 1000,
			 n->version % 1000 / 10);
		free(out);
		goto out;
	}
	*image = out;
	ret = 0;
out:
	if (prog)
		n->DestroyProgram(&prog);
	if (log)
		*log = said;
	else
		free(said);
	return ret;
}
