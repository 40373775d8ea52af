#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The ways in which a program reaches the driver, on a fake driver that notes what arrives.
. "$(dirname "$0")/lib.sh"
P=$AF_BUILD/tests/preload
export AUTOFUSE_SUMMARY=no # outputs are compared
export LD_LIBRARY_PATH=$P/fake

# Every function of the table, by every way, with our fast path, switched off, and while recording.
for way in linked dlsym proc; do
	shim "$P/calls" $way >"$AF_TMP/calls" 2>"$AF_TMP/err"
	ok "calls, $way: all arguments arrive" same "637 calls, 0 errors" "$(cat "$AF_TMP/err")"
	AUTOFUSE=0 shim "$P/calls" $way >"$AF_TMP/off" 2>"$AF_TMP/err"
	ok "calls, $way: AUTOFUSE=0" same "637 calls, 0 errors" "$(cat "$AF_TMP/err")"
	[ $way = linked ] ||
		ok "calls, $way: AUTOFUSE=0 gives the driver's own pointers" same 637 "$(grep -c ' libcuda.so.1$' "$AF_TMP/off")"
	AUTOFUSE_RECORD=$AF_TMP/rec shim "$P/calls" $way >"$AF_TMP/calls" 2>"$AF_TMP/err"
	ok "calls, $way: while recording" same "637 calls, 0 errors" "$(cat "$AF_TMP/err")"
	# Whatever went through us is in the recording, once, with the stream that the program passed.
	ok "calls, $way: each is recorded with its stream" python3 - "$AF_TMP/rec" "$AF_TMP/calls" <<'PY'
import collections, json, sys
rec = [json.loads(line) for line in open(sys.argv[1])]
kinds = {"cuLaunchKernel": "l", "cuLaunchCooperativeKernel": "l", "cuLaunchKernelEx": "lx"}
def stream(s):
    return "-" if s is None else s
got = collections.Counter((r["f"], stream(r.get("st"))) for r in rec if r["k"] == "a")
got.update((r["k"], stream(r.get("st"))) for r in rec if r["k"] in ("l", "lx"))
want = collections.Counter()
for line in open(sys.argv[2]):
    name, s, owner = line.split()
    kind = kinds.get(name.removesuffix("_ptsz"))
    if kind == "lx":
        s = "0x0" if name == "cuLaunchKernelEx" else "0x2"  # the zeroed configuration's stream
    if owner == "libautofuse.so":
        want[kind or name, s] += 1
for name in ("cuInit", "cuGetProcAddress_v2"):  # the test's own calls come on top
    for counter in (got, want):
        for key in [k for k in counter if k[0] == name]:
            del counter[key]
for text, diff in (("missing", want - got), ("too many", got - want)):
    for key, n in list(diff.items())[:8]:
        print("#", text, *key, n)
sys.exit(got != want or len(want) < 400)
PY
done

# `paths` also looks for the driver's own pointers, by a look-up from inside the driver.
tap paths shim "$P/paths" libautofuse.so "$P/fake/libcuda.so.1" "$P/libplugin.so"
tap "paths, AUTOFUSE=0" env AUTOFUSE=0 LD_PRELOAD="$LIB" "$P/paths" libcuda.so.1 "$P/fake/libcuda.so.1" "$P/libplugin.so"
tap outside shim "$P/outside" libautofuse.so
tap "outside, recorded" env AUTOFUSE_RECORD="$AF_TMP/rec" LD_PRELOAD="$LIB" "$P/outside" libautofuse.so
ok "a call outside the table is recorded by its name" grep -q '"f":"cuFakeOutside"' "$AF_TMP/rec"
tap "outside, AUTOFUSE=0" env AUTOFUSE=0 LD_PRELOAD="$LIB" "$P/outside" libcuda.so.1
tap absent env LD_LIBRARY_PATH= LD_PRELOAD="$LIB" "$P/absent" none
tap reload env LD_LIBRARY_PATH= LD_PRELOAD="$LIB" "$P/absent" reload "$P/fake/libcuda.so.1" "$P/copy/libcuda.so.1"
tap close shim "$P/absent" close
tap tool shim "$P/absent" tool "$P/libcupti.so.13"
tap "a constructor that uses the driver" shim "$P/constructor" "$P/libconstructor.so"
tap "fork before" shim "$P/forks" before
tap "fork after" shim "$P/forks" after
tap "fork after, recorded" env AUTOFUSE_RECORD="$AF_TMP/rec" LD_PRELOAD="$LIB" "$P/forks" after
tap commands shim "$P/forks" commands

# A function that the driver lacks answers CUDA_ERROR_NOT_FOUND instead of crashing.
tap "an old driver" env LD_LIBRARY_PATH="$P/old" LD_PRELOAD="$LIB" "$P/lacking"
tap "an old driver, recorded" env LD_LIBRARY_PATH="$P/old" AUTOFUSE_RECORD="$AF_TMP/rec" LD_PRELOAD="$LIB" "$P/lacking"

# Another preloaded library that uses RTLD_NEXT. Behind us it cannot see a linked program's driver
# calls (ours go to the driver), before us it sees all; its libc functions work either way.
ok "RTLD_NEXT, the other library first" same "good 1 getppid 2 sync 3 launch 3 driver 3 3" \
	"$(LD_PRELOAD=$P/libnext.so:$LIB "$P/nextuser")"
ok "RTLD_NEXT, ours first" same "good 1 getppid 2 sync 0 launch 0 driver 3 3" \
	"$(LD_PRELOAD=$LIB:$P/libnext.so "$P/nextuser")"
ok "RTLD_NEXT, without us" same "good 1 getppid 2 sync 3 launch 3 driver 3 3" "$(LD_PRELOAD=$P/libnext.so "$P/nextuser")"

# One that replaces dlsym: behind us it is asked by us; before us it hides the driver, so we stay off.
LD_PRELOAD=$LIB:$P/libnextdlsym.so "$P/calls" dlsym >"$AF_TMP/calls" 2>"$AF_TMP/err"
ok "another dlsym behind ours: all arguments arrive" same "637 calls, 0 errors" "$(cat "$AF_TMP/err")"
ok "another dlsym behind ours: ours still routes" same 0 "$(grep -c ' libcuda.so.1$' "$AF_TMP/calls")"
AUTOFUSE_RECORD=$AF_TMP/none LD_PRELOAD=$P/libnextdlsym.so:$LIB "$P/calls" linked >"$AF_TMP/calls" 2>"$AF_TMP/err"
ok "another dlsym before ours: all arguments arrive" has "$(cat "$AF_TMP/err")" '^637 calls, 0 errors'
ok "another dlsym before ours: off, and says why" has "$(cat "$AF_TMP/err")" 'another preloaded library answers dlsym'
ok "another dlsym before ours: nothing is recorded" test ! -e "$AF_TMP/none"

# The caller's RUNPATH is looked at, not ours.
ok "RUNPATH of dlopen's caller" shim "$P/runpathuser" "$P/librunpath.so"
ok "the test can fail: without its RUNPATH the neighbour is not found" \
	bash -c '! LD_PRELOAD=$1 "$2" "$3"' - "$LIB" "$P/runpathuser" "$P/there/libonlythere.so"
finish
