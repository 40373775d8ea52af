# SPDX-License-Identifier: Apache-2.0
test_plan_nodes_LIBS := -ljansson
test_plan_nodes_DEPS := $(O)/autofuse
