# SPDX-License-Identifier: Apache-2.0
# Programs of the GPU suite. They need no CUDA runtime and find the driver themselves, so they are
# built anywhere and run on the software GPU and on a real one alike.
GPU_DIR := $(O)/tests/gpu
GPU_BASE_OBJ := $(call objs,$(CONFIG_SRC) $(MATCHER_SRC) $(FUSED_SRC))
GPU_PROBE_OBJ := $(call objs,$(wildcard shim/probe_child*.c shim/purity*.c shim/fatbin.c) shim/cache.c \
	shim/cache_dir.c)
GPU_PROBE_LIBS := -l:libinih.a -l:libjansson.a -l:libelf.a -l:libz.a -l:libzstd.a -l:liblz4.a -ldl -lm
GPU_PROGRAMS := $(GPU_DIR)/probe_check

ZOO := $(foreach f,ieee fast nofma,$(GPU_DIR)/zoo-$(f).fatbin)
zoo_flags-ieee :=
zoo_flags-fast := --use_fast_math
zoo_flags-nofma := -fmad=false
GPU_PROGRAMS += $(ZOO) $(GPU_DIR)/probe_check.softgpu.so

$(ZOO): $(GPU_DIR)/zoo-%.fatbin: tests/gpu/zoo.cu tests/gpu/zoo.cuh
	$(call say,NVCC,$@)
	@mkdir -p $(@D)
	$(Q)$(NVCC) -std=c++17 -O2 -I. -arch=sm_90 $(zoo_flags-$*) -DZOO_FLAVOUR=$* -fatbin -o $@ $<

$(O)/obj/tests/gpu/%.o: EXTRA_CFLAGS += -isystem $(CUDA_INC)

$(GPU_DIR)/probe_check: $(O)/obj/tests/gpu/probe_check.o $(GPU_BASE_OBJ) $(GPU_PROBE_OBJ)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -pthread -o $@ $^ $(GPU_PROBE_LIBS)

$(call softgpu_companion,$(GPU_DIR)/probe_check,tests/gpu/probe_check.softgpu.cpp)

# Our own kernels for the software GPU, beside the library.
$(call softgpu_companion,$(O)/libautofuse,fused/softgpu.cpp)
GPU_PROGRAMS += $(O)/libautofuse.softgpu.so
