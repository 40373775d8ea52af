#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Random sequences of elementwise kernels and kernels over rows: every byte of memory is the same with the
# library as without. How many groups were fused is said; CHAINS_FUSED=N demands so many.
#
#   CHAINS_SEED=N     the first case (0)      CHAINS_CASES=N    so many cases
#   CHAINS_SECONDS=N  no more cases after N   CHAINS_POOL=N     of so many sequences
#   CHAINS_ROUNDS=N   runs of the pool that gather evidence before
#   CHAINS_ACROSS=1   much of what is stored lies across what was read: chains in two kernels
. "$(dirname "$0")/lib.sh"
if [ "$AF_BACKEND" = soft ]; then
	cases=1500 seconds=30 pool=32 rounds=4 pause=20000
	export AUTOFUSE_NVRTC=${AUTOFUSE_NVRTC:-$AF_BUILD/softgpu} # the host's compiler
else
	cases=20000 seconds=60 pool=400 rounds=6 pause=5000
fi
seed=${CHAINS_SEED:-0} cases=${CHAINS_CASES:-$cases} seconds=${CHAINS_SECONDS:-$seconds}
pool=${CHAINS_POOL:-$pool} rounds=${CHAINS_ROUNDS:-$rounds}
export AUTOFUSE_SUMMARY=no AUTOFUSE_CONFIG=$AF_TESTS/apps/chain_random.ini AUTOFUSE_GRAPHS=always
app=$APPS/chain_random report=$AF_TMP/report

# Of the last report: all groups on streams that were fused, and launches of graphs with fused groups.
fused() {
	python3 -c '
import json, sys
r = json.load(open(sys.argv[1]))
print(sum(p["fused"] for p in r["patterns"].values()), r["graphs"]["launches"]["fused"])' "$report"
}
by_pattern() {
	python3 -c '
import json, sys
for name, p in json.load(open(sys.argv[1]))["patterns"].items():
    left = ", ".join("%d %s" % (n, why) for why, n in p["rejected"].items() if n)
    if p["fused"] or left:
        print("#   %s: %d fused; left alone: %s" % (name, p["fused"], left or "none"))' "$report"
}
# differ ARGUMENTS: the same memory after each case that both runs came to?
differ() {
	local n
	[ "${CHAINS_ACROSS:-0}" = 0 ] || set -- "$@" --across
	"$app" "$@" >"$AF_TMP/want" || return
	AUTOFUSE_REPORT=$report shim "$app" "$@" >"$AF_TMP/got" || return
	n=$(cat "$AF_TMP/want" "$AF_TMP/got" | cut -d: -f1 | sort | uniq -d | wc -l)
	echo "# $n cases compared: $(fused) groups fused, launches of graphs with some"
	by_pattern
	[ "$n" -gt 0 ] && cmp -s <(head -n "$n" "$AF_TMP/want") <(head -n "$n" "$AF_TMP/got") && return
	diff <(head -n "$n" "$AF_TMP/want") <(head -n "$n" "$AF_TMP/got") | head -4 | sed 's/^/# /'
	return 1
}

ok "two runs without the library are the same" cmp -s <("$app" "$seed" 50 --repeat 1) <("$app" "$seed" 50 --repeat 1)
differs() { ! cmp -s "$@"; }
ok "other seeds give other memory" differs <("$app" "$seed" 1 --pool "$pool" | cut -d: -f2) \
	<("$app" $((seed + pool)) 1 --pool "$pool" | cut -d: -f2)
# Each sequence some times in a row, with time for code and evidence to come.
for ((i = 0; i < rounds; i++)); do
	ok "gathering evidence, run $((i + 1)): same memory" differ 0 "$pool" --pool "$pool" --repeat 6 --pause $pause --seconds "$seconds"
	probes_over
done
ok "random chains: same memory" differ "$seed" "$cases" --pool "$pool" --seconds "$seconds"
groups=$(fused)
ok "graphs of random chains: same memory" differ $((seed + cases)) $((cases / 4)) --pool "$pool" --graphs --seconds "$seconds"
# What is left in memory is looked at: a store that is left out would be seen. Not in every sequence: some overwrite it
# themselves. Where only those have evidence, patterns get more of it.
seen() {
	"$app" "$seed" 200 --pool "$pool" >"$AF_TMP/want"
	AUTOFUSE_GENERATED=0 AUTOFUSE_STORES=assume-dead AUTOFUSE_REPORT=$report shim "$app" "$seed" 200 --pool "$pool" >"$AF_TMP/got" || return
	[ "$(fused)" = "0 0" ] || ! cmp -s "$AF_TMP/want" "$AF_TMP/got"
}
seen_at_last() {
	local i
	for ((i = 0; i < 8; i++)); do
		seen && return
		AUTOFUSE_GENERATED=0 shim "$app" 0 "$pool" --pool "$pool" --repeat 6 --pause $pause --seconds "$seconds" >/dev/null
		probes_over
	done
	return 1
}
ok "patterns, assume-dead: other memory, if anything was fused" seen_at_last
export AUTOFUSE_VERIFY=always
ok "every group checked, none fused: same memory" differ "$seed" $((cases / 4)) --pool "$pool" --seconds "$seconds"
if [ "${CHAINS_FUSED:-0}" -gt 0 ]; then
	ok "at least $CHAINS_FUSED groups fused" test "${groups% *}" -ge "$CHAINS_FUSED"
fi
finish
