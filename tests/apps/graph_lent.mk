# SPDX-License-Identifier: Apache-2.0
$(call app,graph_lent,tests/apps/graph_lent.cu,-cudart shared)
$(call app_companion,graph_lent,tests/apps/graph_random.softgpu.cpp,)
