# SPDX-License-Identifier: Apache-2.0
test_dag_SRC := tools/dag.c
