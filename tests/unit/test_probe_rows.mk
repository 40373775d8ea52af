# SPDX-License-Identifier: Apache-2.0
test_probe_rows_SRC := shim/probe_child_rows.c
