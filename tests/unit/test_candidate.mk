# SPDX-License-Identifier: Apache-2.0
test_candidate_SRC := fused/candidate.c fused/space.c fused/silu_space.c fused/tree.c
