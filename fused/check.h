/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of the kernels in check.cuh. */
#ifndef AF_FUSED_CHECK_H
#define AF_FUSED_CHECK_H

#include <stdint.h>

struct compare_args {
	uint64_t x, y, counter; /* counter: two u64, {elements that differ, greatest distance} */
	int64_t xpitch, ypitch; /* bytes */
	int64_t rows, cols;
};

struct publish_args {
	uint64_t counter, slot, ticket; /* slot: three u64 of host-mapped memory */
};

#endif
