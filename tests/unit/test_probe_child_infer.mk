# SPDX-License-Identifier: Apache-2.0
test_probe_child_infer_SRC := shim/probe_child_infer_space.c shim/probe_child_infer_section.c shim/probe_child_infer_span.c
