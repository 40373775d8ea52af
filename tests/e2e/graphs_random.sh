#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Graphs by chance: of known and unknown kernels, with random aliasing, edges and edits; threads, orders of
# destruction, resets, failures. Memory and every answer are the same with the shim as without.
. "$(dirname "$0")/lib.sh"
if [ "$AF_BACKEND" = soft ]; then
	pause=4000 cases=400
else
	pause=2000 cases=600
fi
report=$AF_TMP/report
graph() { field "$report" "graphs/$1"; }

export AUTOFUSE_SUMMARY=no AUTOFUSE_CONFIG=$AF_TESTS/apps/graph_random.ini AUTOFUSE_GRAPHS=always
app=$APPS/graph_random
chain_learned() {
	local i
	for ((i = 0; i < 40; i++)); do
		AUTOFUSE_REPORT=$report shim "$app" threads 60 >/dev/null || return
		[ "$(graph execs/0/groups)" = 2 ] && return
		sleep 2
	done
	return 1
}
ok "a chain learns to fuse" chain_learned
for mode in "threads 300" order reset; do
	# shellcheck disable=SC2086
	got=$(AUTOFUSE_REPORT=$report shim "$app" $mode)
	# shellcheck disable=SC2086
	ok "$mode: same memory" same "$("$app" $mode)" "$got"
	ok "$mode: fused" bigger "$(graph launches/fused)" 5
done
fail=
[ "$AF_BACKEND" = soft ] && fail=cuMemAllocPitch_v2:1:2
got=$(SOFTGPU_FAIL=$fail AUTOFUSE_REPORT=$report shim "$app" alone)
want=$("$app" alone)
ok "graphs to be left alone: they run" same 3 "$(wc -l <<<"$want")"
ok "graphs to be left alone: same memory" same "$want" "$got"
ok "memory nodes: not-cloneable" same 1 "$(graph left_alone/not-cloneable)"
ok "nothing to fuse: no-candidate" same 1 "$(graph left_alone/no-candidate)"
ok "the third is fused" bigger "$(graph execs/0/fused)" 5
if [ "$AF_BACKEND" = soft ]; then
	ok "out of memory: the side exec is given back" same no-memory "$(graph execs/0/left_alone)"
else
	left_out "out of memory" "only the software GPU can be told to refuse"
fi

# Evidence for the pairs that random graphs have; what stays without is left alone, and that is tested, too.
open_verdicts() {
	python3 -c 'import json, sys; print(sum(v["state"] not in ("usable", "rejected") for v in json.load(open(sys.argv[1]))["verdicts"]))' "$report"
}
for ((i = 0; i < 10; i++)); do
	AUTOFUSE_REPORT=$report shim "$app" 0 150 $pause >/dev/null
	[ "$(open_verdicts)" = 0 ] && break
	sleep 3
done
differ() { # ARGUMENTS: the same answers and memory with the shim as without?
	"$app" "$@" >"$AF_TMP/want" || return
	AUTOFUSE_REPORT=$report shim "$app" "$@" >"$AF_TMP/got" || return
	cmp -s "$AF_TMP/want" "$AF_TMP/got" && return
	diff "$AF_TMP/want" "$AF_TMP/got" | head -4 | cut -c1-300 | sed 's/^/# /'
	return 1
}
ok "$cases random graphs: memory and answers are the same" differ 0 $cases $pause
ok "and many launches were fused" bigger "$(graph launches/fused)" $((cases / 2))
if [ "$AF_BACKEND" = soft ]; then
	# Whatever of ours fails, the program's own graph runs.
	"$app" 0 50 >"$AF_TMP/want"
	for call in cuGraphClone cuGraphGetNodes cuGraphNodeFindInClone cuGraphGetEdges_v2 cuGraphKernelNodeGetParams_v2 \
		cuGraphAddDependencies cuGraphDestroyNode cuGraphKernelNodeSetParams_v2 cuGraphKernelNodeGetAttribute \
		cuEventCreate cuEventRecord cuStreamWaitEvent cuStreamGetId; do
		SOFTGPU_FAIL=$call:3:1 shim "$app" 0 50 1500 >"$AF_TMP/got"
		ok "$call fails once: memory and answers are the same" cmp "$AF_TMP/want" "$AF_TMP/got"
	done
fi
ok "$cases more, in a hurry" differ 10000 $cases 300
ok "$cases on four threads at once" differ crowd 20000 $((cases / 4))
finish
