# SPDX-License-Identifier: Apache-2.0
# Linked with the decoders; it has its kernels with it, and runs on the software GPU only.
eager_SRC := tests/apps/eager.c tests/apps/eager_memory.c tests/apps/eager_work.c tests/unit/row_interp.c \
	tests/unit/row_interp_sum.c tests/unit/row_interp_types.c tools/trace.c tools/trace_line.c tools/trace_times.c \
	tools/trace_kernels.c $(CONFIG_SRC) $(MATCHER_SRC)
$(O)/obj/tests/apps/eager.o: CPPFLAGS += -I$(CUDA_INC)
$(O)/obj/tests/apps/eager_memory.o: CPPFLAGS += -I$(CUDA_INC)
$(O)/obj/apps/eager_math.o: tests/apps/eager_math.cpp
	$(call say,CXX,$@)
	@mkdir -p $(@D)
	$(Q)$(CXX) $(SOFTGPU_KERNEL_CXXFLAGS) -c -o $@ $<

$(APPS_DIR)/eager: $(call objs,$(eager_SRC)) $(O)/obj/apps/eager_math.o $(SOFTGPU_DIR)/libcuda.so.1
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(EXTRA_LDFLAGS) -pthread -o $@ $^ -l:libinih.a -ljansson -lz -lm
APPS += $(APPS_DIR)/eager
