/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of the kernels in check.cuh. */
#include "fused/check.h"

#include "fused/launch.h"

/* Kernel number plus 1; 0 where there is none. */
static const uint8_t compare_of[DT_COUNT] = {
#define COMPARE(name, type) [DT_##type] = KERNEL_##name + 1,
#include "fused/kernels.def"
};

/* Threads that step over all elements by the grid. */
static void shape_elements(struct fused_launch *out, int64_t elements)
{
	enum { THREADS = 256, BLOCKS = 1024 };
	int64_t blocks = (elements + THREADS - 1) / THREADS;

	launch_shape(out, blocks < BLOCKS ? blocks : BLOCKS, THREADS, 0);
}

void fused_compare(uint64_t x, int64_t xpitch, uint64_t y, int64_t ypitch, int64_t rows,
		   int64_t cols, enum dtype t, uint64_t counter, struct fused_launch *out)
{
	struct compare_args a = {.x = x,
				 .y = y,
				 .counter = counter,
				 .xpitch = xpitch,
				 .ypitch = ypitch,
				 .rows = rows,
				 .cols = cols};
	int64_t row = cols * dtype_bytes(t);

	if (xpitch == row && ypitch == row) { /* nothing to divide by */
		a.cols *= rows;
		a.rows = 1;
	}
	launch_kernel(out, compare_of[t] ? compare_of[t] - 1u : (unsigned)KERNEL_af_compare_f32, &a,
		      sizeof(a));
	shape_elements(out, rows * cols);
}

void fused_sweep(const struct sweep_args *a, struct fused_launch *out)
{
	launch_kernel(out, KERNEL_af_sweep, a, sizeof(*a));
	shape_elements(out, a->rows * a->cols);
}

void fused_publish(uint64_t counter, uint64_t host_slot, uint64_t ticket, struct fused_launch *out)
{
	struct publish_args a = {.counter = counter, .slot = host_slot, .ticket = ticket};

	launch_kernel(out, KERNEL_af_publish, &a, sizeof(a));
	launch_shape(out, 1, 1, 0);
}
