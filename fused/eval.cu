/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel of gen_eval.h as it comes with the command: with NVRTC it takes two seconds to compile,
 * longer than all the rest of a first probe. Likewise the companion of the software GPU.
 */
#include "fused/gen_order.cuh"
#include "fused/gen_memory.cuh"
#include "fused/fields.h"
#include "fused/gen_eval_args.h"

enum {
#define ROW(name, nargs, commutes, what) ROW_##name,
#include "matcher/row.def"
#undef ROW
};
enum {
	DT_NONE,
#define DTYPE(name, bytes) DT_##name,
#include "matcher/dtype.def"
#undef DTYPE
};

#include "fused/gen_eval.cuh"
