/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order in which ATen's reduce_kernel adds up, as its parameters say it: op->order, valid
 * where width is not 0. A block is width x height threads. Those of them that share a row (an
 * output) lie along x if `along_x`, along y if `along_y`, both or neither; `blocks` blocks of
 * the grid share it.
 *
 * Thread (x, y) of block b begins at first = x * mult[0] + y * mult[1] + b * mult[2]; `step`
 * threads share the row. What it does with the elements 0 .. cols - 1:
 *
 * vector == 0. acc[0 .. vt-1] begin as the identity (0 of a sum). i = first; while i + (vt - 1)
 * * step is less than cols, acc[k] += in[i + k * step] for each k, then i += vt * step. What is
 * left goes to acc[0], acc[1], ... in turn.
 *
 * vector == V. acc[0 .. V-1] begin as the identity. If the row's address is not divisible by V
 * elements, each element in front of the first that is goes to acc[0] of the thread whose x is
 * its place within V (y = 0, b = 0, if those share the row). From there on come groups of V:
 * groups first, first + step, ... are added to acc[0 .. V-1], element by element. The last
 * elements, less than V, go to acc[0] of threads x = 0, 1, ... (y = 0, b = 0, likewise).
 *
 * Then acc[0] + acc[1], + acc[2], ... in order.
 *
 * Threads along x are halved through shared memory at distances width / 2 .. 32, then by
 * shuffles; threads along y through shared memory at distances height / 2 .. 1. PyTorch 2.11
 * takes x before y and shuffles at 16, 8, 4, 2, 1 (measured on rows of up to 8192 floats). Old
 * sources take y before x, and shuffle at 1, 2, 4, 8, 16; which version changed that was not
 * looked for, and the parameters do not tell. With blocks > 1 each block leaves its sum in
 * memory, and the last to finish adds them up in an order that is not described here.
 *
 * All of this is done in op->compute, with elements converted to it. A mean is multiplied by
 * scalar[0] in that type at the end; then the result is converted to the type of out.
 *
 * Layer norm and RMS norm in one kernel: a block a row, along_x and along_y, vt 1, vector 4,
 * rows of a multiple of 4 elements, aligned. A thread has one state (Welford's, or a sum of
 * squares) and takes its groups element by element; states are joined by shuffles at distances
 * 16 .. 1, then over y at distances height / 2 .. 1. From the source, not measured.
 */
#ifndef AF_MATCHER_ATEN_REDUCE_H
#define AF_MATCHER_ATEN_REDUCE_H

#include "matcher/op.h"

/* May be true of sum, mean, amax, layernorm, rmsnorm. */
static inline bool aten_reduce_has_order(const struct op *op)
{
	return op->order.width != 0;
}

#endif
