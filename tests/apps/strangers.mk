# SPDX-License-Identifier: Apache-2.0
strangers_type-bf16 := -DSTRANGERS_BF16
strangers_type-fp16 := -DSTRANGERS_FP16
$(foreach t,fp32 bf16 fp16,$(call app,strangers-$(t),tests/apps/strangers.cu,-cudart shared $(strangers_type-$(t))))
$(foreach t,fp32 bf16 fp16,$(call app_companion,strangers-$(t),tests/apps/strangers.softgpu.cpp,$(strangers_type-$(t))))
