# SPDX-License-Identifier: Apache-2.0
test_trace_command_LIBS := -ljansson
test_trace_command_DEPS := $(O)/autofuse
