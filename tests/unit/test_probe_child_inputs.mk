# SPDX-License-Identifier: Apache-2.0
test_probe_child_inputs_SRC := shim/probe_child_inputs.c shim/probe_child_inputs_silu.c shim/probe_child_tune.c shim/probe_child_number.c fused/candidate.c \
	fused/space.c fused/silu_space.c fused/tree.c
