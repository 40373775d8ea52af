#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every parser on changed copies of good files, under the sanitizers: the same inputs every time, as many
# of them as ten seconds allow. `make fuzz` goes on for longer.
. "$(dirname "$0")/lib.sh"
if [ "$AF_BACKEND" = gpu ]; then
	skip "fuzzing" "it needs no GPU"
	finish
fi
cd "$AF_TMP" || exit 1
for name in ini plan scan purity cache image; do
	out=$("$AF_BUILD/tests/fuzz/$name" -seed=1 -runs=1000000 -seconds=10 "$AF_BUILD/tests/fuzz/corpus/$name"/* 2>&1)
	status=$?
	[ $status = 0 ] || tail -n 40 <<<"$out" | sed 's/^/# /'
	ok "$name survives: ${out##*$'\n'}" test $status = 0
done
finish
