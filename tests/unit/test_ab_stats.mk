# SPDX-License-Identifier: Apache-2.0
test_ab_stats_SRC := tools/ab_stats.c
