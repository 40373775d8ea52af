# SPDX-License-Identifier: Apache-2.0
test_compile_SRC := shim/compile_parent.c shim/child.c shim/serve.c shim/spawn.c shim/worker.c shim/elf.c shim/cache.c shim/cache_dir.c \
	shim/cache_image.c shim/cache_image_list.c shim/cache_nvrtc.c $(wildcard fused/gen*.c) tests/gpu/row_make.c
test_compile_LIBS := -ldl
test_compile_DEPS := $(O)/autofuse $(O)/softgpu/libnvrtc.so.13
$(O)/obj/tests/unit/test_compile.o: override EXTRA_CFLAGS += -isystem $(CUDA_INC)
