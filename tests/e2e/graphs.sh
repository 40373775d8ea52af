#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# CUDA graphs: the decoder in the three habits that programs have, and evidence gathered inside graphs.
. "$(dirname "$0")/lib.sh"
export AUTOFUSE_SUMMARY=no AUTOFUSE_GRAPHS=on
if [ "$AF_BACKEND" = soft ]; then
	tokens=48 builds="shared-fp32 shared-bf16"
else
	tokens=1500 builds="static-fp32 static-bf16 shared-fp32"
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
# A run may be over before both are found out: the next one begins where it did, and is longer where that costs nothing.
for ((i = 0, many = tokens; i < 6; i++)); do
	export AUTOFUSE_CACHE=$AF_TMP/forged$i
	cp -r "$AF_TMP/forged" "$AUTOFUSE_CACHE"
	got=$(AUTOFUSE_REPORT=$report AUTOFUSE_PROBE=no shim "$app" --tokens $many --prompt 1 --graph once 2>/dev/null)
	if [ "$got" != "$plain" ] || [ "$(graph execs/0/rejected/quarantined)" = 4 ]; then break; fi
	[ "$AF_BACKEND" = soft ] || [ $many -gt $((2 * tokens)) ] || many=$((2 * many))
	plain=$("$app" --tokens $many --prompt 1)
done
echo "# $i runs were over too early; $many tokens in the last"
ok "wrong evidence: same tokens" same "$plain" "$got"
ok "wrong evidence: quarantined" same 4 "$(graph execs/0/rejected/quarantined)"
ok "wrong evidence: the honest verdict is used" same 2 "$(graph execs/0/groups)"
finish
