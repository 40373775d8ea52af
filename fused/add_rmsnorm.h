/* SPDX-License-Identifier: Apache-2.0 */
/* The parameter of the add -> RMSNorm kernels, as host code fills it. */
#ifndef AF_FUSED_ADD_RMSNORM_H
#define AF_FUSED_ADD_RMSNORM_H

#include "fused/fields.h"

enum { OPERAND_A, OPERAND_B, OPERAND_SUM, OPERAND_W, OPERAND_OUT, OPERAND_COUNT };

/* Who has a row: a block, which stages it in shared memory; a warp, likewise; or a block that
 * stages it in the row of sum or out, because it does not fit in shared memory. */
enum { LAYOUT_BLOCK, LAYOUT_WARP, LAYOUT_LONG };

enum { ADD_RMSNORM_THREADS = 1024 }; /* of a block at most */

struct add_rmsnorm_args {
	uint64_t addr[OPERAND_COUNT]; /* sum: 0 if it is not to be stored */
	int64_t pitch[OPERAND_COUNT]; /* bytes between rows; 0: every row reads the same */
	uint8_t width[OPERAND_COUNT]; /* bytes of one access, 2 to 16: divides addr and pitch */
	uint8_t weight_bytes;         /* 2 or 4: type of w is the operands' or float */
	int64_t rows;
	int32_t cols;
	uint32_t team_bytes;     /* dynamic shared memory of one row, multiple of 16 */
	float n, inverse_n, eps; /* cols; 1 / cols and eps rounded to float */
	double eps_double;
	struct fields f;
};

#endif
