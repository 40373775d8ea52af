# SPDX-License-Identifier: Apache-2.0
test_verdict_site_SRC := shim/verdict_site.c
$(O)/obj/tests/unit/test_verdict_site.o: override EXTRA_CFLAGS += -isystem $(CUDA_INC)
