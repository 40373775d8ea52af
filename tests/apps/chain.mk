# SPDX-License-Identifier: Apache-2.0
$(call app,chain,tests/apps/chain.cu,-cudart shared)
$(call app_companion,chain,tests/apps/chain.softgpu.cpp)
