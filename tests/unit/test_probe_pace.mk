# SPDX-License-Identifier: Apache-2.0
test_probe_pace_SRC := shim/probe_child_pace.c
$(O)/obj/tests/unit/test_probe_pace.o: override EXTRA_CFLAGS += -isystem $(CUDA_INC)
