#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# No call is missed: what CUPTI counts in an unshimmed run is what the shim records in a shimmed one.
. "$(dirname "$0")/../e2e/lib.sh"
export AUTOFUSE_SUMMARY=no
inject=$AF_BUILD/tests/gpu/libcupti_counts.so
cupti=$(for d in /usr/local/cuda/lib64 /usr/local/cuda/extras/CUPTI/lib64 \
	$(python3 -c 'import site; print(*[p + "/nvidia/cu13/lib" for p in site.getsitepackages()])' 2>/dev/null); do
	[ -e "$d/libcupti.so.13" ] && echo "$d" && break
done)
if [ -z "$cupti" ] || [ ! -e "$inject" ]; then
	skip "calls are counted" "no libcupti.so.13 here"
	finish
fi
for job in "$APPS/decoder-static-fp32 --tokens 20" "$APPS/decoder-ptds-fp32 --tokens 20" "$APPS/pairs streams 50" \
	"$APPS/pairs capture 5" "$APPS/pairs freeasync 50"; do
	# shellcheck disable=SC2086
	CUPTI_COUNTS=$AF_TMP/cupti CUDA_INJECTION64_PATH=$inject LD_LIBRARY_PATH=$cupti${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} $job >"$AF_TMP/out1" 2>&1
	# shellcheck disable=SC2086
	AUTOFUSE_RECORD=$AF_TMP/rec shim $job >"$AF_TMP/out2" 2>&1
	ok "$(basename "$job"): every call that CUPTI sees is recorded" python3 - "$AF_TMP/cupti" "$AF_TMP/rec" <<'PY'
import collections, json, sys
want = collections.Counter()
for line in open(sys.argv[1]):
    name, n = line.split()
    want[name] += int(n)
got = collections.Counter()
for line in open(sys.argv[2]):
    r = json.loads(line)
    if r["k"] == "a":
        got[r["f"]] += 1
    elif r["k"] in ("l", "lx"):
        got["launch"] += 1
for name in list(want):
    if name.startswith(("cuLaunchKernel", "cuLaunchCooperative")):
        want["launch"] += want.pop(name)
# Look-ups happen before the first recorded call, and the runtime repeats a few queries by timing.
skip = ("cuGetProcAddress", "cuGetExportTable", "cuInit", "cuDriverGetVersion", "cuModuleGetLoadingMode", "cuDeviceGet", "cuCtxGet")
bad = [(n, want[n], got[n]) for n in sorted(set(want) | set(got)) if want[n] != got[n] and not n.startswith(skip)]
for b in bad[:12]:
    print("# %s: CUPTI %d, recorded %d" % b)
print("# %d calls of %d functions" % (sum(want.values()), len(want)))
sys.exit(bool(bad) or not want)
PY
done
finish
