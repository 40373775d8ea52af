# SPDX-License-Identifier: Apache-2.0
test_times_SRC := tools/times.c
