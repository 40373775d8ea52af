# SPDX-License-Identifier: Apache-2.0
test_serve_SRC := shim/serve.c shim/serve_child.c shim/spawn.c shim/child.c shim/worker.c
test_serve_LIBS := -ldl
$(O)/obj/tests/unit/test_serve.o: override EXTRA_CFLAGS += -isystem $(CUDA_INC)
