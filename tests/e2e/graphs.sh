#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# CUDA graphs: the decoder in the three habits that programs have, graphs that are left alone, evidence
# gathered inside graphs, and random graphs with random edits.
. "$(dirname "$0")/lib.sh"
export AUTOFUSE_SUMMARY=no
if [ "$AF_BACKEND" = soft ]; then
	tokens=48 builds="shared-fp32 shared-bf16" pause=4000 cases=400
else
	tokens=300 builds="static-fp32 static-bf16 shared-fp32" pause=2000 cases=3000
fi
report=$AF_TMP/report
graph() { field "$report" "graphs/$1"; }

# What the decoder's graphs are fused to.
export AUTOFUSE_CONFIG=$AF_TESTS/apps/decoder.ini
for b in $builds; do
	app=$APPS/decoder-$b
	plain=$("$app" --tokens $tokens)
	ok "$b: learns to fuse, without graphs" learn 20 "$report" "$app" --tokens $tokens
	for mode in once update params; do
		ok "$b, $mode: same tokens as without graphs" same "$plain" "$("$app" --tokens $tokens --graph $mode)"
		# Whether it pays here to follow edits is another question: see below.
		got=$(AUTOFUSE_REPORT=$report AUTOFUSE_GRAPHS=always AUTOFUSE_VERIFY=off shim "$app" --tokens $tokens --graph $mode)
		ok "$b, $mode: same tokens with the shim" same "$plain" "$got"
		ok "$b, $mode: most launches are fused" bigger "$(graph launches/fused)" $((tokens / 2))
		# Per layer two pairs of addition and norm, one of activation and product.
		ok "$b, $mode: the groups are those of eager mode" same 6 "$(graph execs/0/groups)"
		ok "$b, $mode: a node less for each" same 6 $(($(graph execs/0/nodes) - $(graph execs/0/nodes_fused)))
		ok "$b, $mode: one side exec" same 1 "$(graph side_execs)"
		echo "# $b, $mode: $(graph execs/0/nodes) nodes became $(graph execs/0/nodes_fused) after $(graph execs/0/launches_before) launches; $(graph execs/0/added_ms) ms added"
	done
	got=$(AUTOFUSE_REPORT=$report AUTOFUSE_VERIFY=always shim "$app" --tokens $tokens --graph once)
	ok "$b: same tokens with verify = always" same "$plain" "$got"
	ok "$b: then launches are checked, none fused" same "0 0" "$(graph launches/fused) $(field "$report" patterns/add_rmsnorm/rejected/quarantined)"
	ok "$b: some were" bigger "$(graph launches/checked)" 0
	got=$(AUTOFUSE_REPORT=$report AUTOFUSE_SAMPLE_EVERY=20 shim "$app" --tokens $tokens --graph once)
	ok "$b: same tokens, sampling" same "$plain" "$got"
	ok "$b: sampled launches beside fused ones" bigger "$(($(graph launches/checked) * $(graph launches/fused)))" 0
done
app=$APPS/decoder-shared-fp32
plain=$("$app" --tokens $tokens)
for mode in update params; do
	got=$(AUTOFUSE_REPORT=$report shim "$app" --tokens $tokens --graph $mode)
	ok "$mode, only where it pays: same tokens" same "$plain" "$got"
	ok "$mode, only where it pays: tried" bigger "$(graph side_execs)" 0
	echo "# $mode: $(graph launches/fused) of $tokens launches fused, left alone: $(graph execs/0/left_alone)"
done
got=$(AUTOFUSE_REPORT=$report AUTOFUSE_GRAPHS=off shim "$app" --tokens $tokens --graph once)
ok "switched off: same tokens" same "$plain" "$got"
ok "switched off: no graph was looked at" same 0 "$(graph instantiated)"
# An odd number of layers swaps two buffers with each token: members' arguments change each time.
plain=$("$app" --tokens $tokens --layers 3)
got=$(AUTOFUSE_REPORT=$report AUTOFUSE_GRAPHS=always shim "$app" --tokens $tokens --layers 3 --graph update)
ok "members change with each token: same tokens" same "$plain" "$got"
ok "members change with each token: given up" same updated-often "$(graph execs/0/left_alone)"

# A program that knows nothing but graphs gets its evidence inside them.
export AUTOFUSE_CACHE=$AF_TMP/graph_only
plain=$("$app" --tokens $tokens --prompt 1)
checked=0
for ((i = 0; i < 40; i++)); do
	got=$(AUTOFUSE_REPORT=$report shim "$app" --tokens $tokens --prompt 1 --graph once)
	[ "$got" = "$plain" ] || break
	checked=$((checked + $(graph launches/checked)))
	[ "$(graph execs/0/groups)" = 6 ] && break
	sleep 2
done
ok "graphs alone: same tokens all along" same "$plain" "$got"
ok "graphs alone: all groups fused in the end" same 6 "$(graph execs/0/groups)"
ok "graphs alone: checked inside graphs" bigger "$checked" 0

# Evidence that is wrong, as if a probe had been fooled: a check inside the graph finds out.
cp -r "$AUTOFUSE_CACHE" "$AF_TMP/forged"
export AUTOFUSE_CACHE=$AF_TMP/forged
ok "two verdicts are forged" same 2 "$("$APPS/cache_forge" "$AUTOFUSE_CACHE" xs.w xw.s)"
got=$(AUTOFUSE_REPORT=$report AUTOFUSE_PROBE=no shim "$app" --tokens $tokens --prompt 1 --graph once 2>/dev/null)
ok "wrong evidence: same tokens" same "$plain" "$got"
ok "wrong evidence: quarantined" same 4 "$(graph execs/0/rejected/quarantined)"
ok "wrong evidence: the honest verdict is used" same 2 "$(graph execs/0/groups)"

# Random graphs, edited at random.
export AUTOFUSE_CACHE=$AF_TMP/random AUTOFUSE_CONFIG=$AF_TESTS/apps/graph_random.ini AUTOFUSE_GRAPHS=always
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
	ok "$mode: fused" bigger "$(graph launches/fused)" 20
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
for ((i = 0; i < 3; i++)); do
	shim "$app" 0 150 $pause >/dev/null
	sleep 3
done
differ() { # FIRST COUNT PAUSE: the same answers and memory with the shim as without?
	"$app" "$1" "$2" "$3" >"$AF_TMP/want" || return
	AUTOFUSE_REPORT=$report shim "$app" "$1" "$2" "$3" >"$AF_TMP/got" || return
	cmp -s "$AF_TMP/want" "$AF_TMP/got" && return
	diff "$AF_TMP/want" "$AF_TMP/got" | head -4 | cut -c1-300 | sed 's/^/# /'
	return 1
}
ok "$cases random graphs: memory and answers are the same" differ 0 $cases $pause
ok "and many launches were fused" bigger "$(graph launches/fused)" "$cases"
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
finish
