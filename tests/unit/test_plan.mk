# SPDX-License-Identifier: Apache-2.0
test_plan_LIBS := -ljansson
test_plan_DEPS := $(O)/autofuse
