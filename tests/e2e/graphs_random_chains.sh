#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Graphs by chance in which chains fuse: memory and every answer are the same with the shim as without.
. "$(dirname "$0")/lib.sh"
export AUTOFUSE_SUMMARY=no AUTOFUSE_CONFIG=$AF_TESTS/apps/graph_random.ini AUTOFUSE_GRAPHS=always
[ "$AF_BACKEND" = soft ] && export AUTOFUSE_NVRTC=$AF_BUILD/softgpu
[ "$AF_BACKEND" = soft ] || export GRAPH_RANDOM_FILLS_STAY=1
app=$APPS/graph_random report=$AF_TMP/report
graph() { field "$report" "graphs/$1"; }
open_verdicts() {
	python3 -c 'import json, sys; print(sum(v["state"] not in ("usable", "rejected") for v in json.load(open(sys.argv[1]))["verdicts"]))' "$report"
}
listed() { # CONDITION on g: how many groups of graphs
	python3 -c 'import json, sys; print(sum(bool(eval(sys.argv[2])) for e in json.load(open(sys.argv[1]))["graphs"]["execs"] for g in e["listed"]))' "$report" "$1"
}
differ() { # ARGUMENTS: the same answers and memory with the shim as without?
	"$app" "$@" >"$AF_TMP/want" || return
	AUTOFUSE_REPORT=$report shim "$app" "$@" >"$AF_TMP/got" || return
	cmp -s "$AF_TMP/want" "$AF_TMP/got" && return
	diff "$AF_TMP/want" "$AF_TMP/got" | head -4 | cut -c1-300 | sed 's/^/# /'
	return 1
}
# Chains of kernels that can be computed in one way only: no probe is needed, each has a kernel of its own. Longer
# pauses are for the compiler.
export GRAPH_RANDOM_PLAIN=1 AUTOFUSE_GENERATED=1000
chains=120
[ "$AF_BACKEND" = soft ] && chains=60
for ((i = 0; i < 8; i++)); do
	AUTOFUSE_REPORT=$report shim "$app" 0 $chains 60000 >/dev/null
	[ "$(open_verdicts)" -lt $((chains / 4)) ] && break
done
ok "$chains random graphs of chains: memory and answers are the same" differ 0 $chains 60000
ok "chains: fused launches" bigger "$(graph launches/fused)" $chains
ok "chains: groups" bigger "$(listed 'g["fused"] and g["pattern"] == "chain"')" $((chains / 3))
ok "chains: some of three and more" bigger "$(listed 'g["fused"] and len(g["nodes"]) > 2')" $((chains / 6))
ok "chains: stores left out" bigger "$(graph stores_dropped)" 0
echo "# $(graph launches/fused) launches fused, $(graph launches/checked) checked, $(graph stores_dropped) stores left out, $(open_verdicts) verdicts open"
ok "many more: memory and answers are the same" differ 0 $((4 * chains)) 4000
finish
