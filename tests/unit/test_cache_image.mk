# SPDX-License-Identifier: Apache-2.0
test_cache_image_SRC := shim/cache.c shim/cache_dir.c shim/cache_image.c shim/cache_image_list.c shim/cache_nvrtc.c
