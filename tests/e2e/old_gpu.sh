#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# On a GPU older than our kernels a program runs as it is, with one warning and a reason.
. "$(dirname "$0")/lib.sh"
if [ "$AF_BACKEND" != soft ]; then
	skip "an older GPU" "needs the software GPU"
	finish
fi
export AUTOFUSE_CONFIG=$AF_TESTS/apps/decoder.ini
app=$APPS/decoder-shared-fp32
plain=$("$app" --tokens 4)
got=$(SOFTGPU_CAPABILITY=75 AUTOFUSE_REPORT=$AF_TMP/report shim "$app" --tokens 4 2>"$AF_TMP/err")
ok "same tokens" same "$plain" "$got"
ok "nothing is fused" same 0 "$(field "$AF_TMP/report" launches/fused)"
ok "the reason is old-gpu" bigger "$(field "$AF_TMP/report" patterns/add_rmsnorm/rejected/old-gpu)" 0
ok "one warning says why" same 1 "$(grep -c "compute capability 7.5" "$AF_TMP/err")"
finish
