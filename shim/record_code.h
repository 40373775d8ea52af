/* SPDX-License-Identifier: Apache-2.0 */
/* For recordings with the option `images`: where the code of unknown kernels is. */
#ifndef AF_SHIM_RECORD_CODE_H
#define AF_SHIM_RECORD_CODE_H

#include "shim/kernels.h"

struct record_code {
	char path[4096]; /* "": nothing to say */
	uint64_t offset;
};

/* Once for each kernel that no decoder knows. May write a file: no lock should be held. r may be
 * NULL. */
void record_code_find(const struct kernel_rec *r, struct record_code *c);

#endif
