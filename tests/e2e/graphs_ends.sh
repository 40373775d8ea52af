#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What may end while executable graphs are there: modules, contexts, evidence, memory. What stands beside the graphs
# goes in time, and the program sees nothing of it.
. "$(dirname "$0")/lib.sh"
if [ "$AF_BACKEND" != soft ]; then
	skip "what ends under graphs" "the program asks the software GPU what was called"
	finish
fi
report=$AF_TMP/report
graph() { field "$report" "graphs/$1"; }
export AUTOFUSE_SUMMARY=no AUTOFUSE_CONFIG=$AF_TESTS/apps/graph_random.ini AUTOFUSE_GRAPHS=always AUTOFUSE_GENERATED=0
app=$APPS/graph_ends image=$APPS/graph_ends.cubin

# ends MODE [PAUSE_MS]: what it prints with the library is what it prints without; the report is in $report.
ends() {
	local want got
	want=$("$app" "$1" "$image" "${@:2}") || return
	got=$(AUTOFUSE_REPORT=$report shim "$app" "$1" "$image" "${@:2}") || return
	same "$want" "$got"
}

learned() {
	local i
	for ((i = 0; i < 40; i++)); do
		AUTOFUSE_REPORT=$report shim "$app" plain "$image" 60 >/dev/null || return
		[ "$(graph execs/0/groups)" = 2 ] && return
		sleep 1
	done
	return 1
}

# The worker is reading nodes when the module goes, and would ask for their kernels while the driver unloads it.
export SOFTGPU_SLOW=cuGraphKernelNodeGetParams:20000,cuModuleUnload:60000
ok "a module is unloaded behind its graph: nothing of it is used any more" ends unload 30
ok "a module is unloaded before its graph: nothing of it is used any more" ends unload-live 30
ok "before its graph: left alone" same context-gone "$(graph execs/0/left_alone)"
# It cannot be waited for.
export SOFTGPU_SLOW=cuGraphClone:2600000
ok "the worker is stuck when a module is unloaded: it quits when it gets on" ends unload-live 1000
ok "stuck: left alone" same context-gone "$(graph execs/0/left_alone)"
unset SOFTGPU_SLOW

ok "two groups learn to fuse" learned
ok "a context is destroyed: events of the next one stay" ends context
ok "a context is destroyed: it was fused before" bigger "$(graph launches/fused)" 0

ok "graphs hold objects: released when they are without" ends objects
ok "graphs hold objects: fused until the update" same "1 edited" "$((($(graph launches/fused) > 0)) && echo 1) $(graph execs/0/left_alone)"

plenty="cuGraphInstantiateWithFlags:0 cuGraphInstantiateWithParams:0 cuGraphUpload:0 cuModuleLoad:0 cuLibraryLoadFromFile:0 cuMemCreate:0"
ok "memory runs out: what stands beside graphs goes, and the program sees nothing" same " $plenty" "$(shim "$app" memory "$image")"
ok "memory runs out: without the library it does" same " ${plenty//:0/:2}" "$("$app" memory "$image")"

# Wrong evidence that counts as good, and right one that waits for its checks, which are made together.
cp -r "$AUTOFUSE_CACHE" "$AF_TMP/forged"
honest=$AUTOFUSE_CACHE
export AUTOFUSE_CACHE=$AF_TMP/forged
ok "wrong evidence: forged" same "1 1" "$("$APPS/cache_forge" "$AUTOFUSE_CACHE" xs.w xw.s usable) $(
	"$APPS/cache_forge" "$AUTOFUSE_CACHE" silu/ silu/)"
AUTOFUSE_PROBE=no AUTOFUSE_LIVE_CHECKS=8 AUTOFUSE_SAMPLE_EVERY=1 ends pairs 40 2>"$AF_TMP/log"
ok "wrong evidence beside right: same memory once it is found out" test $? = 0
ok "wrong evidence: said once" same 1 "$(grep -c 'gave other bytes' "$AF_TMP/log")"
ok "wrong evidence: quarantined" same 1 "$(graph execs/0/rejected/quarantined)"
export AUTOFUSE_CACHE=$honest
finish
