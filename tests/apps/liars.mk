# SPDX-License-Identifier: Apache-2.0
$(call app,liars,tests/apps/liars.cu,-cudart shared)
$(call app_companion,liars,tests/apps/liars.softgpu.cpp)
