#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Graphs on loan: whatever the program does with the graph that an executable one was made of, and when, memory and
# answers are those without the library, launches are fused, and all graphs go in the end.
. "$(dirname "$0")/lib.sh"
report=$AF_TMP/report soft=$AF_TMP/soft
graph() { field "$report" "graphs/$1"; }
export AUTOFUSE_SUMMARY=no AUTOFUSE_CONFIG=$AF_TESTS/apps/graph_random.ini AUTOFUSE_GRAPHS=always AUTOFUSE_VERIFY=off
export AUTOFUSE_GENERATED=0
app=$APPS/graph_lent

# lent MODE [LAUNCHES]: the same answers, with its report in $report; on the software GPU as many graphs are left.
lent() {
	SOFTGPU_REPORT=$AF_TMP/soft.plain "$app" "$@" >"$AF_TMP/want" || return
	AUTOFUSE_REPORT=$report SOFTGPU_REPORT=$soft shim "$app" "$@" >"$AF_TMP/got" || return
	same "$(cat "$AF_TMP/want")" "$(cat "$AF_TMP/got")" || return
	[ "$AF_BACKEND" != soft ] || same "$(grep '^graphs' "$AF_TMP/soft.plain")" "$(grep '^graphs' "$soft")"
}
made() { sed -n "s/^call $1 //p" "$soft"; } # calls that reached the software GPU
learned() {
	local i
	for ((i = 0; i < 40; i++)); do
		AUTOFUSE_VERIFY=sample AUTOFUSE_REPORT=$report shim "$app" kept 60 >/dev/null || return
		[ "$(graph execs/0/groups)" = 2 ] && return
		sleep 1
	done
	return 1
}
# Each call settles, unless the machine took more than two milliseconds to come to it.
all_settle() {
	local i
	for ((i = 0; i < 4; i++)); do
		lent calls || return
		[ "$(graph lent_settled)" = 15 ] && return
	done
	echo "# $(graph lent_settled) settled"
	return 1
}
each() { # KEY: of each exec
	python3 -c 'import json, sys; print(*[e[sys.argv[2]] for e in json.load(open(sys.argv[1]))["graphs"]["execs"]])' "$report" "$1"
}

ok "a chain learns to fuse" learned
ok "destroyed at once: same memory" lent kept
ok "destroyed at once: lent, kept and never cloned for that" same "1 1 0" "$(graph lent) $(graph lent_kept) $(graph lent_settled)"
ok "destroyed at once: fused" same 2 "$(graph execs/0/groups)"
if [ "$AF_BACKEND" = soft ]; then
	# One clone: what the fused form was made of. All that was made is destroyed, once.
	ok "destroyed at once: one clone, two graphs destroyed" same "1 2" "$(made cuGraphClone) $(made cuGraphDestroy)"
fi
ok "left as it is: same memory" lent open
ok "left as it is: cloned in the background" same "1 0 0" "$(graph lent) $(graph lent_kept) $(graph lent_settled)"
ok "left as it is: fused" same 2 "$(graph execs/0/groups)"
ok "edited at once and instantiated again: same memory" lent edited
ok "edited: settled by the first edit, not lent again" same "1 1" "$(graph lent) $(graph lent_settled)"
ok "edited: both are fused" same "2 2" "$(each groups)"
ok "edited: to what each was made of" bigger "$(graph launches/fused)" 120
ok "edited later: same memory" lent late
ok "edited later: fused" same 2 "$(graph execs/0/groups)"
ok "calls that touch a graph: same memory and answers, and each settles" all_settle
ok "calls: all graphs were lent" same 15 "$(graph lent)"
ok "calls: none was kept" same 0 "$(graph lent_kept)"
ok "calls: fused all the same" bigger "$(graph launches/fused)" $((15 * 40))
ok "one thread launches, another edits: same memory" lent threads
ok "threads: fused" bigger "$(graph launches/fused)" 80
ok "in any order: same memory" lent order
ok "in any order: lent, kept" bigger "$(($(graph lent) * $(graph lent_kept)))" 10
ok "while something is captured: same memory" lent capture
ok "while something is captured: cloned at once" same "0 2" "$(graph lent) $(graph execs/0/groups)"
ok "the device is reset: same memory" lent reset
ok "reset: fused in the end" bigger "$(graph launches/fused)" 20
ok "a child destroys all: same memory" lent fork
ok "a child destroys all: fused in its parent" same "2 2 2 2" "$(each groups)"
ok "added time is counted" bigger "$(python3 -c 'import json, sys; print(int(1e6 * json.load(open(sys.argv[1]))["graphs"]["added_ms"]))' "$report")" 0
if [ "$AF_BACKEND" = soft ]; then
	ok "destroyed twice: the answers without" lent twice
	ok "destroyed twice: kept" same 2 "$(graph lent_kept)"
	ok "edits by handles that are gone: the answers without" lent gone
	ok "edits by handles that are gone: kept until then" same "4 2" "$(graph lent) $(graph lent_kept)"
	ok "a child graph's own graph: same memory" lent child
	ok "a child graph's own graph: not lent, and fused" same "0 2" "$(graph lent) $(graph execs/0/groups)"
	ok "a child graph's own graph is destroyed: the driver's answer" lent inside
	# The worker is in the middle of cloning when the program edits: it waits, and so does everybody else.
	export SOFTGPU_SLOW=cuGraphClone:12000
	ok "edited while it is being cloned: same memory" lent late
	ok "edited while it is being cloned: fused" same 2 "$(graph execs/0/groups)"
	ok "slow clones, threads: same memory" lent threads
	ok "a child of who is cloning destroys all: same memory" lent fork
	unset SOFTGPU_SLOW
	# A clone that fails late is not to be had, and that is all.
	for mode in open edited late; do
		"$app" $mode >"$AF_TMP/want"
		got=$(SOFTGPU_FAIL=cuGraphClone:1:2 AUTOFUSE_REPORT=$report shim "$app" $mode)
		ok "$mode, no clone to be had: same memory" same "$(cat "$AF_TMP/want")" "$got"
		ok "$mode, no clone to be had: left alone" same not-cloneable "$(graph execs/0/left_alone)"
		got=$(SOFTGPU_FAIL=cuGraphNodeFindInClone:1:1,cuGraphGetNodes:3:1 AUTOFUSE_REPORT=$report shim "$app" $mode)
		ok "$mode, its nodes are not found: same memory" same "$(cat "$AF_TMP/want")" "$got"
	done
	got=$(SOFTGPU_FAIL=cuGraphClone:*:2 AUTOFUSE_REPORT=$report shim "$app" gone)
	ok "gone, no clone to be had: the answers without" same "$("$app" gone)" "$got"
fi
finish
