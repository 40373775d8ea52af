#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What docs/ADD_A_SIGNATURE.md shows is what the command prints.
. "$(dirname "$0")/lib.sh"
doc=$AF_TESTS/../docs/ADD_A_SIGNATURE.md
app=$APPS/decoder-shared-fp32

# The sections of the example, and what the how-to shows behind a command up to its "..." or its end.
sed -n '/^```ini$/,/^```$/p' "$doc" | grep -v '^```' >"$AF_TMP/my.ini"
shown() { # COMMAND
	awk -v want="\$ $1" '$0 == want {on = 1; next} on && (/^```/ || /^\.\.\.$/ || /^\$ /) {exit} on' "$doc"
}
ok "the example has sections" has "$(cat "$AF_TMP/my.ini")" '^\[kernel silu\]$'
AUTOFUSE_SUMMARY=no "$AUTOFUSE_COMMAND" run --record="$AF_TMP/decoder.jsonl" -- "$app" --tokens 4 >/dev/null
for given in "" " -f my.ini"; do
	want=$(shown "build/autofuse plan decoder.jsonl$given")
	got=$(cd "$AF_TMP" && "$AUTOFUSE_COMMAND" plan decoder.jsonl $given)
	ok "plan$given: there is something to compare" bigger "$(wc -l <<<"$want")" 8
	ok "plan$given: as shown" same "$want" "$(head -n "$(wc -l <<<"$want")" <<<"$got")"
done
finish
