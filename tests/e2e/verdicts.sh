#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What may not get a verdict, and what becomes of verdicts: wrong candidates, weak inputs, kernels whose
# names lie, crashes, damaged and foreign caches, many processes at once.
. "$(dirname "$0")/lib.sh"
export AUTOFUSE_GENERATED=0 # chains have verdicts of their own
export AUTOFUSE_CONFIG=$AF_TESTS/apps/pairs.ini AUTOFUSE_SUMMARY=no
app=$APPS/pairs
# Long enough that a probe's answer reaches the process that asked for it.
many=4000
[ "$AF_BACKEND" = soft ] || many=60000
plain=$("$app" plain $many)

# settle N CONDITION...: runs the program until the report's first verdict is no longer open.
settle() {
	local i
	for ((i = 0; i < $1; i++)); do
		got=$(AUTOFUSE_REPORT=$AF_TMP/report shim "$app" plain $many)
		state=$(field "$AF_TMP/report" verdicts/0/state)
		[ "$state" = rejected ] && return
		[ "$(field "$AF_TMP/report" launches/fused)" = 0 ] || return
		sleep 1
	done
}

# The right candidate, as the probe finds it.
settle 30
right=$(field "$AF_TMP/report" verdicts/0/candidate)
ok "the probe finds a candidate ($right)" [ -n "$right" ]

# Only a wrong order of additions is on offer: the probe must refuse it, whatever its luck.
wrong=${right/desc/asc}
ok "there is a wrong order to offer ($wrong)" [ "$wrong" != "$right" ]
export AUTOFUSE_CACHE=$AF_TMP/wrong
export AUTOFUSE_CANDIDATES=$wrong
settle 30
ok "a wrong order alone: same memory" same "$plain" "$got"
ok "a wrong order alone: nothing fused" same 0 "$(field "$AF_TMP/report" launches/fused)"
ok "a wrong order alone: not-exact" same not-exact "$(field "$AF_TMP/report" verdicts/0/reason)"
unset AUTOFUSE_CANDIDATES

# Inputs too weak to tell the candidates apart give no verdict.
export AUTOFUSE_CACHE=$AF_TMP/weak
AUTOFUSE_PROBE_INPUTS=zeros settle 30
ok "weak inputs: nothing fused" same 0 "$(field "$AF_TMP/report" launches/fused)"
ok "weak inputs: no-verdict" same no-verdict "$(field "$AF_TMP/report" verdicts/0/reason)"
ok "weak inputs: not separated" has "$(field "$AF_TMP/report" verdicts/0/detail)" "separated"

# A process that dies during the first use leaves a marker; the next one does not use the kernel.
export AUTOFUSE_CACHE=$AF_TMP/crash
learn 30 "$AF_TMP/report" "$app" plain $many
shim "$app" die 5 >/dev/null 2>&1
ok "the marker is on disk" [ -n "$(ls "$AUTOFUSE_CACHE" | grep ^mark-)" ]
got=$(AUTOFUSE_REPORT=$AF_TMP/report shim "$app" plain $many 2>"$AF_TMP/err")
ok "after a crash: same memory" same "$plain" "$got"
ok "after a crash: crashed, not fused" same "0 crashed" "$(field "$AF_TMP/report" launches/fused) $(field "$AF_TMP/report" verdicts/0/reason)"
ok "after a crash: one warning" same 1 "$(grep -c '^autofuse: ' "$AF_TMP/err")"
got=$(AUTOFUSE_REPORT=$AF_TMP/report shim "$app" plain $many 2>"$AF_TMP/err")
ok "and it stays so" same crashed "$(field "$AF_TMP/report" verdicts/0/reason)"

# A cache that is damaged, of another owner, writable by others, or a link.
export AUTOFUSE_CACHE=$AF_TMP/cache
file=$(ls "$AUTOFUSE_CACHE"/verdicts-*)
cp "$file" "$AF_TMP/good"
damaged() { # WHAT FUSED-OR-NOT
	got=$(AUTOFUSE_PROBE=no AUTOFUSE_REPORT=$AF_TMP/report shim "$app" plain 400 2>"$AF_TMP/err")
	ok "$1: same memory" same "$("$app" plain 400)" "$got"
	if [ "$2" = fused ]; then
		ok "$1: still fused" bigger "$(field "$AF_TMP/report" launches/fused)" 0
	else
		ok "$1: nothing fused" same 0 "$(field "$AF_TMP/report" launches/fused)"
	fi
	ok "$1: $3 warning(s)" same "$3" "$(grep -c '^autofuse: ' "$AF_TMP/err")"
}
damaged "a good cache" fused 0
sed 's/ verdict / verdicT /' "$AF_TMP/good" >"$file"
damaged "a changed line" not 1
{ head -c 100 /dev/urandom; echo; } >"$file"
damaged "random bytes" not 1
{ cat "$AF_TMP/good"; printf 'af2 0123'; } >"$file"
damaged "a line cut short at the end" fused 0
{ printf 'not a record\n'; cat "$AF_TMP/good"; } >"$file"
damaged "one bad line among good ones" fused 1
cp "$AF_TMP/good" "$file"
chmod 666 "$file"
damaged "a file that others can write" not 1
chmod 600 "$file"
if [ "$(id -u)" = 0 ]; then
	chown 65534 "$file"
	damaged "a file of another owner" not 1
	chown 0 "$file"
fi
mv "$file" "$AF_TMP/elsewhere"
ln -s "$AF_TMP/elsewhere" "$file"
damaged "a symbolic link" not 1
rm "$file"
cp "$AF_TMP/good" "$file"
chmod 600 "$file"
damaged "the good cache again" fused 0
AUTOFUSE_CACHE=/proc/nonexistent/autofuse damaged "a directory that cannot be made" not 1
AUTOFUSE_CACHE=none damaged "no cache" not 0

# Many processes at once, all learning into one cache.
export AUTOFUSE_CACHE=$AF_TMP/many
for i in 1 2 3 4 5 6; do
	shim "$app" plain $many >"$AF_TMP/many.$i" 2>"$AF_TMP/many.err.$i" &
done
wait
ok "six processes at once: same memory" same "1 $plain" "$(sort -u "$AF_TMP"/many.[1-6] | wc -l) $(cat "$AF_TMP/many.1")"
ok "six processes at once: fuses after it" learn 30 "$AF_TMP/report" "$app" plain $many
ok "six processes at once: every line is whole" python3 - "$AUTOFUSE_CACHE" <<'PY'
import glob, re, sys
for name in glob.glob(sys.argv[1] + "/verdicts-*"):
    text = open(name).read()
    assert text.endswith("\n"), name
    for line in text.splitlines():
        assert re.fullmatch(r"af2 [0-9a-f]{32} [0-9a-f:,]+ \S+ \S+ \d+ \d+ \d+ \d+ \S+ .* #[0-9a-f]{16}", line), line
PY

# What the probe finds slower than the program's own kernels is left alone. (On the software GPU, where
# ours is; it takes times there only when it is told to.)
if [ "$AF_BACKEND" = soft ]; then
	export AUTOFUSE_CACHE=$AF_TMP/slower
	for _ in {1..20}; do
		got=$(SOFTGPU_TIMES_COUNT=1 AUTOFUSE_REPORT=$AF_TMP/report shim "$app" plain $many)
		[ "$(field "$AF_TMP/report" patterns/add_rmsnorm/rejected/not-profitable)" = 0 ] || break
		sleep 1
	done
	ok "slower: same memory" same "$plain" "$got"
	ok "slower: not-profitable" bigger "$(field "$AF_TMP/report" patterns/add_rmsnorm/rejected/not-profitable)" 0
	got=$(AUTOFUSE_REPORT=$AF_TMP/report shim "$app" plain $many)
	ok "slower: and in the next process" same $many "$(field "$AF_TMP/report" patterns/add_rmsnorm/rejected/not-profitable)"
	ok "slower: unless the profile is not to be used" env AUTOFUSE_PROFILE=no AUTOFUSE_CACHE="$AUTOFUSE_CACHE" bash -c '. "$0"; learn 10 "$1" "$2" plain '$many "$AF_TESTS/e2e/lib.sh" "$AF_TMP/report" "$app"
fi
finish
