# SPDX-License-Identifier: Apache-2.0
$(call app,graph_random,tests/apps/graph_random.cu,-cudart shared)
$(call app_companion,graph_random,tests/apps/graph_random.softgpu.cpp,)
