# SPDX-License-Identifier: Apache-2.0
test_launch_SRC := fused/candidate.c fused/space.c fused/silu_space.c fused/tree.c fused/launch.c fused/launch_check.c fused/launch_silu_mul.c
