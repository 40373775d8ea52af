#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Switching fusion off and on in a running process, by a file and by a signal; the report says what each
# phase did.
# Alone: it counts by time.
. "$(dirname "$0")/lib.sh"
export AUTOFUSE_CONFIG=$AF_TESTS/apps/pairs.ini AUTOFUSE_SUMMARY=no
app=$APPS/pairs switch=$AF_TMP/switch
ok "learns to fuse" learn 20 "$AF_TMP/report" "$app" plain 4000
# Long enough for three switches, whatever the machine.
many=4000
while start=$(date +%s%N); plain=$("$app" plain $many); [ $((($(date +%s%N) - start) / 1000000)) -lt 3000 ]; do
	many=$((many * 2))
done

# phases REPORT WANTED: the phases as "on" and "off"; nothing fused while off (what was held at the switch
# may still go out as one), something while on; the phases add up.
phases() {
	python3 - "$1" "$2" <<'PY'
import json, sys
r = json.load(open(sys.argv[1]))
p = r.get("phases", [])
words = " ".join("on" if x["fusion"] else "off" for x in p)
bad = []
if words != sys.argv[2]: bad.append("phases " + words)
for x in p:
    if x["fusion"] and x["fused"] < 2 or not x["fusion"] and x["fused"] > 1: bad.append(str(x))
    if x["launches"] == 0 or x["seconds"] <= 0: bad.append("empty " + str(x))
for total, key in (("program", "launches"), ("sent", "sent"), ("fused", "fused")):
    if sum(x[key] for x in p) != r["launches"][total]: bad.append("sum of " + key)
print("\n".join("# " + b for b in bad), end="\n" if bad else "")
sys.exit(bool(bad))
PY
}
running() { # ENV=VALUE...: the program in the background, its output in $AF_TMP/out
	env "$@" AUTOFUSE_REPORT="$AF_TMP/report" LD_PRELOAD="$LIB" "$app" plain $many >"$AF_TMP/out" 2>"$AF_TMP/err" &
	pid=$!
	sleep 0.8
}

rm -f "$switch"
running AUTOFUSE_CONTROL="$switch"
echo off >"$switch"
sleep 0.8
echo on >"$switch"
sleep 0.8
echo off >"$switch"
wait $pid
ok "by a file: ends well, same memory" same "0 $plain" "$? $(cat "$AF_TMP/out")"
ok "by a file: on, off, on, off" phases "$AF_TMP/report" "on off on off"
ok "by a file: says nothing" same "" "$(cat "$AF_TMP/err")"

echo off >"$switch"
running AUTOFUSE_CONTROL="$switch"
rm "$switch"
wait $pid
ok "off from the start, on without the file: same memory" same "$plain" "$(cat "$AF_TMP/out")"
ok "off from the start, on without the file" phases "$AF_TMP/report" "off on"

running AUTOFUSE_TOGGLE_SIGNAL=10
kill -USR1 $pid
sleep 0.8
kill -USR1 $pid
wait $pid
ok "by a signal: ends well, same memory" same "0 $plain" "$? $(cat "$AF_TMP/out")"
ok "by a signal: on, off, on" phases "$AF_TMP/report" "on off on"

running A=B
kill -USR1 $pid
wait $pid
ok "the signal is not ours unless asked for" same 138 $?
got=$(AUTOFUSE_TOGGLE_SIGNAL=999 shim "$app" plain 100 2>&1 >/dev/null)
ok "no such signal" has "$got" "toggle_signal: there is no signal 999"
for number in 4 5 6 7 8 9 11 19 31; do
	got=$(AUTOFUSE_TOGGLE_SIGNAL=$number shim "$app" plain 100 2>&1 >/dev/null)
	ok "signal $number is the system's" has "$got" "toggle_signal: signal $number stands for a fault, or cannot be received"
done
finish
