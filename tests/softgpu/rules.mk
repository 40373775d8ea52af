# SPDX-License-Identifier: Apache-2.0
# The software GPU: build/softgpu/libcuda.so.1 and libcudart.so.13, and how to build companions of
# kernels. Uses the top Makefile's O, Q, say, CXX, NVCC, CUDA_INC.
#
#   $(SOFTGPU_LIBS)     the two libraries, and the companion with libautofuse's own kernels
#   $(call softgpu_companion,OUT,SOURCE,FLAGS)  rules for OUT.softgpu.so from one .cpp file, and for
#                                           OUT.softgpu-asan.so with the address and undefined
#                                           behaviour sanitizers (load libasan first: LD_PRELOAD)

SOFTGPU_DIR := $(O)/softgpu
SOFTGPU_LIBS := $(SOFTGPU_DIR)/libcuda.so.1 $(SOFTGPU_DIR)/libcudart.so.13 $(O)/libautofuse.softgpu.so \
	$(SOFTGPU_DIR)/cupti/libcupti.so.13 $(SOFTGPU_DIR)/libnvrtc.so.13

SOFTGPU_WARN := -Wall -Wextra -Wshadow -Wno-unused-parameter -Wno-deprecated-declarations
SOFTGPU_CXXFLAGS = -std=c++17 $(CFLAGS) $(SOFTGPU_WARN) -Werror=missing-declarations -fPIC -pthread \
	-fvisibility=$(SOFTGPU_VISIBILITY) -ftls-model=initial-exec -fno-exceptions -fno-gnu-unique \
	-MMD -MP -I. -I$(O)/gen -I$(CUDA_INC)
SOFTGPU_VISIBILITY := hidden
# The runtime's header declares its functions; the export map keeps the rest in.
$(O)/obj/softgpu/cudart/%.o: SOFTGPU_VISIBILITY := default
# The host has to contract as nvcc does, and must not take liberties that nvcc does not take.
SOFTGPU_FMA := $(if $(filter x86_64,$(shell uname -m)),-mfma -mf16c)
SOFTGPU_KERNEL_CXXFLAGS = -std=c++17 -O2 -g -Wall -Wno-unknown-pragmas -fPIC -pthread \
	-fvisibility=hidden -fno-gnu-unique -fno-extern-tls-init -fno-math-errno -fno-trapping-math \
	-ffp-contract=fast $(SOFTGPU_FMA) -MMD -MP -I. -I$(CUDA_INC)
SOFTGPU_SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer

softgpu_objs = $(patsubst tests/softgpu/%.cpp,$(O)/obj/softgpu/%.o,$(wildcard tests/softgpu/$(1)/*.cpp))

$(O)/obj/softgpu/%.o: tests/softgpu/%.cpp | $(O)/gen/driver_api.def
	$(call say,CXX,$@)
	@mkdir -p $(@D)
	$(Q)$(CXX) $(SOFTGPU_CXXFLAGS) -c -o $@ $<

softgpu_link = $(CXX) -shared -pthread $(EXTRA_LDFLAGS) -Wl,-soname,$(@F) -Wl,-z,defs -Wl,-Bsymbolic \
	-Wl,--version-script=$(filter %.map,$^) -o $@ $(filter %.o,$^) -ldl

$(SOFTGPU_DIR)/libcuda.so.1: $(call softgpu_objs,driver) tests/softgpu/driver/exports.map
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(softgpu_link)

$(SOFTGPU_DIR)/libcudart.so.13: $(call softgpu_objs,cudart) tests/softgpu/cudart/exports.map
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(softgpu_link)

# A folder of its own: found only where a test says so.
$(SOFTGPU_DIR)/cupti/libcupti.so.13: tests/softgpu/cupti/cupti.c tests/softgpu/cupti/layout.c shim/cupti.h tests/softgpu/softgpu.h
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(CFLAGS) $(WARN) $(CPPFLAGS) $(EXTRA_LDFLAGS) -isystem $(CUDA_INC) -fPIC -pthread -shared \
		-fvisibility=hidden -Wno-missing-prototypes -Wl,-soname,libcupti.so.13 -o $@ $(filter %.c,$^) -ldl

# Compiles texts as companions are compiled; device.h comes precompiled, as it is most of the time it takes.
SOFTGPU_NVRTC_CXXFLAGS = $(filter-out -MMD -MP -g -I%,$(SOFTGPU_KERNEL_CXXFLAGS)) -Wno-maybe-uninitialized -I$(CURDIR) -I$(CUDA_INC)
$(SOFTGPU_DIR)/nvrtc-device.h.gch: $(wildcard tests/softgpu/device*.h) tests/softgpu/engine.h tests/softgpu/rules.mk
	$(call say,CXX,$@)
	@mkdir -p $(@D)
	$(Q)echo '#include "tests/softgpu/device.h"' >$(basename $@)
	$(Q)$(CXX) $(SOFTGPU_NVRTC_CXXFLAGS) -x c++-header -o $@ $(basename $@)

$(SOFTGPU_DIR)/libnvrtc.so.13: tests/softgpu/nvrtc/nvrtc.c $(SOFTGPU_DIR)/nvrtc-device.h.gch $(SOFTGPU_DIR)/libcuda.so.1
	$(call say,CC,$@)
	$(Q)$(CC) -std=gnu11 $(CFLAGS) $(WARN) -D_GNU_SOURCE $(EXTRA_LDFLAGS) -fPIC -shared -fvisibility=hidden \
		-Wno-missing-prototypes -Wl,-soname,libnvrtc.so.13 \
		-DSOFTGPU_NVRTC_COMPILER='"$(lastword $(CXX)) $(SOFTGPU_NVRTC_CXXFLAGS) -include $(abspath $(SOFTGPU_DIR))/nvrtc-device.h -shared -Wl,-Bsymbolic"' \
		-DSOFTGPU_NVRTC_LIBS='"$(abspath $(SOFTGPU_DIR))/libcuda.so.1"' -o $@ $<

define softgpu_companion_rule
$(1): $(2) $(SOFTGPU_DIR)/libcuda.so.1
	$$(call say,CXX,$$@)
	@mkdir -p $$(@D) $(O)/obj/companion
	$$(Q)$$(CXX) $$(SOFTGPU_KERNEL_CXXFLAGS) $(3) -shared -Wl,-Bsymbolic -Wl,-z,defs \
		-MF $(O)/obj/companion/$$(@F).d -MT $$@ -o $$@ $$< $(SOFTGPU_DIR)/libcuda.so.1

endef
softgpu_companion = $(eval $(call softgpu_companion_rule,$(strip $(1)).softgpu.so,$(strip $(2)),$(3))) \
	$(eval $(call softgpu_companion_rule,$(strip $(1)).softgpu-asan.so,$(strip $(2)),$(3) \
		$(SOFTGPU_SANITIZE)))

# Tests of the software GPU itself: one program per test_NAME.c, linked to its libcuda.so.1; kernels
# in kernels.softgpu.so beside them.
SOFTGPU_TEST_DIR := $(O)/tests/softgpu
SOFTGPU_TESTS := $(patsubst tests/softgpu/%.c,$(SOFTGPU_TEST_DIR)/%,$(sort $(wildcard tests/softgpu/test_*.c)))

$(call softgpu_companion,$(SOFTGPU_TEST_DIR)/kernels,tests/softgpu/test_kernels.softgpu.cpp)

$(SOFTGPU_TEST_DIR)/test_sanitizers: $(SOFTGPU_TEST_DIR)/kernels.softgpu-asan.so
$(SOFTGPU_TEST_DIR)/%: tests/softgpu/%.c $(SOFTGPU_DIR)/libcuda.so.1 $(SOFTGPU_TEST_DIR)/kernels.softgpu.so
	$(call say,CC,$@)
	@mkdir -p $(@D) $(O)/obj/softgpu/tests
	$(Q)$(CC) -std=gnu11 $(CFLAGS) $(WARN) $(CPPFLAGS) $(EXTRA_LDFLAGS) -pthread -I$(CUDA_INC) -MMD -MP \
		-MF $(O)/obj/softgpu/tests/$*.d -o $@ $< $(SOFTGPU_DIR)/libcuda.so.1 -lcmocka -ldl

# The same kernels in an nvcc program, which finds its companion by name.
SOFTGPU_RUNTIME_TESTS := $(SOFTGPU_TEST_DIR)/test_runtime-shared $(SOFTGPU_TEST_DIR)/test_runtime-ptds
SOFTGPU_TESTS += $(SOFTGPU_RUNTIME_TESTS)
$(SOFTGPU_TEST_DIR)/test_runtime-ptds: SOFTGPU_NVCCFLAGS := --default-stream per-thread
$(SOFTGPU_RUNTIME_TESTS): $(SOFTGPU_TEST_DIR)/test_runtime-%: tests/softgpu/test_runtime.cu \
		tests/softgpu/test_kernels.cuh $(SOFTGPU_TEST_DIR)/test_runtime-%.softgpu.so
	$(call say,NVCC,$@)
	@mkdir -p $(@D)
	$(Q)$(NVCC) -arch=sm_90 -std=c++17 -O1 -cudart shared $(SOFTGPU_NVCCFLAGS) -I. -o $@ $< -lcmocka -ldl

$(SOFTGPU_TEST_DIR)/test_runtime-%.softgpu.so: $(SOFTGPU_TEST_DIR)/kernels.softgpu.so
	$(Q)cp $< $@

# Our own kernels for the software GPU, beside the library.
$(call softgpu_companion,$(O)/libautofuse,tests/softgpu/libautofuse.cpp)
