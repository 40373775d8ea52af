#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The sampler of host time sees the library where it works, changes nothing, and adds up.
. "$(dirname "$0")/lib.sh"
export AUTOFUSE_CONFIG=$AF_TESTS/apps/pairs.ini AUTOFUSE_SUMMARY=no AUTOFUSE_PROBE=no
many=6000
[ "$AF_BACKEND" = soft ] || many=200000
out=$AF_TMP/samples
sampled() { LD_PRELOAD=$AF_BUILD/tests/gpu/sampler.so SAMPLER_CLOCK=${clock:-wall} SAMPLER_OUT=$out shim "$APPS/pairs" plain $many; }
table() { python3 "$AF_TESTS/gpu/sampler.py" "$out" "$@" 2>&1; }
# The ms of a row, of a column of the table.
row() { awk -v name="$2" -v column="$3" '$1 == name {printf "%d\n", 1000 * $column; exit}' <<<"$1"; }
got=$(sampled)
ok "same memory" same "$("$APPS/pairs" plain $many)" "$got"
all=$(table)
echo "# $(head -n 1 <<<"$all")"
ok "the library has a row" bigger "$(row "$all" libautofuse 2)" 0
ok "so has the driver" bigger "$(row "$all" libcuda 2)" 0
ok "the library's functions are named" bigger "$(sed '1,/^libautofuse.so/d' <<<"$all" | grep -cE "^[a-zA-Z_]\w+[.a-z0-9]* ")" 2
python3 - "$out" "$AF_TMP/blocks" <<'PY'
import sys
at = [float(line.split()[0]) for line in open(sys.argv[1]) if line[0] != "#"]
middle = at[len(at) // 2]
open(sys.argv[2], "w").write("on %f %f 10\noff %f %f 5\n" % (at[0] - 1, middle - 1e-6, middle, at[-1] + 1))
PY
blocks=$(table --blocks "$AF_TMP/blocks")
sum=$((10 * $(row "$blocks" sum 2) + 5 * $(row "$blocks" sum 3)))
ok "steps on and off" has "$blocks" "of 10 on, 5 off"
ok "add up to all" bigger 20 $((sum - $(row "$all" sum 2)))
ok "and to no less" bigger $((sum + 20)) "$(row "$all" sum 2)"
SAMPLER_AFTER=1000 sampled >/dev/null
ok "nothing before its time" has "$(table)" "no samples"
out=$AF_TMP/of-%p clock=cpu
sampled >/dev/null
ok "a file for each process" has "$(ls "$AF_TMP")" "^of-[0-9]+$"
ok "with samples, by processor time, too" bigger "$(grep -cE '^[0-9.]+ [0-9.]+ \S+ [0-9a-f]+( kernel)?$' "$AF_TMP"/of-*)" 5
finish
