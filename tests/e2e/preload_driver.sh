#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The same on a driver that works: nothing a program sees changes.
. "$(dirname "$0")/lib.sh"
P=$AF_BUILD/tests/preload
export AUTOFUSE_SUMMARY=no # outputs are compared

"$P/contexts" >"$AF_TMP/plain" 2>&1
ok "contexts and memory: runs" has "$(cat "$AF_TMP/plain")" '^cuCtxDestroy_v2.ctx. = 0'
shim "$P/contexts" >"$AF_TMP/shim" 2>&1
ok "contexts and memory: every answer is the same" same "$(cat "$AF_TMP/plain")" "$(cat "$AF_TMP/shim")"
cat >"$AF_TMP/some.ini" <<'INI'
[kernel some]
match = some_kernel
op = add
args = out in0 in1 n
dtype = f32
INI
AUTOFUSE_CONFIG=$AF_TMP/some.ini AUTOFUSE_LOG=debug AUTOFUSE_RECORD=$AF_TMP/rec \
	shim "$P/contexts" >"$AF_TMP/shim" 2>"$AF_TMP/log"
ok "our module is loaded into each of the six contexts" same 6 "$(grep -c 'our kernels are loaded' "$AF_TMP/log")" ||
	cat "$AF_TMP/log"
ok "with our module in each context, recorded: likewise" same "$(cat "$AF_TMP/plain")" "$(cat "$AF_TMP/shim")"
AUTOFUSE=0 shim "$P/contexts" >"$AF_TMP/shim" 2>&1
ok "AUTOFUSE=0: likewise" same "$(cat "$AF_TMP/plain")" "$(cat "$AF_TMP/shim")"
# The allocation table: everything came and went, by free, by unmapping, or with its context.
ok "every allocation is recorded, and its end" python3 - "$AF_TMP/rec" <<'PY'
import json, sys
live, allocs, kinds = set(), 0, set()
for line in open(sys.argv[1]):
    r = json.loads(line)
    if r["k"] == "alloc":
        live.add((r["lo"], r["hi"]))
        allocs += 1
        kinds.add(r["flags"] & 7)
    elif r["k"] == "free":
        live.remove((r["lo"], r["hi"]))
print("#", allocs, "allocations,", len(live), "left, kinds", sorted(kinds))
sys.exit(bool(live) or allocs != 2 * 6 + 2 + 2 + 1 + 3 or kinds != {1, 2, 4})
PY
tap "driver closed at the end" shim "$P/absent" close
for mode in before after commands; do
	tap "children, $mode" shim "$P/forks" $mode
done
tap paths shim "$P/paths" libautofuse.so "$(python3 - <<'PY'
import ctypes, re
ctypes.CDLL("libcuda.so.1")
print(re.search(r"\S*/libcuda\.so\S*", open("/proc/self/maps").read()).group())
PY
)" "$P/libplugin.so"
finish
