# SPDX-License-Identifier: Apache-2.0
test_recorded_streams_SRC := tests/unit/row_interp.c tests/unit/row_interp_sum.c tests/unit/row_interp_types.c \
	tools/trace.c tools/trace_line.c tools/trace_times.c tools/trace_kernels.c
test_recorded_streams_LIBS := -ljansson -lz
