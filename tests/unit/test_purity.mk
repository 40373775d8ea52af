# SPDX-License-Identifier: Apache-2.0
# The same kernels as an image of each kind that a program may load.
PURITY_IMAGES := $(addprefix $(O)/tests/unit/purity-,sm80.cubin sm90.cubin sm100.cubin sm90.ptx \
	default.fatbin none.fatbin speed.fatbin size.fatbin)
test_purity_SRC := shim/purity.c shim/purity_elf.c shim/purity_ptx.c shim/purity_sass.c fused/fatbin.c
test_purity_LIBS := -l:libelf.a -l:libz.a -l:libzstd.a -l:liblz4.a
test_purity_DEPS := $(PURITY_IMAGES)
test_fatbin_SRC := fused/fatbin.c
test_fatbin_LIBS := -l:libzstd.a -l:liblz4.a
test_fatbin_DEPS := $(PURITY_IMAGES)

$(O)/tests/unit/purity-sm%.cubin: tests/unit/purity_kernels.cu
	$(call say,NVCC,$@)
	@mkdir -p $(@D)
	$(Q)$(NVCC) -arch=sm_$* -cubin -o $@ $<
$(O)/tests/unit/purity-sm%.ptx: tests/unit/purity_kernels.cu
	$(call say,NVCC,$@)
	@mkdir -p $(@D)
	$(Q)$(NVCC) -arch=sm_$* -ptx -o $@ $<
$(O)/tests/unit/purity-%.fatbin: tests/unit/purity_kernels.cu
	$(call say,NVCC,$@)
	@mkdir -p $(@D)
	$(Q)$(NVCC) -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 \
		-gencode arch=compute_75,code=compute_75 --compress-mode=$* -fatbin -o $@ $<
