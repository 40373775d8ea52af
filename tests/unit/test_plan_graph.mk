# SPDX-License-Identifier: Apache-2.0
test_plan_graph_LIBS := -ljansson
test_plan_graph_DEPS := $(O)/autofuse
