# SPDX-License-Identifier: Apache-2.0
test_run_DEPS := $(O)/autofuse
