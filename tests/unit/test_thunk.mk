# SPDX-License-Identifier: Apache-2.0
test_thunk_SRC := shim/entry.S shim/thunk.c shim/driver.c shim/elf.c shim/route.c
test_thunk_LIBS := -ldl
$(O)/obj/tests/unit/test_thunk.o: override EXTRA_CFLAGS += -isystem $(CUDA_INC)
