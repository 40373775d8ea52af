# SPDX-License-Identifier: Apache-2.0
ROW_INTERP := tests/unit/row_interp.c tests/unit/row_interp_sum.c tests/unit/row_interp_types.c
test_row_random_SRC := $(ROW_INTERP)
