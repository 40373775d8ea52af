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
