#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `autofuse ab`: what it says of programs that fuse, that have nothing to fuse, that fail, hang and differ.
# Alone: it compares times.
. "$(dirname "$0")/lib.sh"
ab() { "$AUTOFUSE_COMMAND" ab "$@" 2>&1; }
get() { field "$AF_TMP/ab.json" "$1"; }

app=$APPS/decoder-shared-fp32
ab -n 6 --check --json -f "$AF_TESTS/apps/decoder.ini" -- "$app" --tokens 16 >"$AF_TMP/ab.json"
ok "the decoder: ends well" same 0 $?
ok "the decoder: pairs" same 6 "$(get pairs)"
ok "the decoder: warmed up until it fused" bigger "$(get launches/fused)" 0
ok "the decoder: and said so" bigger "$(get warmups)" 0
ok "the decoder: fewer launches" bigger "$(get launches/program)" "$(get launches/sent)"
ok "the decoder: same outputs" same identical "$(get check/outputs)"
ok "the decoder: groups checked on live data" bigger "$(get check/verify/checked)" 0
ok "the decoder: no other bytes" same 0 "$(get check/verify/other_bytes)"
if [ "$AF_BACKEND" = soft ]; then
	ok "the decoder: no device times without CUPTI, and why" has "$(get no_device)" "cupti"
	export AUTOFUSE_CUPTI=$AF_BUILD/softgpu/cupti
	ab -n 2 --json -f "$AF_TESTS/apps/decoder.ini" -- "$app" --tokens 16 >"$AF_TMP/ab.json"
	unset AUTOFUSE_CUPTI
fi
ok "the decoder: device times of both kinds" bigger "$(get device/off/kernels)" "$(get device/on/kernels)"
ok "the decoder: and what they took" python3 -c 'import json, sys; d = json.load(open(sys.argv[1]))["device"]; sys.exit(not 0 < d["on"]["seconds"] < (d["off"]["seconds"] if sys.argv[2] == "gpu" else 1e9))' "$AF_TMP/ab.json" "$AF_BACKEND"
ab -n 6 --check --json --no-device -f "$AF_TESTS/apps/decoder.ini" -- "$app" --tokens 16 >"$AF_TMP/ab.json"
ok "the decoder: the ratio lies in its interval" python3 -c '
import json, sys
r = json.load(open(sys.argv[1]))
off, on = r["off"]["seconds"], r["on"]["seconds"]
q = sorted(a / b for a, b in zip(off, on))
assert len(q) == 6 and abs((q[2] + q[3]) / 2 - r["ratio"]["median"]) < 1e-9
assert r["ratio"]["low"] == q[0] and r["ratio"]["high"] == q[5] and abs(r["ratio"]["confidence"] - 0.96875) < 1e-9
' "$AF_TMP/ab.json"
ok "the decoder: one sentence" has "$(get verdict)" "^(1\.[0-9]+× (faster|slower)|no difference: the interval contains 1|.*), outputs identical$"

# Without a signature there is nothing to fuse. Whether that costs nothing is a question to a real GPU: on the
# software GPU a short run is mostly start-up, and the machine has other work. It may need another try.
tokens=$([ "$AF_BACKEND" = soft ] && echo 4 || echo 2000)
for _ in 1 2 3; do
	ab -n 8 --json -- "$app" --tokens "$tokens" >"$AF_TMP/ab.json"
	python3 -c 'import json, sys; r = json.load(open(sys.argv[1]))["ratio"]; sys.exit(not r["low"] <= 1 <= r["high"])' "$AF_TMP/ab.json" && break
done
ok "nothing to fuse: it says so" has "$(get verdict)" "^nothing to fuse: no signature knows a kernel"
[ "$AF_BACKEND" = soft ] || ok "and the interval contains 1" has "$(get verdict)" "no difference: the interval contains 1"
ok "nothing to fuse: and why" has "$(get verdict)" "^nothing to fuse: no signature knows a kernel of this program"
ok "nothing to fuse: one warm-up is enough" same 1 "$(get warmups)"

out=$(AUTOFUSE_PATTERNS=-all ab -n 1 -f "$AF_TESTS/apps/decoder.ini" -- "$app" --tokens 4)
ok "a pattern that is switched off" has "$out" "nothing to fuse: disabled \(the pattern is switched off"
out=$(ab -n 1 -- sh -c 'exit 3')
ok "no kernels" has "$out" "nothing to fuse: the program left no report"
ok "the program's own status is told" has "$out" "exits with status 3"
out=$(ab -n 1 -- sh -c 'echo last words >&2; exit 3'); rc=$?
ok "a program that always fails: status, and what it said" has "$rc $(tr '\n' ' ' <<<"$out")" "^1 .*the program fails: every run exits with status 3 .*last words"
out=$(ab -n 1 --warmup 0 -- sh -c 'echo last words >&2; exit $AUTOFUSE'); rc=$?
ok "a program that fails with fusion: without --check, too" has "$rc $(tr '\n' ' ' <<<"$out")" "^1 .*EXIT STATUSES DIFFER: exit status 0 became 1 .*last words"

out=$(ab -n 2 -- sh -c 'echo last words >&2; kill -SEGV $$'); rc=$?
ok "a crash ends it" same 1 $rc
ok "a crash: says which signal, and that it is the program's own" has "$out" "no result: the run with fusion was ended by signal 11 \(Segmentation fault\); without fusion it fails too"
ok "a crash: the last words" has "$out" "last words"
out=$(ab -n 2 -- sh -c '[ "$AUTOFUSE" = 0 ] || kill -ABRT $$')
ok "a crash with fusion only" has "$out" "signal 6 .*; without fusion it ends well"
start=$(date +%s)
out=$(ab -n 2 --warmup 0 --timeout 1 -- sh -c 'sleep 30 | sleep 30')
ok "a hang" has "$out" "no result: the run without fusion took longer than the --timeout"
ok "a hang: its children end too" [ $(($(date +%s) - start)) -lt 10 ]

out=$(ab -n 3 --check --warmup 0 -- sh -c 'echo same; echo $AUTOFUSE'); rc=$?
ok "outputs that differ" has "$out" "OUTPUTS DIFFER: stdout, from line 2 on"
ok "outputs that differ: status" same 1 $rc
out=$(ab -n 2 --check --warmup 0 -- sh -c 'exit $AUTOFUSE')
ok "exit statuses that differ" has "$out" "OUTPUTS DIFFER: exit status 0 became 1"
out=$(ab -n 3 --warmup 0 --no-device --figure 'took ([0-9.]+) ms' -- sh -c 'echo warm: took 9 ms; echo took $((AUTOFUSE + 1)) ms >&2')
ok "a figure of the program's own" has "$out" "on +9\.0000 \(median\)"
out=$(ab -n 6 --warmup 0 --no-device --figure '([0-9.]+) tok/s' --more-is-better -- sh -c 'echo $((AUTOFUSE + 1)) tok/s')
ok "a figure of which more is better" has "$out" "on/off +2\.0000 .median."
out=$(ab -n 3 --warmup 0 --figure '([0-9.]+) tok/s' -- sh -c 'echo nothing')
ok "a figure that is not there" has "$out" "no result: the run without fusion printed no number that --figure matches"
ok "a figure without a group" has "$(ab --figure 'tok/s' -- true)" "--figure wants an extended regular expression with a group"
out=$(ab -n 3 --check --warmup 0 -- sh -c 'date +%N')
ok "outputs that always differ" has "$out" "differ from run to run even without fusion"
echo input >"$AF_TMP/input"
out=$(ab -n 2 --check --warmup 0 -- sh -c 'read x; [ "$x" = input ] || kill -9 $$' <"$AF_TMP/input")
ok "every run reads the same file" has "$out" "identical in all runs"

"$AUTOFUSE_COMMAND" ab -n 1000 --warmup 0 --json -- sleep 0.2 >"$AF_TMP/ab.json" 2>&1 &
sleep 2
kill -INT $!
wait $!
rc=$?
ok "interrupted: prints what there is" [ "$(get pairs)" -ge 1 -a "$(get pairs)" -lt 1000 ]
ok "interrupted: says so" same "True 130" "$(get interrupted) $rc"

ok "a number that is none: what was expected" has "$(ab -n abc -- true)" '^autofuse: -n: expected a whole number from 1 to 10000, not "abc"$'
ok "wrong number" has "$(ab -n 0 -- true)" "usage: autofuse ab"
ok "no program" has "$(ab -n 2 -- no-such-program)" "there is no program no-such-program"
ok "nothing is left behind" same "" "$(ls -d "${TMPDIR:-/tmp}"/autofuse-ab-* 2>/dev/null)"
finish
