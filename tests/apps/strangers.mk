# SPDX-License-Identifier: Apache-2.0
$(foreach t,fp32 bf16,$(call app,strangers-$(t),tests/apps/strangers.cu,-cudart shared $(if $(filter bf16,$(t)),-DSTRANGERS_BF16)))
$(foreach t,fp32 bf16,$(call app_companion,strangers-$(t),tests/apps/strangers.softgpu.cpp,$(if $(filter bf16,$(t)),-DSTRANGERS_BF16)))
