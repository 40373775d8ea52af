/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/purity.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void purity_note(struct purity *p, enum reason why, const char *fmt, ...)
{
	va_list ap;

	if (p->why == REASON_NOT_PURE || p->why == why)
		return;
	p->why = why;
	va_start(ap, fmt);
	vsnprintf(p->detail, sizeof(p->detail), fmt, ap);
	va_end(ap);
}

static void *code_of(const void *image, size_t bytes, unsigned cc, struct fatbin_code *c)
{
	return fatbin_pick(image, bytes, cc, c) ? fatbin_copy(c) : NULL;
}

void purity_check(const void *image, size_t bytes, unsigned cc, const char *kernel,
		  struct purity *out)
{
	struct fatbin_code c;
	void *code = code_of(image, bytes, cc, &c);

	out->why = REASON_NONE;
	out->detail[0] = '\0';
	if (!code)
		purity_note(out, REASON_NO_VERDICT,
			    "no code for compute capability %u.%u in the image", cc / 10, cc % 10);
	else if (c.kind == FATBIN_ELF)
		purity_elf(code, c.full, kernel, out);
	else
		purity_ptx(code, kernel, out);
	free(code);
}

void purity_variables(const void *image, size_t bytes, unsigned cc,
		      void (*fn)(void *arg, const char *name, size_t size), void *arg)
{
	struct fatbin_code c;
	void *code = code_of(image, bytes, cc, &c);

	/* PTX text is judged by its words alone. */
	if (code && c.kind == FATBIN_ELF)
		purity_elf_variables(code, c.full, fn, arg);
	free(code);
}
