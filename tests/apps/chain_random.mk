# SPDX-License-Identifier: Apache-2.0
$(call app,chain_random,tests/apps/chain_random.cu,-cudart shared)
$(call app_companion,chain_random,tests/apps/chain_random.softgpu.cpp)
