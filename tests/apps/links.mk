# SPDX-License-Identifier: Apache-2.0
$(call app,links,tests/apps/links.cu,-cudart shared)
$(call app_companion,links,tests/apps/links.softgpu.cpp)
