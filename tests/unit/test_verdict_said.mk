# SPDX-License-Identifier: Apache-2.0
test_verdict_said_SRC := shim/verdict_said.c shim/cache.c shim/cache_choice.c shim/cache_dir.c $(filter-out fused/image.c,$(FUSED_SRC))
$(O)/obj/tests/unit/test_verdict_said.o: override EXTRA_CFLAGS += -isystem $(CUDA_INC)
