#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Kernels generated of candidates against those by hand, byte for byte.
. "$(dirname "$0")/lib.sh"
[ "$AF_BACKEND" != soft ] || export AUTOFUSE_NVRTC=$AF_BUILD/softgpu
tap candidate_check "$AF_BUILD/tests/gpu/candidate_check" -n "${CANDIDATE_COUNT:-$([ "$AF_BACKEND" = soft ] && echo 48 || echo 96)}"
finish
