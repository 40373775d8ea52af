#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Kernels that are named like an RMSNorm and are something else: never substituted, with the right
# reason, output unchanged. The honest one is.
. "$(dirname "$0")/lib.sh"
export AUTOFUSE_CONFIG=$AF_TESTS/apps/liars.ini AUTOFUSE_SUMMARY=no
app=$APPS/liars

# judged MODE: runs until the report's first verdict is made, at most 20 times.
judged() {
	local i
	for ((i = 0; i < 20; i++)); do
		got=$(AUTOFUSE_REPORT=$AF_TMP/report shim "$app" "$1" 2000) || return
		[ "$(field "$AF_TMP/report" verdicts/0/state)" = rejected ] && return
		sleep 1
	done
}
while read -r mode reason detail; do
	plain=$("$app" "$mode" 2000)
	judged "$mode"
	ok "$mode: same output" same "$plain" "$got"
	ok "$mode: nothing fused" same 0 "$(field "$AF_TMP/report" launches/fused)"
	ok "$mode: $reason" same "$reason" "$(field "$AF_TMP/report" verdicts/0/reason)"
	ok "$mode: says what" has "$(field "$AF_TMP/report" verdicts/0/detail)" "$detail"
done <<'MODES'
sums not-exact candidate
short not-exact output
counts not-pure norm_calls
atomics not-deterministic atomics
MODES

plain=$("$app" honest 5000)
ok "honest: fuses" learn 20 "$AF_TMP/report" "$app" honest 5000
ok "honest: same output" same "$plain" "$(cat "$AF_TMP/learn.out")"
finish
