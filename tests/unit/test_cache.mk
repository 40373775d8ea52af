# SPDX-License-Identifier: Apache-2.0
test_cache_SRC := shim/cache.c shim/cache_dir.c
