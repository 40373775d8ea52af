# SPDX-License-Identifier: Apache-2.0
$(call app,launch_cost,tests/apps/launch_cost.cu,-cudart static)
