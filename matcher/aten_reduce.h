/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order in which ATen's reduce_kernel adds up, as its parameters say it (op->order, valid where
 * width is not 0). A block is width x height threads; a row (an output) belongs to the threads of a
 * block that share it: along x if `along_x`, along y if `along_y`, both or neither; and to `blocks`
 * blocks of the grid.
 *
 * What thread (x, y) of block b does with the elements 0 .. cols - 1 of its row:
 *
 *   first = (x if along_x) + (y * (width if along_x, else 1) if along_y) + b * (all of these), or
 * what mult[0..2] say: x * mult[0] + y * mult[1] + b * mult[2]; step is the number of threads that
 * share the row.
 *
 *   vector == 0: acc[0 .. vt-1] = identity; i = first; while i + (vt - 1) * step < cols, acc[k] +=
 *   in[i + k * step] for k in 0 .. vt-1, then i += vt * step; what is left goes once more to
 * acc[0], acc[1], ... in turn.
 *
 *   vector == V: acc[0 .. V-1] = identity. If the row's address is not divisible by V elements, the
 *   elements before the first that is are each added to acc[0] of thread x (the place within V at
 *   which they lie), y = 0, b = 0. From there on groups of V: group i = first, first + step, ... is
 *   added to acc[0 .. V-1], element by element; the last less than V elements go to acc[0] of
 * threads x = 0, 1, ..., y = 0, b = 0.
 *
 *   Then acc[0] + acc[1], + acc[2], ... in order. The identity of a sum is 0.
 *
 * Threads along x: halving through shared memory at distances width / 2 .. 32, then shuffles.
 * Threads along y: halving at distances height / 2 .. 1. PyTorch 2.11 does x before y and shuffles
 * at distances 16, 8, 4, 2, 1 (measured, rows of up to 8192 floats); versions before it do y first
 * and shuffle at 1, 2, 4, 8, 16 (from the source, not measured). The parameters do not tell which
 * it is. With blocks > 1 each block leaves its sum in memory and the last one to finish adds them
 * up, in an order that is not described here.
 *
 * All of it is done in op->compute, from elements converted to it; a mean is then multiplied by
 * scalar[0] in that type; then the result is converted to the type of out.
 */
#ifndef AF_MATCHER_ATEN_REDUCE_H
#define AF_MATCHER_ATEN_REDUCE_H

#include "matcher/op.h"

/* The opcodes whose op->order may be set: sum, mean, amax. */
static inline bool aten_reduce_has_order(const struct op *op)
{
	return op->order.width != 0;
}

#endif
