# SPDX-License-Identifier: Apache-2.0
# Our kernels: one fatbin that the library carries, and the same kernels for the software GPU.
FUSED_ARCH := -gencode arch=compute_90,code=sm_90 -gencode arch=compute_80,code=compute_80
FUSED_KERNELS := $(wildcard fused/*.cuh fused/*.inc fused/*.def) fused/device.h fused/fields.h \
	fused/add_rmsnorm.h fused/silu_mul.h fused/check.h

# Compressed by LZ4, which older drivers read too.
$(O)/fused/kernels.fatbin: fused/kernels.cu $(FUSED_KERNELS)
	$(call say,NVCC,$@)
	@mkdir -p $(@D)
	$(Q)$(NVCC) -std=c++17 -I. $(FUSED_ARCH) --compress-mode=speed -fatbin -o $@ $<

$(O)/obj/fused/image.o: $(O)/fused/kernels.fatbin
$(O)/obj/fused/image.o: EXTRA_CFLAGS := -Wa,-I$(O)/fused
