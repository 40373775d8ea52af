#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Chains in CUDA graphs: (a + b) * s + c in three kernels becomes one, in every habit that programs have, and what
# the first two leave is not stored where the graph shows that nobody sees it.
. "$(dirname "$0")/lib_graph_chain.sh"
ok "the chain learns to fuse, without what nobody sees" chain_learns 1 2 capture int $launches
for habit in capture explicit update params; do
	AUTOFUSE_GRAPHS=always AUTOFUSE_VERIFY=off run $habit int $launches
	ok "$habit: same memory after every launch" alike $habit int $launches
	ok "$habit: one group" same 1 "$(first groups)"
	ok "$habit: two nodes less" same 2 $(($(first nodes) - $(first nodes_fused)))
	ok "$habit: two stores less" same 2 "$(first stores_dropped)"
	ok "$habit: of all their bytes" same $((2 * 4000)) "$(first bytes_dropped)"
	ok "$habit: most launches were fused" bigger "$(first fused)" $((launches / 2))
done
# What is handed on is copied away before it is overwritten; or nothing overwrites it.
ok "read before: one store is left out" chain_learns 1 1 capture int $launches read
ok "kept: none is" chain_learns 1 0 capture int $launches kept
AUTOFUSE_STORES=all run capture int $launches
ok "stores = all: same memory" alike capture int $launches
ok "stores = all: fused, and nothing left out" same "1 0" "$(first groups) $(first stores_dropped)"

# A member is edited: from then on the chain is another one, of two.
edit_learns() {
	local i
	for ((i = 0; i < 40; i++)); do
		AUTOFUSE_GRAPHS=always run edit int $launches && alike edit int $launches || return
		[ "$(first fused)" -gt $((launches * 3 / 4)) ] && return
		sleep 0.3
	done
	return 1
}
ok "edit: same memory, and fused again after it" edit_learns

AUTOFUSE_VERIFY=always run capture int $launches
ok "verify = always: same memory" alike capture int $launches
ok "verify = always: checked, not fused" same "0 1" "$(first fused) $(($(first checked) > 2))"
ok "verify = always: nothing was found" same 0 "$(graph execs/0/rejected/quarantined)"
AUTOFUSE_SAMPLE_EVERY=20 run capture int $launches
ok "sampling: same memory" alike capture int $launches
ok "sampling: checked now and then" bigger "$(first checked)" 3
ok "sampling: fused between" bigger "$(first fused)" $((launches / 2))
AUTOFUSE_PATTERNS=-chain run capture int $launches
ok "switched off: same memory" alike capture int $launches
ok "switched off: and that is the reason" same "0 1" "$(first fused) $(first rejected/disabled)"
AUTOFUSE_GENERATED=0 run capture int $launches
ok "without generated kernels: same memory" alike capture int $launches
ok "without generated kernels: chains are not looked for" same "0 0 {}" "$(first fused) $(first groups) $(first rejected)"

# As many kernels as there are chains, all in one graph: evidence for all of them comes within a few launches.
ok "many chains: all learn to fuse" chain_learns 20 0 capture int $launches kept 20
verdicts=$(python3 -c 'import json, sys; print(len(json.load(open(sys.argv[1]))["verdicts"]))' "$report")
ok "many chains: with verdicts of their own" bigger "$verdicts" 12
echo "# $verdicts verdicts"
ok "many chains: most launches were fused" bigger "$(first fused)" $((launches / 2))

# A graph that is launched six times: what earlier runs left is enough for all but the first launch, which is checked, if
# there is time for it.
few_learn() {
	local i
	for ((i = 0; i < 20; i++)); do
		AUTOFUSE_CONFIG=$AF_TESTS/apps/chain.ini AUTOFUSE_REPORT=$report \
			shim "$APPS/chain" --n 10007 --repeat 12 --graph 2 --clear --forget --pause 250 >"$AF_TMP/got" || return
		[ "$(graph launches/fused)" -ge 4 ] && return
		probes_over
	done
	echo "# $(graph launches)"
	return 1
}
"$APPS/chain" --n 10007 --repeat 12 --graph 2 --clear --forget >"$AF_TMP/few"
ok "few launches: fused from what earlier runs left" few_learn
ok "few launches: same memory" cmp "$AF_TMP/few" "$AF_TMP/got"
ok "few launches: both chains, and four stores less" same "2 4" "$(first groups) $(first stores_dropped)"

# What the cache holds lets expect checks: there is memory for them in each context from its start, and it ends with it.
taken=
for _ in $([ "$AF_BACKEND" = soft ] && echo 1 || echo 1 2 3 4); do # on a real GPU others may take memory meanwhile
	last=$(AUTOFUSE_CONFIG=$AF_TESTS/apps/chain.ini shim "$AF_BUILD/tests/preload/rounds")
	[ "${taken:-$last}" -lt "${last:-0}" ] || taken=$last
	[ "${taken:-4096}" -ge 4096 ] || break
done
ok "contexts that come and go leave no memory behind ($taken KiB)" bigger 4096 "${taken:-4096}"

# What `autofuse plan` says of the recorded graph is what was done.
AUTOFUSE_RECORD=$AF_TMP/rec AUTOFUSE_VERIFY=off run explicit int $launches
ok "recording: same memory" alike explicit int $launches
groups() { python3 -c 'import json, sys; print(*[(g["pattern"], g["nodes"], g["fused"], g.get("stores_dropped")) for g in eval("json.load(open(sys.argv[1]))" + sys.argv[2])])' "$@"; }
"$AUTOFUSE_COMMAND" plan --json "$AF_TMP/rec" >"$AF_TMP/plan"
ok "recording: planned as it was done" same "('chain', [0, 1, 2], True, 2)" "$(groups "$AF_TMP/plan" '["graphs"]["groups"]')"
ok "recording: and done as planned" same "$(groups "$AF_TMP/plan" '["graphs"]["groups"]')" \
	"$(groups "$report" '["graphs"]["execs"][0]["listed"]')"
finish
