#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The sample decoder, every build: same tokens, fewer launches, fused from the start once the cache
# knows, and `autofuse plan` on its own recording says what the live run did.
. "$(dirname "$0")/lib.sh"
export AUTOFUSE_CONFIG=$AF_TESTS/apps/decoder.ini AUTOFUSE_SUMMARY=no
if [ "$AF_BACKEND" = soft ]; then
	tokens=24 builds="shared-fp32 shared-bf16 ptds-fp32 ptds-bf16"
else
	tokens=200 builds="static-fp32 static-bf16 shared-fp32 shared-bf16 ptds-fp32 ptds-bf16"
fi

# Two runs are only compared where no timer has a say.
patient() { AUTOFUSE_HOLD_US=2000000 AUTOFUSE_IDLE_US=2000000 shim "$@"; }
compare_plan() { # RECORDING REPORT: same groups, same launches, same reasons
	"$AUTOFUSE_COMMAND" plan --named "$1" --json >"$AF_TMP/plan.json" || return
	python3 - "$AF_TMP/plan.json" "$2" <<'PY'
import json, sys
def groups(path):
    return sorted((g["launches"], g["fused"], g.get("reason")) for g in json.load(open(path))["groups"])
plan, live = groups(sys.argv[1]), groups(sys.argv[2])
for a, b in zip(plan, live):
    if a != b:
        print("# plan", a, "live", b)
        break
print("# %d groups planned, %d live" % (len(plan), len(live)))
sys.exit(plan != live or not plan)
PY
}

for b in $builds; do
	app=$APPS/decoder-$b
	plain=$("$app" --tokens $tokens)
	ok "$b runs without the shim" [ -n "$plain" ]
	case $b in
	ptds-*)
		got=$(AUTOFUSE_REPORT=$AF_TMP/report shim "$app" --tokens $tokens)
		ok "$b: same tokens" same "$plain" "$got"
		ok "$b: nothing is held on a per-thread stream" same 0 "$(field "$AF_TMP/report" held/held)"
		ok "$b: the reason says so" bigger "$(field "$AF_TMP/report" patterns/add_rmsnorm/rejected/per-thread-stream)" 0
		got=$(AUTOFUSE_REPORT=$AF_TMP/report shim "$app" --tokens $tokens --stream)
		ok "$b: same tokens on a created stream" same "$plain" "$got"
		continue
		;;
	esac
	ok "$b: learns to fuse" learn 20 "$AF_TMP/report" "$app" --tokens $tokens
	ok "$b: same tokens while learning" same "$plain" "$(cat "$AF_TMP/learn.out")"
	got=$(AUTOFUSE_REPORT=$AF_TMP/report AUTOFUSE_VERIFY=off AUTOFUSE_RECORD=$AF_TMP/rec patient "$app" --tokens $tokens)
	ok "$b: same tokens from the cache" same "$plain" "$got"
	before=$(field "$AF_TMP/report" launches/program) after=$(field "$AF_TMP/report" launches/sent)
	ok "$b: fewer launches ($before became $after)" bigger "$before" "$after"
	ok "$b: nothing rejected for want of evidence" same 0 "$(field "$AF_TMP/report" patterns/add_rmsnorm/rejected/no-verdict)"
	ok "$b: plan on the recording is what the live run did" compare_plan "$AF_TMP/rec" "$AF_TMP/report"
	# Recording keeps the window's short way (window_memo.c) shut; here it is open.
	got=$(AUTOFUSE_REPORT=$AF_TMP/report AUTOFUSE_VERIFY=off patient "$app" --tokens $tokens)
	ok "$b: same tokens, not recorded" same "$plain" "$got"
	ok "$b: and the same groups" compare_plan "$AF_TMP/rec" "$AF_TMP/report"
	got=$(AUTOFUSE_REPORT=$AF_TMP/report AUTOFUSE_SUMMARY=yes AUTOFUSE_VERIFY=always shim "$app" --tokens $tokens 2>"$AF_TMP/err")
	ok "$b: same tokens with verify = always" same "$plain" "$got"
	ok "$b: and the line at exit says that it is why" has "$(cat "$AF_TMP/err")" "none fused, [0-9]+ checked: with verify = always every group runs the program's own kernels$"
	ok "$b: and every group checked, none fused" same 0 "$(field "$AF_TMP/report" launches/fused)"
	got=$(AUTOFUSE_REPORT=$AF_TMP/report AUTOFUSE_SAMPLE_EVERY=7 shim "$app" --tokens $tokens --stream)
	ok "$b: same tokens on a created stream, sampling" same "$plain" "$got"
	ok "$b: some checked" bigger "$(field "$AF_TMP/report" patterns/add_rmsnorm/checked)" 0
	ok "$b: no check failed" same 0 "$(field "$AF_TMP/report" patterns/add_rmsnorm/rejected/quarantined)"
	got=$(AUTOFUSE_REPORT=$AF_TMP/report CUDA_LAUNCH_BLOCKING=1 shim "$app" --tokens $tokens)
	ok "$b: same tokens under CUDA_LAUNCH_BLOCKING, nothing held" same "$plain 0" "$got $(field "$AF_TMP/report" held/held)"
	got=$(AUTOFUSE_REPORT=$AF_TMP/report AUTOFUSE_PATTERNS=-add_rmsnorm shim "$app" --tokens $tokens)
	ok "$b: switched off, same tokens" same "$plain" "$got"
	ok "$b: switched off, the reason is \"disabled\"" bigger "$(field "$AF_TMP/report" patterns/add_rmsnorm/rejected/disabled)" 0
done
# More rows than are proven, once in a run: that one is checked in the next run, then fused.
app=$APPS/decoder-shared-fp32
export AUTOFUSE_CACHE=$AF_TMP/once
learn 20 "$AF_TMP/report" "$app" --layers 1 --prompt 1 --tokens $tokens
plain=$("$app" --layers 1 --prompt 6 --tokens $tokens)
AUTOFUSE_REPORT=$AF_TMP/report shim "$app" --layers 1 --prompt 6 --tokens $tokens >/dev/null
ok "a longer prompt is not fused at first" bigger "$(field "$AF_TMP/report" patterns/silu_mul/rejected/no-verdict)" 0
ok "but it is soon, though it comes once a run" learn 6 "$AF_TMP/report" "$app" --layers 1 --prompt 6 --tokens $tokens
ok "with the same tokens" same "$plain" "$(cat "$AF_TMP/learn.out")"

finish
