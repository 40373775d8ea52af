# SPDX-License-Identifier: Apache-2.0
# Programs of the GPU suite. They need no CUDA runtime and find the driver themselves, so they are
# built anywhere and run on the software GPU and on a real one alike.
GPU_DIR := $(O)/tests/gpu
GPU_BASE_OBJ := $(call objs,$(CONFIG_SRC) $(MATCHER_SRC) $(FUSED_SRC))
GPU_PROBE_OBJ := $(call objs,$(wildcard shim/probe_child*.c shim/purity*.c fused/fatbin.c fused/eval_image.c) shim/serve_child.c shim/cache.c shim/cache_profile.c \
	shim/cache_choice.c shim/cache_dir.c shim/cache_image.c shim/cache_image_list.c shim/nvrtc.c shim/nvrtc_find.c)
GPU_PROBE_LIBS := -l:libinih.a -l:libjansson.a -l:libelf.a -l:libz.a -l:libzstd.a -l:liblz4.a -ldl -lm
GPU_PROGRAMS := $(GPU_DIR)/probe_check $(GPU_DIR)/silu_check

ZOO := $(foreach f,ieee fast nofma,$(GPU_DIR)/zoo-$(f).fatbin)
zoo_flags-ieee :=
zoo_flags-fast := --use_fast_math
zoo_flags-nofma := -fmad=false
GPU_PROGRAMS += $(ZOO) $(GPU_DIR)/probe_check.softgpu.so $(GPU_DIR)/silu_check.softgpu.so

$(ZOO): $(GPU_DIR)/zoo-%.fatbin: tests/gpu/zoo.cu tests/gpu/zoo.cuh tests/gpu/zoo_silu.cuh
	$(call say,NVCC,$@)
	@mkdir -p $(@D)
	$(Q)$(NVCC) -std=c++17 -O2 -I. -arch=sm_90 $(zoo_flags-$*) -DZOO_FLAVOUR=$* -fatbin -o $@ $<

$(O)/obj/tests/gpu/%.o: EXTRA_CFLAGS += -isystem $(CUDA_INC)

$(GPU_DIR)/probe_check $(GPU_DIR)/silu_check: $(GPU_DIR)/%: $(O)/obj/tests/gpu/%.o $(GPU_BASE_OBJ) $(GPU_PROBE_OBJ)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -pthread -o $@ $^ $(GPU_PROBE_LIBS)

$(call softgpu_companion,$(GPU_DIR)/probe_check,tests/gpu/probe_check.softgpu.cpp)
$(call softgpu_companion,$(GPU_DIR)/silu_check,tests/gpu/probe_check.softgpu.cpp)

# The fused kernels against plain ones.
REFERENCES := $(GPU_DIR)/reference-ieee.fatbin $(GPU_DIR)/reference-ftz.fatbin
reference_flags-ieee := -DREF_FTZ=0
reference_flags-ftz := -DREF_FTZ=1 -ftz=true
$(REFERENCES): $(GPU_DIR)/reference-%.fatbin: tests/gpu/reference.cu tests/gpu/reference.cuh tests/gpu/reference_silu.cuh tests/gpu/reference.h $(FUSED_KERNELS)
	$(call say,NVCC,$@)
	@mkdir -p $(@D)
	$(Q)$(NVCC) -std=c++17 -I. -arch=sm_90 $(reference_flags-$*) -fatbin -o $@ $<

$(GPU_DIR)/fused_check $(GPU_DIR)/fused_silu_check: $(GPU_DIR)/%: $(O)/obj/tests/gpu/%.o $(GPU_BASE_OBJ) $(call objs,shim/probe_child_number.c)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -pthread -o $@ $^ -l:libinih.a -ldl -lm

$(call softgpu_companion,$(GPU_DIR)/fused_check,tests/gpu/fused_check.softgpu.cpp)
$(call softgpu_companion,$(GPU_DIR)/fused_silu_check,tests/gpu/fused_check.softgpu.cpp)
GPU_PROGRAMS += $(GPU_DIR)/fused_check $(GPU_DIR)/fused_silu_check $(GPU_DIR)/fused_silu_check.softgpu.so $(REFERENCES) $(GPU_DIR)/fused_check.softgpu.so

$(GPU_DIR)/fused_bench: $(O)/obj/tests/gpu/fused_bench.o $(GPU_BASE_OBJ)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -pthread -o $@ $^ -l:libinih.a -ldl -lm
GPU_PROGRAMS += $(GPU_DIR)/fused_bench

$(GPU_DIR)/separation_check: $(O)/obj/tests/gpu/separation_check.o $(GPU_BASE_OBJ) $(call objs,$(addprefix \
	shim/probe_child_,bench.c device.c lap.c pace.c inputs.c inputs_silu.c number.c search.c search_silu.c tune.c))
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -pthread -o $@ $^ -l:libinih.a -ldl -lm
GPU_PROGRAMS += $(GPU_DIR)/separation_check

# Ways to move a row, to be measured.
$(GPU_DIR)/sweep: $(O)/obj/tests/gpu/sweep.o $(GPU_BASE_OBJ)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -pthread -o $@ $^ -l:libinih.a -ldl -lm
$(GPU_DIR)/sweep.fatbin: tests/gpu/sweep.cu tests/gpu/sweep.cuh tests/gpu/sweep.def $(FUSED_KERNELS)
	$(call say,NVCC,$@)
	@mkdir -p $(@D)
	$(Q)$(NVCC) -std=c++17 -I. -arch=sm_90 -fatbin -o $@ $<
GPU_PROGRAMS += $(GPU_DIR)/sweep $(GPU_DIR)/sweep.fatbin

# For maintainers: where host time goes.
$(GPU_DIR)/sampler.so: tests/gpu/sampler.c
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O2 $(WARN) -shared -fPIC -o $@ $<
GPU_PROGRAMS += $(GPU_DIR)/sampler.so

include $(filter-out tests/gpu/rules.mk,$(sort $(wildcard tests/gpu/*.mk)))
