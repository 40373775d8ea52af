# SPDX-License-Identifier: Apache-2.0
test_reasons_SRC := tools/plan_print.c tools/plan_result.c tools/plan_known.c tools/readable.c
test_reasons_LIBS := -ljansson
