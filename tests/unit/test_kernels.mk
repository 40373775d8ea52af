# SPDX-License-Identifier: Apache-2.0
test_kernels_SRC := shim/kernels.c shim/torch.c shim/images.c shim/image_bytes.c shim/image_file.c shim/elf.c
$(O)/obj/tests/unit/test_kernels.o: override EXTRA_CFLAGS += -isystem $(CUDA_INC)
