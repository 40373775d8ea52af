# SPDX-License-Identifier: Apache-2.0
test_cache_profile_SRC := shim/cache.c shim/cache_dir.c shim/cache_mark.c shim/cache_profile.c
