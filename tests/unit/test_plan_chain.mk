# SPDX-License-Identifier: Apache-2.0
test_plan_chain_LIBS := -ljansson
test_plan_chain_DEPS := $(O)/autofuse
