/* SPDX-License-Identifier: Apache-2.0 */
/* Parameter of the reference kernels. */
#ifndef AF_TESTS_GPU_REFERENCE_H
#define AF_TESTS_GPU_REFERENCE_H

#include "fused/fields.h"
#include "fused/silu_mul.h"

enum { REFERENCE_F32, REFERENCE_F16, REFERENCE_BF16 };

struct silu_reference_args {
	struct silu_mul_args k; /* addresses, pitches, rows and columns, fields */
	int32_t type;
};

struct reference_args {
	uint64_t a, b, sum, w, out; /* sum: 0 if it is not stored */
	int64_t pitch_a, pitch_b, pitch_sum, pitch_out;
	int64_t rows, cols;
	uint64_t x, nodes; /* scratch: rows x cols floats, rows x 1024 floats */
	int32_t type, weight_type;
	float eps;
	double eps_double;
	struct fields f;
};

#endif
