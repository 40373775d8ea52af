# SPDX-License-Identifier: Apache-2.0
$(call app,graph_chain,tests/apps/graph_chain.cu,-cudart shared)
$(call app_companion,graph_chain,tests/apps/graph_chain.softgpu.cpp,)
