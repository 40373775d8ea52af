# SPDX-License-Identifier: Apache-2.0
test_counts_SRC := shim/counts.c
