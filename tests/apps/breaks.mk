# SPDX-License-Identifier: Apache-2.0
$(call app,breaks,tests/apps/breaks.cu,-cudart shared)
$(call app_companion,breaks,tests/apps/breaks.softgpu.cpp)
