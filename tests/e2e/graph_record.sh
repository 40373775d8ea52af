#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# CUDA graphs in recordings: what `autofuse plan` makes of them is what the library made of them in the program,
# `autofuse trace` lists them, and whatever fails while they are read is nothing to the program.
. "$(dirname "$0")/lib.sh"
export AUTOFUSE_SUMMARY=no AUTOFUSE_CONFIG=$AF_TESTS/apps/decoder.ini
if [ "$AF_BACKEND" = soft ]; then
	tokens=32 pause=4000 cases=240
	export AUTOFUSE_CUPTI=$AF_BUILD/softgpu/cupti
else
	tokens=800 pause=2000 cases=600
fi
[ "$AF_BACKEND" = soft ] || export GRAPH_RANDOM_FILLS_STAY=1
report=$AF_TMP/report rec=$AF_TMP/rec plan=$AF_TMP/plan
app=$APPS/decoder-shared-fp32
plan() { "$AUTOFUSE_COMMAND" plan "$@"; }

# alike REPORT PLAN: groups of the graphs that both know, by number, nodes, and fused or why not; prints how many,
# how many are waiting for evidence, which plan takes as given, and stores left out. all: edited graphs, too.
alike() {
	python3 - "$@" <<'PY'
import json, sys
report, plan = (json.load(open(f))["graphs"] for f in sys.argv[1:3])
def of(g):
    return g["pattern"], g["nodes"], g["fused"], g.get("reason"), g.get("stores_dropped"), g.get("bytes_dropped")
# Stores that are left out rest on other kernels, too: the program may lack evidence for some of those.
def agree(live, plan):
    return live[:4] == plan[:4] and (live[4:] == plan[4:] or "random" in sys.argv and live[4] is None)
groups = waiting = dropped = late = 0
for e in report["execs"]:
    late += not e["planned"]
    if not e["planned"] or e["left_alone"] or (e["edits"] and "all" not in sys.argv) or e["listed_cut"]:
        continue
    live = [of(g) for g in e["listed"]]
    mine = [of(g) for g in plan["groups"] if g["graph"] == e["graph"]]
    # One that waits for evidence leaves its members to others, which the plan does not.
    live = [g for g in live if g[3] not in ("no-verdict", "unproven-kernel") or g[:2] in [m[:2] for m in mine] or
            not any(m[2] and set(m[1]) & set(g[1]) for m in mine)]
    waits = [i for i, g in enumerate(live) if g[3] in ("no-verdict", "unproven-kernel")]
    groups += len(live) - len(waits)
    waiting += len(waits)
    dropped += sum(g[4] or 0 for g in live)
    if len(live) != len(mine) or not all(agree(l, m) for i, (l, m) in enumerate(zip(live, mine)) if i not in waits):
        print("graph %d: live %s, planned %s" % (e["graph"], live, mine))
if late > len(report["execs"]) / 4:
    print("%d of %d graphs went before they were planned" % (late, len(report["execs"])))
print(groups, waiting, dropped)
PY
}

plain=$("$app" --tokens $tokens)
ok "learns to fuse" learn 20 "$report" "$app" --tokens $tokens
for mode in once update params; do
	got=$(AUTOFUSE_REPORT=$report AUTOFUSE_RECORD=$rec AUTOFUSE_GRAPHS=always AUTOFUSE_VERIFY=off \
		shim "$app" --tokens $tokens --graph $mode)
	ok "$mode: same tokens while recording" same "$plain" "$got"
	ok "$mode: one graph is recorded" same 1 "$(grep -c '"k":"inst"' "$rec")"
	plan --json "$rec" >"$plan"
	ok "$mode: plan has the groups that the program had" same "6 0 0" "$(alike "$report" "$plan" all)"
	ok "$mode: and what is on streams is still there" same \
		"$(python3 -c 'import json, sys; print(len(json.load(open(sys.argv[1]))["groups"]))' "$report")" \
		"$(python3 -c 'import json, sys; print(len(json.load(open(sys.argv[1]))["groups"]))' "$plan")"
done
text=$(plan "$rec")
ok "the text has streams and graphs" has "$(tr '\n' ' ' <<<"$text")" '^[1-9][0-9]* launches .* 40 kernel nodes in graphs add_rmsnorm: 4 groups fused'

# Whether graphs are fused or not, they are listed.
text=$("$AUTOFUSE_COMMAND" trace --graphs=on -- "$app" --tokens $tokens --graph once 2>/dev/null | sed -n '/^In graphs/,$p')
ok "trace lists the nodes of graphs" has "$text" '^In graphs: 41 kernel nodes of 14 kernels in 1 graph$'
ok "and what fuses there" has "$text" 'accum_kernel → rmsnorm_kernel .* fuses as add_rmsnorm, saves '
text=$(AUTOFUSE_CACHE=$AF_TMP/empty AUTOFUSE_PROBE=no "$AUTOFUSE_COMMAND" trace --graphs=on -- "$app" --tokens $tokens --graph once \
	2>/dev/null | sed -n '/^In graphs/,$p')
ok "and what does not: the verdict is the one of the program" has "$text" \
	'accum_kernel → rmsnorm_kernel .* not fused as add_rmsnorm: no-verdict'
AUTOFUSE_GRAPHS=off AUTOFUSE_RECORD=$rec shim "$app" --tokens $tokens --graph once >"$AF_TMP/out"
ok "graphs = off: same tokens" same "$plain" "$(cat "$AF_TMP/out")"
ok "graphs = off: recorded all the same" same '"opt":"off"' "$(grep '"k":"inst"' "$rec" | grep -o '"opt":"[a-z]*"')"
text=$("$AUTOFUSE_COMMAND" trace "$rec" | sed -n '/^In graphs/,$p')
ok "graphs = off: the listing says what would be fused, and how" has "$text" \
	'accum_kernel → rmsnorm_kernel .* not fused as add_rmsnorm: disabled: graphs are left alone; graphs = on fuses it'
ok "graphs = off: plan, too" has "$(plan "$rec")" '^As it was recorded, graphs were left alone; graphs = on '

# Every way to instantiate.
cat >"$AF_TMP/ways.py" <<'PY'
import ctypes as c
cu = c.CDLL("libcuda.so.1")
p = c.c_void_p
dev, ctx, graph, node, ex = c.c_int(), p(), p(), p(), p()
def ask(r):
    assert r == 0, r
ask(cu.cuInit(0)), ask(cu.cuDeviceGet(c.byref(dev), 0)), ask(cu.cuDevicePrimaryCtxRetain(c.byref(ctx), dev))
ask(cu.cuCtxSetCurrent(ctx)), ask(cu.cuGraphCreate(c.byref(graph), 0))
ask(cu.cuGraphAddEmptyNode(c.byref(node), graph, None, c.c_size_t(0)))
class Params(c.Structure):
    _fields_ = [("flags", c.c_uint64), ("stream", p), ("err", p), ("result", c.c_int)]
params = Params()
ask(cu.cuGraphInstantiate(c.byref(ex), graph, c.byref(node), None, c.c_size_t(0)))
ask(cu.cuGraphInstantiate_v2(c.byref(ex), graph, c.byref(node), None, c.c_size_t(0)))
ask(cu.cuGraphInstantiateWithFlags(c.byref(ex), graph, c.c_ulonglong(0)))
ask(cu.cuGraphInstantiateWithParams(c.byref(ex), graph, c.byref(params)))
ask(cu.cuGraphInstantiateWithParams_ptsz(c.byref(ex), graph, c.byref(params)))
print("answered", cu.cuGraphInstantiateWithFlags(c.byref(ex), None, c.c_ulonglong(0)) != 0)
PY
got=$(AUTOFUSE_RECORD=$rec shim python3 "$AF_TMP/ways.py")
ok "five ways to instantiate work, and a refusal is one" same "answered True" "$got"
ok "five graphs are recorded" same "0 cuGraphInstantiate 1 cuGraphInstantiate_v2 2 cuGraphInstantiateWithFlags 3 cuGraphInstantiateWithParams 4 cuGraphInstantiateWithParams_ptsz" \
	"$(sed -n 's/^{"k":"inst","f":"\([^"]*\)","id":\([0-9]*\),.*/\2 \1/p' "$rec" | tr '\n' ' ' | sed 's/ $//')"
ok "with their nodes" same 5 "$(grep -c '^{"k":"node","type":5}' "$rec")"

if [ "$AF_BACKEND" = soft ]; then
	# Whatever fails, nobody sees it in the program.
	for call in cuGraphGetNodes cuGraphNodeGetType cuGraphGetEdges_v2; do
		got=$(SOFTGPU_FAIL=$call:1:1 AUTOFUSE_RECORD=$rec shim "$app" --tokens 8 --graph once)
		ok "$call fails: same tokens" same "$("$app" --tokens 8)" "$got"
		ok "$call fails: a line says so" has "$(grep '"k":"inst"' "$rec")" '"why":"its nodes cannot be had'
		ok "$call fails: plan says so, and goes on" has "$(plan "$rec" 2>&1)" 'a graph was not recorded: its nodes '
	done
	for call in cuGraphKernelNodeGetParams_v2 cuGraphKernelNodeGetAttribute; do
		got=$(SOFTGPU_FAIL=$call:5:1 AUTOFUSE_RECORD=$rec shim "$app" --tokens 8 --graph once)
		ok "$call fails: same tokens" same "$("$app" --tokens 8)" "$got"
		ok "$call fails: all nodes are there" same 41 "$(grep -c '^{"k":"n"' "$rec")"
		ok "$call fails: the recording can be read" has "$(plan "$rec")" '^41 kernel nodes in graphs'
	done
fi

# Graphs with branches, copies, child graphs, aliasing. What is a chain depends on the evidence for pairs.
plan() { "$AUTOFUSE_COMMAND" plan --named "$@"; }
export AUTOFUSE_GENERATED=0
export AUTOFUSE_CONFIG=$AF_TESTS/apps/graph_random.ini AUTOFUSE_GRAPHS=always
app=$APPS/graph_random
for ((i = 0; i < 4; i++)); do
	AUTOFUSE_REPORT=$report AUTOFUSE_RECORD=$rec shim "$app" 0 $cases $pause >"$AF_TMP/got" || break
	plan --json "$rec" >"$plan"
	alike "$report" "$plan" random >"$AF_TMP/alike"
	read -r groups waiting dropped < <(tail -n 1 "$AF_TMP/alike")
	[ "$waiting" -lt "$((groups / 4))" ] && break
	sleep 3
done
ok "random graphs: memory and answers are the same" cmp -s <("$app" 0 $cases $pause) "$AF_TMP/got"
ok "random graphs: planned as they were in the program" same "" "$(head -n -1 "$AF_TMP/alike")"
ok "random graphs: many of them" bigger "$groups" 20
ok "random graphs: child graphs among them" has "$(grep -m 1 '"in":' "$rec")" '"in":\[0,[0-9]+\]'
ok "random graphs: stores left out" bigger "$dropped" 1
echo "# random graphs: $groups groups alike with $dropped stores left out, $waiting waiting for evidence"
# Graphs without edits, with all the evidence: what the plan leaves out is what the program did.
for ((i = 0; i < 20; i++)); do
	AUTOFUSE_REPORT=$report AUTOFUSE_RECORD=$rec shim "$app" dead >"$AF_TMP/got"
	plan --json "$rec" >"$plan"
	[ "$(alike "$report" "$plan")" = "3 0 3" ] && break
	sleep 2
done
ok "the plan's dropped stores are those of the program" same "3 0 3" "$(alike "$report" "$plan")"
finish
