# SPDX-License-Identifier: Apache-2.0
$(call app,pairs,tests/apps/pairs.cu,-cudart shared)
$(call app_companion,pairs,tests/apps/pairs.softgpu.cpp)
