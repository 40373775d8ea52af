# SPDX-License-Identifier: Apache-2.0
# Sample programs: nvcc builds as users make them, and companions with their kernels for the software
# GPU. $(APPS) is all of them, $(DEMO_APPS) what the demo needs. More programs: tests/apps/NAME.mk.
#
#   $(call app,NAME,SOURCE,FLAGS)  rule for $(O)/apps/NAME from a .cu file, added to APPS
#   $(call app_companion,NAME,SOURCE,FLAGS)  its companions from a .cpp file, added to APPS

APPS_DIR := $(O)/apps
APPS_NVCCFLAGS := -arch=sm_90 -std=c++17 -O2 -Itests/apps

define app_rule
$(APPS_DIR)/$(1): $(2)
	$$(call say,NVCC,$$@)
	@mkdir -p $$(@D) $(O)/obj/apps
	$$(Q)$$(NVCC) $(APPS_NVCCFLAGS) $(3) -MD -MP -MF $(O)/obj/apps/$(1).d -MT $$@ -o $$@ $$<
APPS += $(APPS_DIR)/$(1)

endef
app = $(eval $(call app_rule,$(strip $(1)),$(strip $(2)),$(3)))

define app_companion_rule
$(call softgpu_companion,$(APPS_DIR)/$(1),$(2),$(3))
APPS += $(APPS_DIR)/$(1).softgpu.so $(APPS_DIR)/$(1).softgpu-asan.so

endef
app_companion = $(eval $(call app_companion_rule,$(strip $(1)),$(strip $(2)),$(3)))

apps_link-static := -cudart static
apps_link-shared := -cudart shared
apps_link-ptds := -cudart shared --default-stream per-thread
apps_type-fp32 :=
apps_type-bf16 := -DDECODER_BF16
$(foreach l,static shared ptds,$(foreach t,fp32 bf16,$(call app,decoder-$(l)-$(t),\
	tests/apps/decoder.cu,$(apps_link-$(l)) $(apps_type-$(t)))))
# The static runtime wants private tables of the real driver: it has no companions.
$(foreach l,shared ptds,$(foreach t,fp32 bf16,$(call app_companion,decoder-$(l)-$(t),\
	tests/apps/decoder.softgpu.cpp,$(apps_type-$(t)))))

DEMO_APPS := $(addprefix $(APPS_DIR)/,decoder-shared-fp32 decoder-shared-fp32.softgpu.so decoder-static-fp32)

include $(filter-out tests/apps/rules.mk,$(sort $(wildcard tests/apps/*.mk)))
