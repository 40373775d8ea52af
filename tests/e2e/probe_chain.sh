#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A chain of kernels that can be spelled in more than one way is fused once a probe has found how each
# is; where the probe's inputs are too weak it is not.
. "$(dirname "$0")/lib.sh"
export AUTOFUSE_CONFIG=$AF_TESTS/apps/chain.ini AUTOFUSE_SUMMARY=no

# Long enough for images to be loaded beside it.
repeat=3000
[ "$AF_BACKEND" = soft ] || repeat=40000

chain() { "$APPS/chain" --n 5003 --repeat "$1" --stream --type "$2"; }
chain_shim() { shim "$APPS/chain" --n 5003 --repeat "$1" --stream --type "$2"; }

# How often the chain was fused, by a report.
chains_fused() { field "$1" patterns/chain/fused; }

for type in f32 bf16; do
	report=$AF_TMP/$type.json
	want=$(chain $repeat $type)
	export AUTOFUSE_REPORT=$report
	for ((i = 0; i < 6; i++)); do
		got=$(chain_shim $repeat $type)
		ok "$type: run $i, the same bytes" same "$want" "$got"
		[ "$(chains_fused "$report")" -gt 0 ] && break
		probes_over
		sleep 1
	done
	ok "$type: the chain is fused" bigger "$(chains_fused "$report")" 0
	unset AUTOFUSE_REPORT
done
ok "the verdict is kept, a pick for each member" \
	has "$(cat "$AUTOFUSE_CACHE"/verdicts-*)" ' plain\+plain\+plain '

export AUTOFUSE_CACHE=$AF_TMP/weak AUTOFUSE_PROBE_INPUTS=zeros AUTOFUSE_REPORT=$AF_TMP/weak.json
want=$(chain $repeat f32)
for ((i = 0; i < 2; i++)); do
	got=$(chain_shim $repeat f32)
	ok "weak inputs: run $i, the same bytes" same "$want" "$got"
	probes_over
done
ok "weak inputs: nothing is fused" same 0 "$(chains_fused "$AF_TMP/weak.json")"
finish
