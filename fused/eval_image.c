/* SPDX-License-Identifier: Apache-2.0 */
/* The image of fused/eval.cu, as it lies in the command. */
#include "fused/gen_eval.h"

__asm__(".pushsection .rodata.af_eval, \"a\", %progbits\n"
	".balign 64\n"
	".hidden af_eval_image\n"
	".globl af_eval_image\n"
	"af_eval_image:\n"
	".incbin \"eval.fatbin\"\n"
	".popsection\n");
extern const char af_eval_image[] __attribute__((visibility("hidden")));

const void *eval_image(void)
{
	return af_eval_image;
}
