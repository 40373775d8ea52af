# SPDX-License-Identifier: Apache-2.0
# Generated kernels against the same row programs statement by statement.
# -fmad=false as in nvrtc.c: what the toolkit contracts inside of powf is then the same on both sides.
$(GPU_DIR)/row_reference.fatbin: tests/gpu/row_reference.cu tests/gpu/row_reference.cuh fused/gen_types.cuh fused/device.h fused/order.inc matcher/row.h matcher/row.def
	$(call say,NVCC,$@)
	@mkdir -p $(@D)
	$(Q)$(NVCC) -std=c++17 -I. -arch=sm_90 -fmad=false -fatbin -o $@ $<

GEN_TEST_OBJ := $(call objs,tests/gpu/row_make.c tests/gpu/row_random.c shim/nvrtc.c shim/nvrtc_find.c)
$(GPU_DIR)/gen_check: $(O)/obj/tests/gpu/gen_check.o $(GEN_TEST_OBJ) $(GPU_BASE_OBJ)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -pthread -o $@ $^ -l:libinih.a -ldl -lm
$(call softgpu_companion,$(GPU_DIR)/gen_check,tests/gpu/gen_check.softgpu.cpp)
GPU_PROGRAMS += $(GPU_DIR)/gen_check $(GPU_DIR)/gen_check.softgpu.so $(GPU_DIR)/row_reference.fatbin

$(GPU_DIR)/gen_bench: $(O)/obj/tests/gpu/gen_bench.o $(GEN_TEST_OBJ) $(GPU_BASE_OBJ)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -pthread -o $@ $^ -l:libinih.a -ldl -lm
GPU_PROGRAMS += $(GPU_DIR)/gen_bench

# What cloning costs; on a real GPU only.
$(GPU_DIR)/clone_cost: $(O)/obj/tests/gpu/clone_cost.o
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -pthread -o $@ $^ -ldl
GPU_PROGRAMS += $(GPU_DIR)/clone_cost
