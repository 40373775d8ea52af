#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The probe finds the pick of every member of a chain, and nothing where a member is not what it is
# said to be or its inputs are too weak. What it runs as data is what generated kernels compute.
. "$(dirname "$0")/lib.sh"
[ "$AF_BACKEND" != soft ] || export AUTOFUSE_NVRTC=$AF_BUILD/softgpu
tap eval_check "$AF_BUILD/tests/gpu/eval_check" -n 1500
SOFTGPU_KERNELS=$AF_BUILD/libautofuse.softgpu.so tap "eval_check, the command's kernel" "$AF_BUILD/tests/gpu/eval_check" -c -n 1500
tap pick_check "$AF_BUILD/tests/gpu/pick_check"
finish
