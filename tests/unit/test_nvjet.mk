# SPDX-License-Identifier: Apache-2.0
test_nvjet_SRC := tools/trace.c tools/trace_line.c tools/trace_times.c tools/trace_kernels.c
test_nvjet_LIBS := -ljansson -lz
