# SPDX-License-Identifier: Apache-2.0
test_models_graph_SRC := tests/unit/row_interp.c tests/unit/row_interp_sum.c tests/unit/row_interp_types.c
