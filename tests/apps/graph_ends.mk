# SPDX-License-Identifier: Apache-2.0
# Through the driver's own interface, with an image of its own that it can unload.
$(O)/obj/tests/apps/graph_ends.o: CPPFLAGS += -I$(CUDA_INC)
$(APPS_DIR)/graph_ends: $(O)/obj/tests/apps/graph_ends.o $(SOFTGPU_DIR)/libcuda.so.1
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(EXTRA_LDFLAGS) -pthread -o $@ $^

$(APPS_DIR)/graph_ends.cubin: tests/apps/graph_random_kernels.cuh
	$(call say,NVCC,$@)
	@mkdir -p $(@D)
	$(Q)$(NVCC) $(APPS_NVCCFLAGS) -x cu -cubin -o $@ $<
APPS += $(APPS_DIR)/graph_ends $(APPS_DIR)/graph_ends.cubin
$(call app_companion,graph_ends,tests/apps/graph_random.softgpu.cpp,)
