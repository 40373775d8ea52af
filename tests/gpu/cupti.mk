# SPDX-License-Identifier: Apache-2.0
# The call counter needs CUPTI's headers; without them that one test is skipped.
ifneq ($(wildcard $(CUDA_INC)/cupti.h $(CUDA_HOME)/extras/CUPTI/include/cupti.h),)
$(O)/tests/gpu/libcupti_counts.so: tests/gpu/cupti_counts.c
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -O2 -Wall -shared -fPIC -isystem $(CUDA_INC) -isystem $(CUDA_HOME)/extras/CUPTI/include -o $@ $< \
		-L$(CUDA_HOME)/lib64 -L$(CUDA_HOME)/extras/CUPTI/lib64 -lcupti
GPU_PROGRAMS += $(O)/tests/gpu/libcupti_counts.so
endif
