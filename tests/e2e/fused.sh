#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every fused kernel against plain ones, byte for byte.
. "$(dirname "$0")/lib.sh"
tap fused_check "$AF_BUILD/tests/gpu/fused_check"
tap fused_silu_check "$AF_BUILD/tests/gpu/fused_silu_check"
# The same code under the sanitizers.
if [ "$AF_BACKEND" = soft ]; then
	tap "fused_check, sanitized" env LD_PRELOAD="$(gcc -print-file-name=libasan.so)" \
		ASAN_OPTIONS=detect_leaks=0 FUSED_CHECK_CASES=2 FUSED_CHECK_COLUMNS=65536 \
		SOFTGPU_KERNELS="$AF_BUILD/libautofuse.softgpu-asan.so:$AF_BUILD/tests/gpu/fused_check.softgpu-asan.so" \
		"$AF_BUILD/tests/gpu/fused_check"
else
	skip "fused_check, sanitized" "the sanitizers need the software GPU"
fi
finish
