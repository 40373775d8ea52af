#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Launches of PyTorch's kernels on streams (families = yes), as recorded, with other rubbish in the padding of their
# parameters each time: ways that launches went before are known all the same and the bytes stay the program's own,
# also where passes are cut short, leave out launches, have others or wait in between.
. "$(dirname "$0")/lib.sh"
app=$APPS/eager
trace=tests/data/hf_llama_bf16.jsonl.gz
export AUTOFUSE_NVRTC=$AF_BUILD/softgpu AUTOFUSE_FAMILIES=yes
# No PyTorch is in that process that would say which one it is.
export AUTOFUSE_TORCH=2.11
passes=60
# RoPE of q and k, attention, residual add and RMSNorm
run() { "$@" "$app" "$trace" 284 307 $passes 2>"$AF_TMP/err"; }

if [ "$AF_BACKEND" != soft ]; then
	skip "PyTorch's launches, as recorded" "their kernels are the software GPU's"
	finish
fi
want=$(run env)
bytes=same
for ((i = 0; i < 8; i++)); do
	got=$(run shim)
	[ "$got" = "$want" ] || bytes="$got, not $want"
	probes_over
	grep -q "add_rmsnorm fused, .*rope fused" "$AF_TMP/err" && break
done
sed 's/^/# /' "$AF_TMP/err"
ok "the same bytes in every run, from the first on" same same "$bytes"

# Before 2.11 sums were added up in another order, and nothing in launches tells. What is beside the library does.
mkdir -p "$AF_TMP/torch/lib"
gcc -shared -o "$AF_TMP/torch/lib/libtorch_cuda.so" -x c /dev/null
of() { # VERSION.PY'S LINE: what becomes of the norms
	echo "$1" >"$AF_TMP/torch/version.py"
	AUTOFUSE_TORCH= AUTOFUSE_VERIFY=off AUTOFUSE_REPORT=$AF_TMP/report LD_LIBRARY_PATH=$AF_TMP/torch/lib:$LD_LIBRARY_PATH \
		shim env LD_PRELOAD="$LIB libtorch_cuda.so" "$app" "$trace" 284 307 30 >/dev/null 2>"$AF_TMP/err"
	echo "$(($(field "$AF_TMP/report" patterns/add_rmsnorm/fused) > 10)) $(($(field "$AF_TMP/report" patterns/rope/fused) > 10))"
}
ok "PyTorch 2.11: norms are fused" same "1 1" "$(of "__version__ = '2.11.0+cu130'")"
ok "PyTorch 2.8: no norm is, rope is all the same" same "0 1" "$(of "__version__ = '2.8.0+cu126'")"
ok "a PyTorch of which nothing is said: likewise" same "0 1" "$(of "debug = False")"
passes=200
want=$(run env)
got=$(AUTOFUSE_VERIFY=off run shim)
sed 's/^/# /' "$AF_TMP/err"
ok "the same bytes when both are fused" same "$want" "$got"
share=$(sed -n 's/.*sequences \([0-9]*\)% completed.*/\1/p' "$AF_TMP/err")
ok "what is held completes" bigger "$share" 90
AUTOFUSE_VERIFY=off AUTOFUSE_REPORT=$AF_TMP/report run shim >/dev/null
held=$(field "$AF_TMP/report" held/sequences)
ok "as the report says, too" bigger "$((100 * $(field "$AF_TMP/report" held/sequences_fused) / (held ? held : 1)))" 90
ok "whatever is in the padding, groups are remembered" bigger "$(field "$AF_TMP/report" held/remembered)" 300
ok "and their launches not decoded" bigger 1000 "$(field "$AF_TMP/report" held/decoded)"
got=$(AUTOFUSE_SAMPLE_EVERY=4 AUTOFUSE_REPORT=$AF_TMP/report run shim)
checked=$(($(field "$AF_TMP/report" patterns/add_rmsnorm/checked) + $(field "$AF_TMP/report" patterns/rope/checked)))
ok "samples are checked, too: same bytes" same "$want" "$got"
ok "some were ($checked)" bigger "$checked" 3
ok "and for these no way was left" bigger 400 "$(field "$AF_TMP/report" held/decoded)"

# Half of the time off: nothing is learnt from that.
many=20000 switch=$AF_TMP/switch
idle() { EAGER_IDLE=1 AUTOFUSE_VERIFY=off AUTOFUSE_CONTROL=$switch AUTOFUSE_REPORT= shim "$app" "$trace" 284 307 $many 3; }
while start=$(date +%s%N); echo on >"$switch"; idle >/dev/null 2>&1; [ $((($(date +%s%N) - start) / 1000000)) -lt 4000 ]; do
	many=$((many * 2))
done
idle >/dev/null 2>"$AF_TMP/err" &
for i in 1 2 3; do
	sleep 0.6
	echo off >"$switch"
	sleep 0.6
	echo on >"$switch"
done
wait $!
sed 's/^/# /' "$AF_TMP/err"
launches=$(sed -n 's/^autofuse: \([0-9,]*\) launches became .*/\1/p' "$AF_TMP/err" | tr -d ,)
unlooked=$(sed -n 's/.* \([0-9,]*\) launches no longer looked at.*/\1/p' "$AF_TMP/err" | tr -d ,)
ok "switched off and on: launches are looked at again at once" bigger "$((launches / 100))" "${unlooked:-0}"

bytes=same remembered=0 passes=100
for seed in 1 2; do
	export EAGER_MIX=$seed
	want=$(run env)
	got=$(AUTOFUSE_REPORT=$AF_TMP/report run shim)
	[ "$got" = "$want" ] || bytes+=" but seed $seed: $got, not $want"
	remembered=$((remembered + $(field "$AF_TMP/report" held/remembered)))
done
ok "passes that are not quite like the others: same bytes" same same "$bytes"
ok "and many of their groups remembered ($remembered)" bigger "$remembered" 100
unset EAGER_MIX
finish
