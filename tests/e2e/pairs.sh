#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# add -> RMSNorm with everything in between that programs do: same memory, the right reason.
. "$(dirname "$0")/lib.sh"
export AUTOFUSE_CONFIG=$AF_TESTS/apps/pairs.ini AUTOFUSE_SUMMARY=no
# What does not fuse as a pair may well be part of a chain, with a neighbour: not here.
export AUTOFUSE_GENERATED=0
app=$APPS/pairs

# Evidence for the alias patterns that the modes use; each is a key of its own.
# final_norm comes first: two of them begin with the same launch, and each wants its live checks.
ok "final_norm: learns to fuse" learn 20 "$AF_TMP/report" "$app" final_norm 600
for mode in plain inplace norm_inplace swapped; do
	ok "$mode: learns to fuse" learn 20 "$AF_TMP/report" "$app" $mode 4000
done

run() { # MODE [ARGS...]: sets plain, got, report
	plain=$("$app" "$@" 2>&1)
	got=$(AUTOFUSE_REPORT=$AF_TMP/report AUTOFUSE_VERIFY=off shim "$app" "$@" 2>&1)
}
fuses() { # MODE
	run "$1"
	ok "$1: same memory" same "$plain" "$got"
	ok "$1: fuses" bigger "$(field "$AF_TMP/report" launches/fused)" 0
}
refuses() { # MODE REASON
	run "$1"
	ok "$1: same memory" same "$plain" "$got"
	ok "$1: nothing fused" same 0 "$(field "$AF_TMP/report" launches/fused)"
	ok "$1: $2" bigger "$(field "$AF_TMP/report" "patterns/add_rmsnorm/rejected/$2")" 0
}
for mode in plain inplace norm_inplace swapped default freeasync allocasync independent; do
	fuses $mode
done
fuses allocs
ok "allocs: nothing left alone" same "{}" "$(field "$AF_TMP/report" patterns/add_rmsnorm/rejected)"
fuses turns
ok "turns: only for what comes between" same "['unknown-kernel']" \
	"$(python3 -c 'import json, sys; print(sorted(k for k, v in json.load(open(sys.argv[1]))["patterns"]["add_rmsnorm"]["rejected"].items() if v))' "$AF_TMP/report")"
fuses final_norm
ok "final_norm: nothing left alone" same "$(field "$AF_TMP/report" launches/program)" \
	"$(($(field "$AF_TMP/report" launches/sent) + $(field "$AF_TMP/report" launches/fused)))"
ok "final_norm: neither of the two" same 0 "$(field "$AF_TMP/report" patterns/add_rmsnorm/rejected/unpredicted)"
# On streams nothing says who reads a sum later. Who assumes that nobody does gets what was there before.
export AUTOFUSE_STORES=assume-dead
fuses inplace # a running sum is kept
fuses norm_inplace
run plain
ok "assume-dead: fuses" bigger "$(field "$AF_TMP/report" launches/fused)" 0
differs() { [ "$1" != "$2" ]; }
ok "assume-dead: the sum is not stored" differs "$plain" "$got"
got=$(AUTOFUSE_REPORT=$AF_TMP/report AUTOFUSE_SAMPLE_EVERY=20 shim "$app" plain 20000 2>&1)
ok "assume-dead: checks look at all that the program's kernels store" bigger "$(field "$AF_TMP/report" patterns/add_rmsnorm/checked)" 0
ok "assume-dead: and find nothing wrong" same 0 "$(field "$AF_TMP/report" patterns/add_rmsnorm/rejected/quarantined)"
unset AUTOFUSE_STORES
refuses event barrier
refuses query barrier
refuses copy barrier
refuses overwrite_by_copy barrier
refuses roundtrip barrier
refuses hostfunc barrier
run lone_stream
ok "lone_stream: same memory, nothing fused" same "$plain 0" "$got $(field "$AF_TMP/report" launches/fused)"
refuses unknown unknown-kernel
refuses overwrite input-overwritten
refuses read output-read
refuses overlap overlap
refuses attribute attributes
refuses mapped not-device-memory
refuses managed not-device-memory
refuses streams different-stream
refuses legacy different-stream
run bad_launch
ok "bad_launch: same memory, same error" same "$plain" "$got"
run refused
ok "refused: same memory, same errors" same "$plain" "$got"
ok "refused: pairs fused beside that" bigger "$(field "$AF_TMP/report" launches/fused)" 10

# Launches that lead to nothing are looked at less and less, until something comes of one. Reports list
# every group, so only the line at exit can say it.
plain=$("$app" late 300)
got=$(AUTOFUSE_SUMMARY=yes AUTOFUSE_VERIFY=off shim "$app" late 300 2>"$AF_TMP/err")
ok "late: same memory" same "$plain" "$got"
ok "late: what leads to nothing is passed over" has "$(cat "$AF_TMP/err")" "[0-9]{4} launches no longer looked at"
ok "late: what comes after it fuses" has "$(cat "$AF_TMP/err")" "2[5-9][0-9] add_rmsnorm fused"

if [ "$AF_BACKEND" = soft ]; then
	run destroyed 4000
	ok "destroyed: same memory" same "$plain" "$got"
fi
fuses thread_capture
fuses lost_capture
fuses foreign_destroy
for mode in threads capture fork reset; do
	run $mode 50
	ok "$mode: same memory" same "$plain" "$got"
done
run threads 200
ok "threads: held sequences complete" bigger "$(field "$AF_TMP/report" launches/fused)" 0

# Half the adds begin no pair: a check that began at one of them must not be the last one.
# How many there are is also a matter of time: the run is long enough for many.
got=$(AUTOFUSE_REPORT=$AF_TMP/report AUTOFUSE_SAMPLE_EVERY=20 shim "$app" plain 20000)
ok "samples are taken again and again" bigger "$(field "$AF_TMP/report" patterns/add_rmsnorm/checked)" 2

# The way out: no call follows the held launch.
export AUTOFUSE_HOLD_US=1000 AUTOFUSE_IDLE_US=150
got=$(AUTOFUSE_REPORT=$AF_TMP/report shim "$app" spin)
ok "a held launch gets out without another call" same "spin ended" "$got"
got=$(shim "$app" exit 10; echo $?)
ok "a program may end with a launch held" same 0 "$got"
run plain 2000
ok "with the usual timer: same memory" same "$plain" "$got"
run plain 200 1 4096
ok "other shapes: same memory" same "$plain" "$got"
finish
