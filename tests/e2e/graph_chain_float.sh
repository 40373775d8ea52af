#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# (a + b) * s + c in floats, in CUDA graphs: a probe finds out how each kernel computes, then the chain is one kernel.
. "$(dirname "$0")/lib_graph_chain.sh"
for type in float scale; do
	ok "$type: learns to fuse, without what nobody sees" chain_learns 1 2 capture $type $launches
	for habit in explicit update params; do
		AUTOFUSE_GRAPHS=always AUTOFUSE_VERIFY=off run $habit $type $launches
		ok "$type, $habit: same memory after every launch" alike $habit $type $launches
		ok "$type, $habit: one node, no intermediate stored" same "1 2 2" \
			"$(first groups) $(($(first nodes) - $(first nodes_fused))) $(first stores_dropped)"
		ok "$type, $habit: most launches were fused" bigger "$(first fused)" $((launches / 2))
	done
	AUTOFUSE_VERIFY=always run capture $type $launches
	ok "$type, verify = always: same memory" alike capture $type $launches
	ok "$type, verify = always: checked, not fused" same "0 1" "$(first fused) $(($(first checked) > 2))"
done
# Wrong evidence, as if a probe had been fooled: a check inside the graph finds out.
export AUTOFUSE_CACHE=$AF_TMP/forged
ok "numbers near zero: learns to fuse" chain_learns 1 2 capture tiny $launches
ok "one verdict is forged" same 1 "$("$APPS/cache_forge" "$AUTOFUSE_CACHE" plain+plain ftz+plain)"
for ((i = 0; i < 20; i++)); do # the other kernel is compiled meanwhile
	AUTOFUSE_PROBE=no run capture tiny $launches 2>/dev/null && alike capture tiny $launches || break
	grep -q '"quarantined"' "$report" && break
	sleep 0.3
done
ok "wrong evidence: same memory" alike capture tiny $launches
ok "wrong evidence: found out, and not used" same "quarantined 0" \
	"$(field "$report" verdicts/0/reason) $(($(first stores_dropped) + $(first groups)))"
finish
