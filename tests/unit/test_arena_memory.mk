# SPDX-License-Identifier: Apache-2.0
test_arena_memory_SRC := shim/arena_memory.c
$(O)/obj/tests/unit/test_arena_memory.o: override EXTRA_CFLAGS += -isystem $(CUDA_INC)
