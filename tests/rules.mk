# SPDX-License-Identifier: Apache-2.0
# Tests: unit programs, end-to-end scripts on the software GPU, the GPU suite, the demo.
include tests/softgpu/rules.mk
include tests/apps/rules.mk
include tests/unit/rules.mk
include tests/preload/rules.mk
include tests/gpu/rules.mk
include tests/fuzz/rules.mk

TEST_DEPS := $(O)/libautofuse.so $(O)/autofuse $(SOFTGPU_LIBS) $(APPS) $(UNIT_TESTS) $(SOFTGPU_TESTS) \
	$(GPU_PROGRAMS) $(PRELOAD_TESTS) $(FUZZERS)

.PHONY: demo-run check-run tests asan
demo-run: $(O)/libautofuse.so $(O)/autofuse $(SOFTGPU_LIBS) $(DEMO_APPS)
	@tests/demo $(O)

tests: $(TEST_DEPS) ## build everything the tests need, run nothing

check-run: tests lint
	@tests/run soft $(O)

# NOBUILD=1: run what was built elsewhere (a machine with a GPU and without the -dev packages).
gpu-check: $(if $(filter 1,$(NOBUILD)),,tests) ## correctness suite on a real GPU
	@tests/run gpu $(O)

bench: $(if $(filter 1,$(NOBUILD)),,tests) ## speed tables on a real GPU
	@tests/gpu/bench $(O)
	@tests/gpu/bench_graphs $(O)
	@tests/gpu/bench_chain $(O) time
