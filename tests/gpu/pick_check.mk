# SPDX-License-Identifier: Apache-2.0
# The picks of chains' members, found by the probe.
PICKS := $(foreach f,ieee fast nofma,$(GPU_DIR)/picks-$(f).fatbin)
$(PICKS): $(GPU_DIR)/picks-%.fatbin: tests/gpu/picks.cu tests/gpu/picks.cuh
	$(call say,NVCC,$@)
	@mkdir -p $(@D)
	$(Q)$(NVCC) -std=c++17 -O2 -I. -arch=sm_90 $(zoo_flags-$*) -DPICKS_FLAVOUR=$* -fatbin -o $@ $<

$(GPU_DIR)/pick_check: $(O)/obj/tests/gpu/pick_check.o $(GPU_BASE_OBJ) $(GPU_PROBE_OBJ)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -pthread -o $@ $^ $(GPU_PROBE_LIBS)
$(call softgpu_companion,$(GPU_DIR)/pick_check,tests/gpu/pick_check.softgpu.cpp)
GPU_PROGRAMS += $(GPU_DIR)/pick_check $(GPU_DIR)/pick_check.softgpu.so $(PICKS)

# What the probe runs as data, against the same statement by statement.
$(GPU_DIR)/eval_check: $(O)/obj/tests/gpu/eval_check.o $(O)/obj/fused/eval_image.o $(GEN_TEST_OBJ) $(GPU_BASE_OBJ)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -pthread -o $@ $^ -l:libinih.a -ldl -lm
$(call softgpu_companion,$(GPU_DIR)/eval_check,tests/gpu/gen_check.softgpu.cpp)
GPU_PROGRAMS += $(GPU_DIR)/eval_check $(GPU_DIR)/eval_check.softgpu.so
