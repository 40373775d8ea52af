#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The vendor's tools attached to a program under the shim. Where the machine's runtime refuses a tool on
# an unshimmed program too, that is shown instead.
. "$(dirname "$0")/../e2e/lib.sh"
export AUTOFUSE_CONFIG=$AF_TESTS/apps/pairs.ini AUTOFUSE_SUMMARY=no
PATH=$PATH:/usr/local/cuda/bin:/opt/nvidia/nsight-compute/2025.3.1
app=$APPS/pairs
plain=$("$app" plain 400)
learn 10 "$AF_TMP/report" "$app" plain 20000
with_tool() { # NAME WANTED-LINE COMMAND...
	local name=$1 wanted=$2
	shift 2
	if ! command -v "$1" >/dev/null; then
		skip "$name" "no $1 here"
		return
	fi
	"$@" "$app" plain 400 >"$AF_TMP/unshimmed" 2>&1
	if ! grep -qE "$wanted" "$AF_TMP/unshimmed"; then
		skip "$name" "refuses an unshimmed program: $(grep -m1 -iE 'error|fail|not supported' "$AF_TMP/unshimmed" | tr -d '#')"
		return
	fi
	LD_PRELOAD=$LIB "$@" "$app" plain 400 >"$AF_TMP/shimmed" 2>&1
	ok "$name: attaches" has "$(cat "$AF_TMP/shimmed")" "$wanted"
	ok "$name: same output" grep -q "$plain" "$AF_TMP/shimmed"
}
with_tool memcheck "ERROR SUMMARY: 0 errors" compute-sanitizer --tool memcheck
with_tool racecheck "RACECHECK SUMMARY: 0 hazards" compute-sanitizer --tool racecheck
with_tool synccheck "ERROR SUMMARY: 0 errors" compute-sanitizer --tool synccheck
with_tool ncu "gpu__time_duration" ncu --clock-control none -c 6 --metrics gpu__time_duration.sum
finish
