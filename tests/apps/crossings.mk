# SPDX-License-Identifier: Apache-2.0
# Two builds of one program.
$(call app,crossings,tests/apps/crossings.cu,-cudart shared)
$(call app_companion,crossings,tests/apps/crossings.softgpu.cpp)
$(call app,crossings-second,tests/apps/crossings.cu,-cudart shared -DCROSSINGS_SECOND)
$(call app_companion,crossings-second,tests/apps/crossings.softgpu.cpp,-DCROSSINGS_SECOND)
