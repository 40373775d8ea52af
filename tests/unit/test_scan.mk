# SPDX-License-Identifier: Apache-2.0
# The same kernels in every kind of file that device code comes in.
SCAN_DIR := $(O)/tests/unit/scan
SCAN_FILES := $(addprefix $(SCAN_DIR)/,sm75.cubin sm90.cubin sm100.cubin plain.fatbin lz4.fatbin zstd.fatbin \
	linked)
SCAN_OBJECTS := $(addprefix $(SCAN_DIR)/,ptx.o relocatable.o lib.a)
test_scan_LIBS := -ljansson
test_scan_DEPS := $(O)/autofuse $(O)/libautofuse.so $(SCAN_FILES) $(O)/tests/unit/purity-sm90.ptx
# Order-only: they are to be scanned, not to be linked.
$(O)/tests/unit/test_scan: | $(SCAN_OBJECTS)
test_cubin_SRC := fused/cubin.c fused/cubin_info.c fused/ptx.c
test_cubin_LIBS := -l:libelf.a -l:libz.a -l:libzstd.a
test_readable_SRC := tools/readable.c
test_readable_LIBS := -ldl

scan_flags-plain.fatbin := --compress-mode=none
scan_flags-lz4.fatbin := --compress-mode=speed
scan_flags-zstd.fatbin := --compress-mode=size
SCAN_NVCC = $(Q)mkdir -p $(SCAN_DIR) && $(NVCC) -std=c++17
SCAN_SM := -gencode arch=compute_75,code=sm_75 -gencode arch=compute_90a,code=sm_90a

$(SCAN_DIR)/sm%.cubin: tests/unit/scan_kernels.cu
	$(call say,NVCC,$@)
	$(SCAN_NVCC) -arch=sm_$* -cubin -o $@ $<
$(SCAN_DIR)/%.fatbin: tests/unit/scan_kernels.cu
	$(call say,NVCC,$@)
	$(SCAN_NVCC) $(SCAN_SM) -gencode arch=compute_80,code=compute_80 $(scan_flags-$(@F)) -fatbin -o $@ $<
$(SCAN_DIR)/ptx.o: tests/unit/scan_kernels.cu
	$(call say,NVCC,$@)
	$(SCAN_NVCC) -gencode arch=compute_80,code=compute_80 -c -o $@ $<
$(SCAN_DIR)/relocatable.o: tests/unit/scan_kernels.cu
	$(call say,NVCC,$@)
	$(SCAN_NVCC) $(SCAN_SM) -rdc=true -DSCAN_MAIN -DSCAN_SMALL -c -o $@ $<
# Linked device code beside the relocatable code that it was made of, with the static runtime.
$(SCAN_DIR)/linked: $(SCAN_DIR)/relocatable.o
	$(call say,NVCC,$@)
	$(SCAN_NVCC) $(SCAN_SM) -cudart static -o $@ $<
$(SCAN_DIR)/lib.a: $(SCAN_DIR)/relocatable.o $(SCAN_DIR)/ptx.o
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rc $@ $^
