/* SPDX-License-Identifier: Apache-2.0 */
/* The image of our kernels, as it lies in the library. */
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "fused/candidate.h"

/* The assembler finds the file by the include path that fused/rules.mk gives it. */
__asm__(".pushsection .rodata.af_image, \"a\", %progbits\n"
	".balign 64\n"
	".hidden af_image\n"
	".globl af_image\n"
	"af_image:\n"
	".incbin \"kernels.fatbin\"\n"
	".hidden af_image_end\n"
	".globl af_image_end\n"
	"af_image_end:\n"
	".hidden af_image_sum\n"
	".globl af_image_sum\n"
	"af_image_sum:\n"
	".incbin \"kernels.sum\", 0, 16\n"
	".popsection\n");
extern const char af_image[] __attribute__((visibility("hidden")));
extern const char af_image_end[] __attribute__((visibility("hidden")));
/* The image's SHA-256, its first digits in text: made by the build, as summing megabytes up would
 * be part of every start. */
enum { SUM_DIGITS = 16 };
extern const char af_image_sum[SUM_DIGITS] __attribute__((visibility("hidden")));

const void *fused_image(size_t *bytes)
{
	*bytes = (size_t)(af_image_end - af_image);
	return af_image;
}

/* The rows of the tables of fields as text: a change of meaning of a code is a change of this. */
static const char table[] =
#define FIELD(name, bits) "F" #name ":" #bits
#define VALUE(field, value, token) "V" #value "=" token
#include "fused/candidate.def"
#include "fused/silu.def"
#undef FIELD
#undef VALUE
	;

uint64_t fused_build_id(void)
{
	static uint64_t id;
	uint64_t known = __atomic_load_n(&id, __ATOMIC_RELAXED);

	if (known)
		return known;
	known = XXH3_64bits_withSeed(table, sizeof(table), XXH3_64bits(af_image_sum, SUM_DIGITS)) |
		1;
	__atomic_store_n(&id, known, __ATOMIC_RELAXED);
	return known;
}
