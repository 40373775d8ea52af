# SPDX-License-Identifier: Apache-2.0
test_memory_SRC := shim/memory.c shim/memory_ask.c shim/mappings.c
$(O)/obj/tests/unit/test_memory.o: override EXTRA_CFLAGS += -isystem $(CUDA_INC)
