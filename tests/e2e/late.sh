#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Chains that take two kernels, as what they leave lies across what they read: on streams and in graphs, checked
# and kept as one thing; and whatever fails, also between the two, the program's memory is what it was to be.
. "$(dirname "$0")/lib_links.sh"
cold=(--repeat 80 --pause 20000 --wait --n 20003) warm=(--repeat 200 --pause 1000 --wait --n 20003)

# A launch is refused: the program's, or the first of ours, or, last, the second of ours, at all times of a run;
# a slow machine sends the program's own more often, so on until both of ours were.
refused() { # MODE
	local nth first=0 second=0 wrong=
	plain=$("$app" --mode "$1" --repeat 30 --n 20003)
	for ((nth = 40; nth < 80 && (nth < 48 || first == 0 || second == 0); nth++)); do
		got=$(SOFTGPU_FAIL=cuLaunchKernel:$nth:1 AUTOFUSE_LOG=info shim "$app" --mode "$1" --repeat 30 --wait \
			--pause 3000 --n 20003 2>"$AF_TMP/log") || continue # that one was the program's to see
		[ "$got" = "$plain" ] || wrong+=" $nth"
		grep -q 'a fused kernel could not be launched' "$AF_TMP/log" || continue
		if grep -q 'the second kernel for a group was refused' "$AF_TMP/log"; then
			second=$((second + 1))
		else
			first=$((first + 1))
		fi
	done
	ok "$1, a launch is refused: same memory" same "" "$wrong"
	ok "$1: of two kernels the first was, some times ($first)" bigger $first 0
	ok "$1: the second was, some times ($second)" bigger $second 0
}

for mode in across over; do
	rm -rf "$AUTOFUSE_CACHE"
	run_until_fused --mode $mode
	ok "$mode, nothing known: same memory" same "$plain" "$got"
	ok "$mode: two live checks, of both kernels together" test "$(chains checked)" -ge 2
	ok "$mode: fused in the same run" bigger "$(chains fused)" 10
	run --mode $mode "${warm[@]}"
	ok "$mode, again: same memory" same "$plain" "$got"
	ok "$mode: nothing compiled" same 0 "$(compiled)"
	ok "$mode: fused from the cache, without a check" same "0 1" "$(chains checked) $(($(chains fused) > 100))"
	ok "$mode: two launches of ours for three" same "$((2 * $(chains fused))) $(chains fused)" \
		"$(field "$report" launches/fused) $(($(field "$report" launches/program) - $(field "$report" launches/sent)))"
	[ "$AF_BACKEND" = soft ] && refused $mode
done
AUTOFUSE_VERIFY=always run --mode over "${warm[@]}"
ok "over, verify = always: same memory" same "$plain" "$got"
ok "over, verify = always: checked, never fused" same "0 1" "$(chains fused) $(($(chains checked) > 20))"
AUTOFUSE_SAMPLE_EVERY=10 run --mode over "${warm[@]}"
ok "over, verify = sample: same memory" same "$plain" "$got"
ok "over, verify = sample: some are checked" test "$(chains checked)" -ge 3
ok "over, verify = sample: nothing wrong with them" same 0 "$(chains rejected/quarantined)"
mkdir -p "$AF_TMP/little" && cp "$AUTOFUSE_CACHE"/image-* "$AF_TMP/little" # no verdict
AUTOFUSE_CHECK_MEMORY=64K AUTOFUSE_CACHE=$AF_TMP/little run_until_fused --mode over
ok "little memory for checks: same memory" same "$plain" "$got"
ok "little memory for checks: what fits of the rows is checked" bigger "$(chains fused)" 10
run --mode over --threads 3 --repeat 500 --pause 200 --n 20003
ok "over, three threads: same memory" same "$plain" "$got"
ok "over, three threads: fused" bigger "$(chains fused)" 20

# What `plan` says is what a run does.
AUTOFUSE_RECORD=$AF_TMP/rec run --mode over --repeat 20 --wait --n 20003
"$AUTOFUSE_COMMAND" plan --json "$AF_TMP/rec" >"$AF_TMP/plan"
ok "planned in two kernels, all of them" same "[(True, 2, 3)] 20" "$(python3 -c '
import json, sys
groups = json.load(open(sys.argv[1]))["groups"]
print(sorted({(g["fused"], g.get("kernels"), len(g["launches"])) for g in groups}), len(groups))' "$AF_TMP/plan")"

# Both images or none.
for repeat in 80 320 1280; do # until the probe is through
	AUTOFUSE_GENERATED=1 AUTOFUSE_CACHE=$AF_TMP/one run --mode over "${cold[@]}" --repeat $repeat
	[ "$got $(chains fused)" = "$plain 0" ] && [ "$(chains rejected/not-compiled)" = 0 ] || break
done
ok "room for one generated kernel: same memory, nothing fused" same "$plain 0" "$got $(chains fused)"
ok "room for one generated kernel: not-compiled" bigger "$(chains rejected/not-compiled)" 0
if [ "$AF_BACKEND" = soft ]; then
	for nth in 2 3; do # the library's own image is the first
		SOFTGPU_FAIL=cuModuleLoadData:$nth:200 run --mode over "${warm[@]}"
		ok "image $nth does not load: same memory, nothing fused" same "$plain 0" "$got $(chains fused)"
		ok "image $nth does not load: one warning" same 1 "$(grep -c 'does not load' <<<"$log")"
	done
fi

# In graphs.
export AUTOFUSE_GRAPHS=on AUTOFUSE_CONFIG=$AF_TESTS/apps/graph_chain.ini
app=$APPS/graph_chain
launches=100
first() { field "$report" "graphs/execs/0/$1"; }
graph() { # ARGS...: the program under the shim, and whether each launch left what it leaves without
	AUTOFUSE_REPORT=$report shim "$app" "$@" >"$AF_TMP/got" 2>"$AF_TMP/log"
	"$app" "$@" | cmp -s - "$AF_TMP/got"
}
learns() { # GROUPS STORES NODES-LESS ARGUMENTS...
	local i want="$1 $2 $3"
	shift 3
	for ((i = 0; i < 40; i++)); do
		graph "$@" || return
		[ "$(first groups) $(first stores_dropped) $(($(first nodes) - $(first nodes_fused)))" = "$want" ] && return
		probes_over
		sleep 0.3
	done
	echo "# $(first groups) groups, $(first stores_dropped) stores: $(first rejected)"
	return 1
}
ok "in a graph: two nodes in the place of three" learns 1 0 1 capture int $launches across-kept
ok "twice, with what is before and behind" learns 2 0 2 capture int $launches across-kept 2
for habit in capture explicit update params edit; do
	AUTOFUSE_GRAPHS=always
	ok "$habit: same memory after every launch" graph $habit int $launches across-kept
	[ $habit = edit ] && continue
	ok "$habit: two for three" same "1 1" "$(first groups) $(($(first nodes) - $(first nodes_fused)))"
	ok "$habit: most launches were fused" bigger "$(first fused)" $((launches / 2))
done
AUTOFUSE_GRAPHS=on
ok "what the second kernel needs is stored, though nobody else sees it" learns 1 0 1 capture int $launches across-read
ok "where nobody sees what lies across, one kernel is enough" learns 1 2 2 capture int $launches across-dead
AUTOFUSE_VERIFY=always graph capture int $launches across-kept
ok "verify = always: same memory" same 0 $?
ok "verify = always: checked, not fused" same "0 1" "$(first fused) $(($(first checked) > 1))"
ok "verify = always: nothing was found" same 0 "$(field "$report" graphs/execs/0/rejected/quarantined)"
AUTOFUSE_SAMPLE_EVERY=20 graph capture int $launches across-kept
ok "sampling: same memory" same 0 $?
for many in $launches 400 1600; do # checks come between launches, from another thread
	AUTOFUSE_SAMPLE_EVERY=20 graph capture int $many across-kept || break
	[ "$(first checked)" -le 3 ] || break
done
ok "sampling: checked now and then" bigger "$(first checked)" 3
for seen in kept read dead; do
	AUTOFUSE_RECORD=$AF_TMP/rec AUTOFUSE_VERIFY=off graph explicit int 400 across-$seen # it takes some until the form is there
	"$AUTOFUSE_COMMAND" plan --json "$AF_TMP/rec" >"$AF_TMP/plan"
	ok "$seen: planned as it is done" same "$([ $seen = dead ] && echo '[(None, 2)] [2]' || echo '[(2, None)] [None]')" "$(python3 -c '
import json, sys
plan, report = (json.load(open(f))["graphs"] for f in sys.argv[1:])
print([(g.get("kernels"), g.get("stores_dropped")) for g in plan["groups"]],
      [g.get("stores_dropped") for g in report["execs"][0]["listed"]])' "$AF_TMP/plan" "$report")"
done
if [ "$AF_BACKEND" = soft ]; then
	for call in cuGraphAddKernelNode_v2 cuGraphKernelNodeCopyAttributes cuGraphRemoveDependencies cuGraphNodeGetDependencies; do
		SOFTGPU_FAIL=$call:1:2 graph capture int 60 across-kept 2
		ok "$call fails: same memory" same 0 $?
		ok "$call fails: the graph is left alone" same refused "$(first left_alone)"
	done
fi
finish
