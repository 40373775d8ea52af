#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs whose kernels break a pattern: same memory, and the reason in the report.
. "$(dirname "$0")/lib.sh"
export AUTOFUSE_CONFIG=$AF_TESTS/apps/breaks.ini AUTOFUSE_SUMMARY=no
# The timer is another test's subject: here it would hide the reasons.
export AUTOFUSE_HOLD_US=2000000 AUTOFUSE_IDLE_US=2000000
app=$APPS/breaks

# Evidence first: what follows shall be refused for what it is, not for want of a verdict.
for mode in pair norm_in_place rows_of_other_length; do
	ok "$mode: learns to fuse" learn 20 "$AF_TMP/report" "$app" $mode 2000
done

run() { # MODE: sets plain, got, report
	plain=$("$app" "$1" 2>&1)
	got=$(AUTOFUSE_REPORT=$AF_TMP/report AUTOFUSE_VERIFY=off shim "$app" "$1" 2>&1)
	ok "$1: same memory" same "$plain" "$got"
}
fuses() { # MODE
	run "$1"
	ok "$1: fuses" bigger "$(field "$AF_TMP/report" launches/fused)" 0
}
refuses() { # MODE PATTERN REASON
	run "$1"
	ok "$1: nothing fused" same 0 "$(field "$AF_TMP/report" launches/fused)"
	ok "$1: $3, every time" same "{\"$3\": 60}" "$(field "$AF_TMP/report" "patterns/$2/rejected")"
}
no_group() { # MODE: the kernels are known, but the second does not read what the first left
	run "$1"
	ok "$1: nothing fused" same 0 "$(field "$AF_TMP/report" launches/fused)"
	ok "$1: no group" same "{} {}" "$(field "$AF_TMP/report" patterns/add_rmsnorm/rejected) $(
		field "$AF_TMP/report" patterns/silu_mul/rejected)"
}
judged() { # MODE PATTERN: a whole group each time, fused or not
	run "$1"
	ok "$1: 60 groups" same 60 "$(python3 - "$AF_TMP/report" "$2" <<'PY'
import json, sys
p = json.load(open(sys.argv[1]))["patterns"][sys.argv[2]]
print(p["fused"] + p["checked"] + sum(p["rejected"].values()))
PY
	)"
}
for mode in pair norm_in_place rows_of_other_length attribute_of_another; do
	fuses $mode
done
refuses memcpy_between add_rmsnorm barrier
refuses memcpy_onto add_rmsnorm barrier
refuses roundtrip add_rmsnorm barrier
refuses attribute_of_its_own add_rmsnorm barrier
no_group memcpy_through
AUTOFUSE_GENERATED=0 no_group kernel_through # as a chain it may well be one
refuses kernel_between add_rmsnorm output-read
refuses kernel_beside add_rmsnorm unproven-kernel
refuses last_row add_rmsnorm shape
refuses first_row add_rmsnorm shape
refuses half_a_row add_rmsnorm shape
judged plus_one add_rmsnorm

judged gated silu_mul
judged gated_in_place silu_mul
refuses gate_overwritten silu_mul input-overwritten
refuses gate_overwritten_by_gemm silu_mul unknown-kernel
refuses gate_overwritten_by_memcpy silu_mul barrier
refuses silu_read silu_mul output-read
AUTOFUSE_GENERATED=0 refuses half_a_product silu_mul shape # a kernel of some rows can be generated
refuses squared silu_mul overlap

# One launch completes two groups: a live check of one must not run our kernel for the other.
plain=$("$app" twins 1000 2>&1)
for run in 1 2 3; do
	got=$(AUTOFUSE_REPORT=$AF_TMP/report shim "$app" twins 1000 2>&1)
	ok "twins, run $run: same memory" same "$plain" "$got"
	ok "twins, run $run: no check finds other bytes" same 0 "$(field "$AF_TMP/report" patterns/silu_mul/rejected/quarantined)"
	sleep 1
done
finish
