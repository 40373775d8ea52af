# SPDX-License-Identifier: Apache-2.0
test_plan_recorded_LIBS := -ljansson
test_plan_recorded_DEPS := $(O)/autofuse
