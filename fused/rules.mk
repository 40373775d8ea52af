# SPDX-License-Identifier: Apache-2.0
# Our kernels: one fatbin that the library carries, and the same kernels for the software GPU.
# Machine code for the data centre GPUs of three generations; others from 8.0 on take the PTX. All of it
# comes from that one PTX: nothing here depends on the architecture, and it builds in a third of the time.
FUSED_ARCH := -gencode 'arch=compute_80,code=[sm_80,sm_90,sm_100,compute_80]'
FUSED_BYTES_MAX := 16777216
FUSED_KERNELS := $(filter-out fused/gen_%,$(wildcard fused/*.cuh fused/*.inc fused/*.def)) fused/device.h fused/fields.h \
	fused/add_rmsnorm.h fused/silu_mul.h fused/check.h

# Compressed by LZ4, which older drivers read too.
$(O)/fused/kernels.fatbin: fused/kernels.cu fused/rules.mk $(FUSED_KERNELS)
	$(call say,NVCC,$@)
	@mkdir -p $(@D)
	$(Q)$(NVCC) -std=c++17 -I. $(FUSED_ARCH) -Xfatbin -compress-all --compress-mode=speed -t 0 -fatbin -o $@ $<
	@[ $$(stat -c %s $@) -le $(FUSED_BYTES_MAX) ] || { echo "$@: larger than $(FUSED_BYTES_MAX) bytes"; rm $@; exit 1; }

$(O)/fused/kernels.sum: $(O)/fused/kernels.fatbin
	$(Q)sha256sum $< >$@.new && mv $@.new $@

$(O)/obj/fused/image.o: $(O)/fused/kernels.fatbin $(O)/fused/kernels.sum
$(O)/obj/fused/image.o: EXTRA_CFLAGS := -Wa,-I$(O)/fused

# The kernel that probes run row programs with, for the command. NVRTC makes it of the same text where this one will not do.
GEN_EVAL := fused/eval.cu $(wildcard fused/gen_*.cuh) fused/gen_eval_args.h fused/device.h fused/order.inc fused/fields.h \
	fused/candidate.def matcher/row.def matcher/dtype.def matcher/order.def
$(O)/fused/eval.fatbin: $(GEN_EVAL) fused/rules.mk
	$(call say,NVCC,$@)
	@mkdir -p $(@D)
	$(Q)$(NVCC) -std=c++17 -fmad=false -I. $(FUSED_ARCH) -Xfatbin -compress-all --compress-mode=speed -t 0 -fatbin -o $@ $<
$(O)/obj/fused/eval_image.o: $(O)/fused/eval.fatbin
$(O)/obj/fused/eval_image.o: EXTRA_CFLAGS := -Wa,-I$(O)/fused

# What every generated text begins with (fused/gen.c), as C strings; includes of each other go.
GEN_PRELUDE := fused/device.h fused/gen_types.cuh fused/gen_memory.cuh fused/gen_order.cuh
$(O)/gen/gen_prelude.def: $(GEN_PRELUDE) fused/rules.mk
	$(call say,GEN,$@)
	@mkdir -p $(@D)
	$(Q)sed -e '/^#include "fused\//d' -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/.*/GEN_PRELUDE("&")/' $(GEN_PRELUDE) > $@
$(O)/obj/fused/gen.o: $(O)/gen/gen_prelude.def

# The kernel that runs row programs as data, and orders of additions, which it has several times.
GEN_EVAL_KERNEL := fused/gen_eval_args.h fused/gen_eval.cuh
$(O)/gen/gen_eval_kernel.def: $(GEN_EVAL_KERNEL) fused/rules.mk
	$(call say,GEN,$@)
	@mkdir -p $(@D)
	$(Q)sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/.*/GEN_PRELUDE("&")/' $(GEN_EVAL_KERNEL) > $@
$(O)/gen/gen_eval_order.def: fused/order.inc fused/rules.mk
	$(call say,GEN,$@)
	@mkdir -p $(@D)
	$(Q)sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/.*/GEN_PRELUDE("&")/' $< > $@
$(O)/obj/fused/gen_eval.o: $(O)/gen/gen_eval_kernel.def $(O)/gen/gen_eval_order.def
