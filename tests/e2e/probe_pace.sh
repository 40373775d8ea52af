#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A probe keeps to its share of the device's time while the program runs, and hurries once it is gone. What comes out is
# the same; pauses are not counted where a probe takes too long, and who is stuck is ended. The figures are the child's
# own: how long the device was busy for it, and how long it took in all.
. "$(dirname "$0")/lib.sh"
export AUTOFUSE_CONFIG=$AF_TESTS/apps/pairs.ini AUTOFUSE_SUMMARY=no AUTOFUSE_LOG=debug AUTOFUSE_GENERATED=0
app=$APPS/pairs share=5 rounds=20000000 many=60000 seconds=60 while=1 program=
# The program runs until it is ended, on the software GPU without taking the probe's processor.
if [ "$AF_BACKEND" = soft ]; then
	export SOFTGPU_SLOW=cuLaunchKernel:1000
	share=15 rounds=80000 many=4000 seconds=8 while=$((seconds + 5 + 1))
fi
cat >"$AF_TMP/autofuse" <<EOF2
#!/bin/sh
unset SOFTGPU_SLOW
[ -z "\$CHILD_SLOW" ] || export SOFTGPU_SLOW=\$CHILD_SLOW
exec "$AUTOFUSE_COMMAND" "\$@"
EOF2
chmod +x "$AF_TMP/autofuse"
export AUTOFUSE_PROBE_COMMAND=$AF_TMP/autofuse

# begin NAME SHARE SECONDS: starts the program with a cache and a log of its own.
begin() {
	log=$AF_TMP/$1.log
	export AUTOFUSE_CACHE=$AF_TMP/$1
	LD_PRELOAD=$LIB AUTOFUSE_PROBE_SHARE=$2 AUTOFUSE_PROBE_SECONDS=$3 "$app" plain $rounds >/dev/null 2>"$log" &
	program=$!
}
end() {
	[ -z "$program" ] || { kill "$program" && wait "$program"; } 2>/dev/null
	program=
}
trap end EXIT
# said PATTERN SECONDS: waits until the log has it.
said() {
	local i
	for ((i = 0; i < $2 * 10; i++)); do
		grep -qE -- "$1" "$log" && return
		sleep 0.1
	done
	echo "# not said in $2 s: $1"
	return 1
}
over="probe: the device was busy for"
# The child's figures, in ms and in waits.
busy() { sed -nE "s/.*$over ([0-9]+)[.]([0-9]{3}) s in.*/\1\2/p" "$log" | sed 's/^0*//' | head -n 1; }
waits() { sed -nE "s/.*$over .* s in ([0-9]+) waits.*/\1/p" "$log" | head -n 1; }
took() { awk '/probe: [0-9.]+ s: / {s += $3} END {printf "%d\n", 1000 * s}' "$log"; }
evidence() { awk '$4 == "probed" {print $10, $11; exit}' "$AUTOFUSE_CACHE"/verdicts-*; }
lacks() { ! grep -E -- "$2" <<<"$1"; }
figures() { echo "# $1: busy for $(busy) of $(took) ms in $(waits) waits"; }

begin free 100 60
ok "all it can get: comes to its end" said "$over" 60
end
figures "all it can get"
free=$(evidence) free_waits=$(waits)
ok "all it can get: evidence" has "$free" "/.* add_rmsnorm"
ok "all it can get: more than the share is used" bigger $((100 * $(busy))) $((share * $(took) * 3 / 2))
begin more 1000 60
ok "more than all: comes to its end" said "$over" 60
end
figures "more than all"
ok "more than all: the same evidence" same "$free" "$(evidence)"
ok "more than all: more than the share is used" bigger $((100 * $(busy))) $((share * $(took) * 3 / 2))

# At its share it takes several times as long.
begin paced $share 60
ok "its share: comes to its end" said "$over" 120
ok "its share: the program hears of it" said "the probe found" 10
end
figures "its share"
ok "its share: the same evidence" same "$free" "$(evidence)"
ok "its share: from as many waits" same "$free_waits" "$(waits)"
ok "its share: no more than that of the device's time" bigger $((share * $(took) * 11 / 10 + 100)) $((100 * $(busy)))

# At a share of nothing, which is one in a hundred, there is much left to do when the program ends. On the software GPU
# that is later than anybody waits for a probe that makes no pauses: the child itself, and the library 5 s more.
begin gone 0 $seconds
ok "the program ends early: the probe was under way" said "candidates left" 60
sleep $while
ok "the program ends early: it was not over" test -z "$(busy)"
ok "the program ends early: it was not ended" lacks "$(cat "$log")" "took too long"
end
ok "the program ends early: the probe hurries" said "$over" 20
figures "the program ends early"
ok "the program ends early: it did not pause any more" bigger $((90 * $(busy))) "$(took)"
ok "the program ends early: the same evidence" same "$free" "$(evidence)"
unset SOFTGPU_SLOW
AUTOFUSE_LOG=warn AUTOFUSE_PROBE=no learn 5 "$AF_TMP/report" "$app" plain $many
ok "the program ends early: the next run fuses" bigger "$(field "$AF_TMP/report" launches/fused)" 0
ok "the program ends early: and leaves the same" same "$("$app" plain $many)" "$(cat "$AF_TMP/learn.out")"

# Another process has the key, and pauses: who waits for it does so for longer than a probe may take; not for a program
# that is gone.
AUTOFUSE_LOG=debug AUTOFUSE_PROBE=no AUTOFUSE_CACHE=none LD_PRELOAD=$LIB "$app" plain 100 >/dev/null 2>"$AF_TMP/keys"
hold() { # SECONDS: in the next program's cache
	mkdir -p "$AF_TMP/$1"
	for key in $(sed -n 's/.*verdict key \([0-9a-f]\{32\}\) .*/\1/p' "$AF_TMP/keys" | sort -u); do
		flock "$AF_TMP/$1/probe-$key" sleep "$2" &
	done
}
hold kept 12
since=$SECONDS
begin kept 100 9
ok "another has the key: found in the end" said "the probe found" 60
ok "another has the key: waited for" bigger $((SECONDS - since)) 10
ok "another has the key: that took no time of the probe's" lacks "$(cat "$log")" "took too long"
end
hold left 20
begin left 100 60
sleep 2
end
ok "another has the key: not waited for when the program is gone" said "nobody took the answer" 5
kill $(jobs -p) 2>/dev/null

# Stuck from the first wait on, and slow in every wait: neither is excused by its pauses.
if [ "$AF_BACKEND" = soft ]; then
	export SOFTGPU_SLOW=cuLaunchKernel:1000
	for slow in 600000000 200000; do
		export CHILD_SLOW=cuStreamSynchronize:$slow
		begin "slow$slow" 40 1
		ok "$slow us in each wait: ended" said "took too long" 40
		end
		ok "$slow us in each wait: not by itself" test -z "$(busy)"
		ok "$slow us in each wait: no evidence" same "" "$(evidence 2>/dev/null)"
	done
else
	skip "a probe that is stuck is ended" "needs the software GPU"
fi
finish
