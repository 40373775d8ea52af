#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Files of ours that are pipes: a reader that is gone, or was never there, neither ends the program nor
# keeps it waiting; with one, all arrives.
. "$(dirname "$0")/lib.sh"
export AUTOFUSE_CONFIG=$AF_TESTS/apps/pairs.ini AUTOFUSE_PROBE=no
app=$APPS/pairs
plain=$(AUTOFUSE=0 "$app" plain 200)
fifo=$AF_TMP/fifo
mkfifo "$fifo"
# run ENV=VALUE...: the program's status and what it says, what we say in $AF_TMP/err; a wait would end it.
run() {
	env "$@" LD_PRELOAD="$LIB" timeout -k 1 20 "$app" plain 200 2>"$AF_TMP/err" 7>&-
	echo "$?"
}
# reader COMMAND...: reads the pipe, from now on until read_over.
reader() {
	"$@" <"$fifo" >"$AF_TMP/read" &
	pid=$!
	exec 7>"$fifo" # waits for it
}
read_over() {
	exec 7>&-
	wait $pid 2>/dev/null
}
slowly() { sleep 0.3; cat; }
well=$plain$'\n'0

unread() { # PROGRAM ARGS...: its stderr is a pipe without a reader
	python3 - "$LIB" "$@" <<'PY'
import os, subprocess, sys
r, w = os.pipe()
os.close(r)
p = subprocess.run(sys.argv[2:], stderr=w, stdout=subprocess.PIPE, text=True, env=dict(os.environ, LD_PRELOAD=sys.argv[1]))
print(p.stdout.strip(), p.returncode, sep="\n")
PY
}
ok "stderr that nobody reads: ends well" same "$well" "$(unread "$app" plain 200)"

ok "a recording that nobody reads: ends well" same "$well" "$(run AUTOFUSE_RECORD="$fifo")"
ok "and says so" has "$(cat "$AF_TMP/err")" "cannot record to $fifo: nobody reads it"
ok "with times: ends well" same "$well" "$(run AUTOFUSE_RECORD="$fifo" AUTOFUSE_TIMES=yes AUTOFUSE_CUPTI=/nonexistent)"
reader head -c 10
ok "a recording whose reader goes: ends well" same "$well" "$(run AUTOFUSE_RECORD="$fifo")"
read_over
ok "and says so" has "$(cat "$AF_TMP/err")" "recording stopped: Broken pipe"
reader sleep 30
ok "a recording whose reader sleeps: ends well" same "$well" "$(run AUTOFUSE_RECORD="$fifo")"
ok "and says so" has "$(cat "$AF_TMP/err")" "recording stopped: its reader does not read"
kill $pid
read_over
reader cat
ok "a recording that somebody reads: ends well" same "$well" "$(run AUTOFUSE_RECORD="$fifo")"
read_over
run AUTOFUSE_RECORD="$AF_TMP/file" >/dev/null
ok "all of it arrives" same "$(grep -c '"k":"l"' "$AF_TMP/file")" "$(grep -c '"k":"l"' "$AF_TMP/read")"

ok "a report that nobody reads: ends well" same "$well" "$(run AUTOFUSE_REPORT="$fifo")"
ok "and says so" has "$(cat "$AF_TMP/err")" "cannot write the report $fifo: No such device or address"
reader head -c 10
ok "a report whose reader goes: ends well" same "$well" "$(run AUTOFUSE_REPORT="$fifo")"
read_over
reader slowly
ok "a report that somebody reads slowly: ends well" same "$well" "$(run AUTOFUSE_REPORT="$fifo")"
read_over
ok "all of it arrives" bigger "$(field "$AF_TMP/read" launches/program)" 100
run AUTOFUSE_REPORT=/dev/full >/dev/null
ok "a report that cannot be written: says why" has "$(cat "$AF_TMP/err")" "cannot write the report /dev/full: No space left"

ok "a configuration that nobody writes: ends well" same "$well" "$(run AUTOFUSE_CONFIG="$fifo")"
ok "and says so" has "$(cat "$AF_TMP/err")" "$fifo is a pipe that nobody writes to"
{ sleep 0.3; echo "[autofuse]"; sleep 0.3; echo "summary = no"; } >"$fifo" &
sleep 0.1
ok "a configuration that somebody writes slowly: ends well" same "$well" "$(
	exec 9<"$fifo" # the writer has opened it
	run AUTOFUSE_CONFIG="$fifo"
)"
ok "and counts" same "" "$(cat "$AF_TMP/err")"
wait

# A file that another process records to is left alone, whichever way that writes.
LD_PRELOAD=$LIB AUTOFUSE_SUMMARY=no AUTOFUSE_RECORD=$AF_TMP/mine "$app" plain 1000000 >/dev/null 2>&1 &
pid=$!
for ((i = 0; i < 100; i++)); do [ -s "$AF_TMP/mine" ] && break; sleep 0.1; done
ok "a second process: ends well" same "$well" "$(run AUTOFUSE_RECORD="$AF_TMP/mine")"
ok "and says so" has "$(cat "$AF_TMP/err")" "cannot record to .*mine: another process records there; use %p"
kill -KILL $pid
wait $pid 2>/dev/null
ok "the first one's recording has its beginning" has "$(head -n 1 "$AF_TMP/mine")" '^\{"k":"version","v":1\}$'
finish
