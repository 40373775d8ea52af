#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Decode steps of PyTorch's on streams (families = yes), as recorded, whose kernels do nothing: how much of them is
# remembered, what is looked at again, what looking costs at most.
# Alone: what is looked at hangs on how long looking takes.
. "$(dirname "$0")/lib.sh"
app=$APPS/eager
export AUTOFUSE_NVRTC=$AF_BUILD/softgpu AUTOFUSE_FAMILIES=yes AUTOFUSE_TORCH=2.11
switch=$AF_TMP/switch

if [ "$AF_BACKEND" != soft ]; then
	skip "PyTorch's launches, as recorded" "their kernels are the software GPU's"
	finish
fi
# The kernels do nothing, so a probe's answer is all the evidence there is. Addresses are those of the step before the
# last, and a call about a kernel that is never held comes twice a layer: both go on the ways.
export AUTOFUSE_LIVE_CHECKS=0 AUTOFUSE_CACHE=$AF_TMP/steps
steps() { EAGER_IDLE=1 AUTOFUSE_REPORT=$AF_TMP/report shim "$app" tests/data/hf_llama1b_bf16_decode.jsonl.gz 0 600 2000; }
count() { field "$AF_TMP/report" "$1"; }
for ((i = 0; i < 16; i++)); do
	steps >/dev/null 2>"$AF_TMP/err"
	probes_over
	[ "$(count patterns/add_rmsnorm/fused)" -gt 35000 ] && break
done
steps >/dev/null 2>"$AF_TMP/err" # nothing is left to be learnt
sed 's/^/# /' "$AF_TMP/err"
groups=0
for pattern in add_rmsnorm rmsnorm rope chain; do
	groups=$((groups + $(count patterns/$pattern/fused)))
done
ok "decode steps: nearly all groups are remembered" bigger "$(count held/remembered)" $((groups * 95 / 100))
ok "and one launch in a hundred is looked at, at most" bigger $(($(count launches/program) / 100)) "$(count held/decoded)"
ok "what is held completes, again" bigger "$(count held/completed)" $(($(count held/held) * 85 / 100))

# Switched off and on: what waits for evidence is looked at again in a small part of the time all the same, also where one
# way ends and the next is to be looked at.
unset AUTOFUSE_LIVE_CHECKS
export AUTOFUSE_CACHE=$AF_TMP/small
small() { AUTOFUSE_REPORT=$AF_TMP/report shim "$app" tests/data/hf_llama4_bf16_decode.jsonl.gz 0 "$@" 2>"$AF_TMP/err" >/dev/null; }
for ((i = 0; i < 3; i++)); do
	small 456 40
	probes_over
done
sed 's/^/# /' "$AF_TMP/err"
echo on >"$switch"
(while kill -0 $$ 2>/dev/null; do
	sleep 0.3
	echo off >"$switch"
	sleep 0.3
	echo on >"$switch"
done) &
switching=$!
AUTOFUSE_PLAN_SHARE=1 AUTOFUSE_LIVE_CHECKS=0 AUTOFUSE_CONTROL=$switch EAGER_IDLE=1 EAGER_THINK=21000 small 912 600 16
kill $switching
sed 's/^/# /' "$AF_TMP/err"
ok "switched off and on: groups are remembered" bigger "$(count held/remembered)" 4000
ok "and one launch in 17 is looked at, at most ($(count held/decoded))" bigger $(($(count launches/program) / 17)) "$(count held/decoded)"

# Where nothing ever comes of it (live checks do not end, as the kernels do nothing), looking costs next to nothing.
ns() { # PERCENT
	EAGER_IDLE=1 AUTOFUSE_PLAN_SHARE=$1 AUTOFUSE_CACHE=$AF_TMP/share$1 shim "$app" tests/data/hf_llama1b_bf16_decode.jsonl.gz 0 600 800 2>&1 >/dev/null |
		sed -n 's/.*; \([0-9]*\) ns a launch/\1/p'
}
all=$(ns 100)
some=$(ns 1)
ok "the planner keeps to its share: $some ns a launch, $all without one" bigger $((${all:-0} / 3)) "${some:-999999}"
finish
