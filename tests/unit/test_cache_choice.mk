# SPDX-License-Identifier: Apache-2.0
test_cache_choice_SRC := shim/cache_choice.c fused/candidate.c
