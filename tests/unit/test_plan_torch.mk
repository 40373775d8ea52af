# SPDX-License-Identifier: Apache-2.0
test_plan_torch_LIBS := -ljansson
test_plan_torch_DEPS := $(O)/autofuse
