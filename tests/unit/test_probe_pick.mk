# SPDX-License-Identifier: Apache-2.0
test_probe_pick_SRC := shim/probe_child_pick.c $(wildcard fused/gen*.c) fused/candidate.c fused/space.c fused/silu_space.c fused/tree.c
