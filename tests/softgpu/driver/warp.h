/* SPDX-License-Identifier: Apache-2.0 */
/* What the lanes of one warp wait for, and the values that they exchange. */
#ifndef AF_TESTS_SOFTGPU_DRIVER_WARP_H
#define AF_TESTS_SOFTGPU_DRIVER_WARP_H

#include "tests/softgpu/engine.h"

struct lane {
	enum softgpu_warp_op op;
	uint32_t mask;
	unsigned source;
	uint64_t value, result;
};

struct warp {
	uint32_t live;    /* lanes that have not returned */
	uint32_t waiting; /* lanes inside a warp operation */
	struct lane lane[SOFTGPU_WARP];
};

/* Completes the operation that `lane` waits in if all its live lanes are there, and answers them;
 * 0 if some are missing. Results are in lane[].result. */
uint32_t warp_complete_lane(struct warp *w, unsigned lane);
/* The same for every operation of the warp. */
uint32_t warp_complete(struct warp *w);

#endif
