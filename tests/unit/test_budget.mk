# SPDX-License-Identifier: Apache-2.0
test_budget_SRC := shim/budget.c
