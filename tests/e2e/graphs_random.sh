#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Graphs by chance: of known and unknown kernels, with random aliasing, edges and edits; threads, orders of
# destruction, resets, failures. Memory and every answer are the same with the shim as without.
. "$(dirname "$0")/lib.sh"
if [ "$AF_BACKEND" = soft ]; then
	pause=4000 cases=400
else
	pause=2000 cases=1500
fi
[ "$AF_BACKEND" = soft ] || export GRAPH_RANDOM_FILLS_STAY=1
report=$AF_TMP/report
graph() { field "$report" "graphs/$1"; }

export AUTOFUSE_SUMMARY=no AUTOFUSE_CONFIG=$AF_TESTS/apps/graph_random.ini AUTOFUSE_GRAPHS=always
# Pairs first: evidence for all the chains that chance makes would take a while.
export AUTOFUSE_GENERATED=0
[ "$AF_BACKEND" = soft ] && export AUTOFUSE_NVRTC=$AF_BUILD/softgpu
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
ok "reset: execs in use say why they are alone" has "$(cat "$report")" '"left_alone": "context-gone"'
attributes_learned() {
	local i exec groups apart=1
	[ "$AF_BACKEND" = soft ] || apart=12 # as the driver says what priority a captured node has
	for ((i = 0; i < 20; i++)); do
		AUTOFUSE_REPORT=$report shim "$app" attributes >"$AF_TMP/got" || return
		groups=
		for ((exec = 0; exec < 5; exec++)); do groups+=$(graph execs/$exec/groups); done
		[[ $groups == 22[$apart]11 ]] && return
		sleep 2
	done
	return 1
}
ok "a priority, an attribute of a launch or of a node: its group is left alone" attributes_learned
ok "attributes: same memory" cmp -s <("$app" attributes) "$AF_TMP/got"
ok "attributes: the reason" bigger "$(grep -o '"reason": "attributes"' "$report" | wc -l)" 1
if [ "$AF_BACKEND" = soft ]; then # the program's own comes first
	got=$(SOFTGPU_FAIL=cuGraphInstantiateWithFlags:2:1 AUTOFUSE_REPORT=$report shim "$app" threads 60)
	ok "the driver takes no other graph: same memory" same "$("$app" threads 60)" "$got"
	ok "the driver takes no other graph: refused" same refused "$(graph execs/0/left_alone)"
fi
# What is overwritten unread is not stored; an edit of what that rests on brings it back.
dead_learned() {
	local i
	for ((i = 0; i < 20; i++)); do
		AUTOFUSE_REPORT=$report shim "$app" dead >"$AF_TMP/got" || return
		[ "$(graph execs/0/stores_dropped)$(graph execs/14/stores_dropped)" = 11 ] && return
		sleep 2
	done
	return 1
}
per_exec() { # KEY: of each exec
	python3 -c 'import json, sys; print(*[e[sys.argv[2]] for e in json.load(open(sys.argv[1]))["graphs"]["execs"]])' "$report" "$1"
}
ok "dead: learns to leave stores out" dead_learned
ok "dead: same memory before and after edits" cmp -s <("$app" dead) "$AF_TMP/got"
ok "dead: one store in each graph" same "1 1 1 1 1 1 1 1 1 1 1 1 1 1 1" "$(per_exec stores_dropped)"
ok "dead: its bytes" same "$(yes 1024 | head -n 15 | paste -sd' ')" "$(per_exec bytes_dropped)"
ok "dead: most launches went without" bigger "$(graph stores_dropped)" $((15 * 15))
ok "dead: fused after the edit, too" bigger "$(graph launches/fused)" $((15 * 40))
ok "dead: and all is stored again where there was one" same "15 3" \
	"$(python3 -c 'import json, sys; l = [g for e in json.load(open(sys.argv[1]))["graphs"]["execs"] for g in e["listed"]]; print(sum(g["fused"] for g in l), sum("stores_dropped" in g for g in l))' "$report")"
AUTOFUSE_STORES=all AUTOFUSE_REPORT=$report shim "$app" dead >"$AF_TMP/got"
ok "stores = all: same memory" cmp -s <("$app" dead) "$AF_TMP/got"
ok "stores = all: fused, and nothing left out" same "1 0" "$(($(graph launches/fused) > 600)) $(graph stores_dropped)"

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
ok "those that another kind of graph went into are left alone" has "$(cat "$report")" '"left_alone": "edited"'
ok "and many stores left out" bigger "$(graph stores_dropped)" $((cases / 10))
echo "# $(graph stores_dropped) stores, $(graph bytes_dropped) bytes"
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
# Chains, too, with what evidence there is.
unset AUTOFUSE_GENERATED
ok "$cases more, in a hurry" differ 10000 $cases 300
ok "$cases on four threads at once" differ crowd 20000 $((cases / 4))
export AUTOFUSE_GENERATED=0
# Other memory is what assuming may lead to, other answers are not.
answers() { sed 's/ [0-9a-f]\{16\}//g' "$1"; }
"$app" 0 $cases $pause >"$AF_TMP/want"
AUTOFUSE_STORES=assume-dead AUTOFUSE_REPORT=$report shim "$app" 0 $cases $pause >"$AF_TMP/got"
ok "assume-dead: the same answers" same "$(answers "$AF_TMP/want")" "$(answers "$AF_TMP/got")"
ok "assume-dead: more stores are left out" bigger "$(graph stores_dropped)" $((cases / 4))
finish
