#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `autofuse trace` on a program: what it lists, device times and why there are none, interrupts, the
# recording it keeps, the profile that later runs use.
. "$(dirname "$0")/lib.sh"
export AUTOFUSE_CONFIG=$AF_TESTS/apps/decoder.ini AUTOFUSE_SUMMARY=no
app=$APPS/decoder-shared-fp32
tokens=200 # enough milliseconds for some live checks to come back
[ "$AF_BACKEND" = soft ] && tokens=32 && export AUTOFUSE_CUPTI=$AF_BUILD/softgpu/cupti
trace() { "$AUTOFUSE_COMMAND" trace "$@"; }
# json FILE PYTHON-EXPRESSION: of d, the listing, and g, its lines with a pattern.
json() {
	python3 - "$1" "$2" <<'PY'
import json, sys
d = json.load(open(sys.argv[1]))
g = [s for s in d["sequences"] if "pattern" in s]
print(eval(sys.argv[2]))
PY
}

plain=$("$app" --tokens $tokens)
ok "learns to fuse" learn 20 "$AF_TMP/report" "$app" --tokens $tokens
# One run more with the sizes that tracing meets: evidence for every alignment is there.
got=$(trace --json -o "$AF_TMP/t.json" -- "$app" --tokens $tokens 2>"$AF_TMP/err")
ok "same tokens while tracing" same "$plain" "$got"
ok "some groups fuse" same True "$(json "$AF_TMP/t.json" 'any(s["state"] != "refused" for s in g)')"
ok "the steps are found" has "$(json "$AF_TMP/t.json" 'd["streams"]')" ' × \('
ok "every launch has a time, as it was or fused" same True \
	"$(json "$AF_TMP/t.json" '"no_times" not in d and sum(s["count"] for s in d["sequences"] if not s.get("device_ns")) <= 4')"
ok "both forms of a group are timed" same True "$(json "$AF_TMP/t.json" 'any(s.get("ns_fused", 0) > 0 and s.get("ns", 0) > 0 for s in g)')"
text=$(trace -- "$app" --tokens $tokens 2>/dev/null)
ok "the text has the program's output first" has "$(head -n 1 <<<"$text")" "^$plain\$"
ok "a line says where, what, how long and what it saves" has "$text" 'steps .* → .* f32 .* (saves|costs) '
ok "and says what was learned" has "$text" '^Profile: measured at [1-9]'

ok "every kernel with a time is tied to a launch or a group" same True \
	"$(json "$AF_TMP/t.json" 'd["timed"] > 0 and d["timed"] >= 0.8 * d["launches"]')"
text=$(trace -- "$APPS/pairs" capture 5 2>/dev/null)
ok "kernels of graphs are told apart" has "$text" '^[1-9][0-9]* kernels more ran in graphs, in '

# Without times, and why.
none() { # NAME PATTERN ENV...: sequences are listed all the same
	local name=$1 pattern=$2
	shift 2
	text=$(env "$@" "$AUTOFUSE_COMMAND" trace -- "$app" --tokens 8 2>/dev/null)
	ok "$name: says why there are no times" has "$text" "^No device times: .*$pattern"
	ok "$name: lists all the same" has "$text" 'accum_kernel → rmsnorm_kernel'
}
none "CUPTI not there" "/nonexistent, which AUTOFUSE_CUPTI names" AUTOFUSE_CUPTI=/nonexistent
if [ "$AF_BACKEND" = soft ]; then
	none "CUPTI of another version" "API version 17, which is neither of CUDA 12 nor of 13" FAKECUPTI_VERSION=17
	none "CUPTI taken" "another tool, a profiler perhaps, holds CUPTI" FAKECUPTI_TAKEN=1
	loaded=$(LD_DEBUG=files AUTOFUSE_RECORD=$AF_TMP/plain.rec shim "$app" --tokens 2 2>&1 >/dev/null | grep -c libcupti)
	ok "a normal run does not touch CUPTI" same 0 "$loaded"
elif [ -e "$AF_BUILD/tests/gpu/libcupti_counts.so" ]; then
	cupti=$(for d in /usr/local/cuda/lib64 /usr/local/cuda/extras/CUPTI/lib64 \
		$(python3 -c 'import site; print(*[p + "/nvidia/cu13/lib" for p in site.getsitepackages()])' 2>/dev/null); do
		[ -e "$d/libcupti.so.13" ] && echo "$d" && break
	done)
	[ -z "$cupti" ] || none "CUPTI taken" "libcupti_counts.so \(CUDA_INJECTION64_PATH\) holds CUPTI" \
		CUDA_INJECTION64_PATH="$AF_BUILD/tests/gpu/libcupti_counts.so" CUPTI_COUNTS=/dev/null \
		LD_LIBRARY_PATH="$cupti${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
fi

# The recording.
trace --record "$AF_TMP/keep.jsonl.gz" --report="$AF_TMP/live" -- "$app" --tokens $tokens >/dev/null 2>&1
ok "a recording is kept, compressed" gzip -t "$AF_TMP/keep.jsonl.gz"
"$AUTOFUSE_COMMAND" plan --named --json "$AF_TMP/keep.jsonl.gz" >"$AF_TMP/plan.json"
ok "plan on it has the groups of the live run" python3 - "$AF_TMP/plan.json" "$AF_TMP/live" <<'PY'
import json, sys
def groups(path):
    # Evidence is the process's own: plan takes it for given.
    return sorted((g["launches"], g["fused"] or g.get("reason") in ("no-verdict", "unpredicted", "not-profitable"))
                  for g in json.load(open(path))["groups"])
plan, live = groups(sys.argv[1]), groups(sys.argv[2])
print("# %d planned, %d live" % (len(plan), len(live)))
sys.exit(plan != live or not plan)
PY
trace --json -o "$AF_TMP/again.json" "$AF_TMP/keep.jsonl.gz"
ok "trace on the recording lists it again, with times" same True "$(json "$AF_TMP/again.json" 'd["device_ns"] > 0 and len(g) > 0')"

# Interrupted: what there is.
# In caches of their own: a process that is killed in the first use of a fused kernel leaves a mark.
cache=$AUTOFUSE_CACHE
export AUTOFUSE_CACHE=$AF_TMP/interrupted
interrupted() { # SIGNAL
	"$AUTOFUSE_COMMAND" trace -- "$app" --tokens 100000 >"$AF_TMP/int" 2>/dev/null & # no function: $! is it
	local pid=$!
	sleep 3
	kill "-$1" $pid
	wait $pid
	echo $?
}
ok "SIGINT ends the program" same 130 "$(interrupted INT)"
ok "and what was recorded is listed" has "$(cat "$AF_TMP/int")" 'launches of .* kernels'
ok "with its steps" has "$(cat "$AF_TMP/int")" 'per step'
ok "and times" has "$(cat "$AF_TMP/int")" 'on the device'
ok "nothing is left behind" same 0 "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'autofuse-trace-*' -newer "$AF_TMP/keep.jsonl.gz" 2>/dev/null | wc -l)"

ok "an interrupt is no crash" same 0 "$(find "$AUTOFUSE_CACHE" -name 'mark-*' | wc -l)"

"$AUTOFUSE_COMMAND" trace -- bash -c 'trap "" INT; exec sleep 60' >/dev/null 2>&1 &
pid=$!
sleep 1
kill -INT $pid
sleep 0.5
ok "a program may ignore it" kill -0 $pid
kill -INT $pid
wait $pid
ok "the second one kills it" same 137 $?

# A killed process's recording can be read as it is.
LD_PRELOAD=$LIB AUTOFUSE_RECORD=$AF_TMP/killed.jsonl "$app" --tokens 100000 >/dev/null 2>&1 &
pid=$!
sleep 2
kill -KILL $pid
wait $pid 2>/dev/null
text=$(trace "$AF_TMP/killed.jsonl" 2>/dev/null)
ok "the recording of a killed process is there" has "$text" '[0-9]{3,} launches of'

# A mapped recording is one process's own: a second one leaves it alone.
LD_PRELOAD=$LIB AUTOFUSE_TIMES=1 AUTOFUSE_RECORD=$AF_TMP/mine.jsonl "$app" --tokens 100000 >/dev/null 2>&1 &
pid=$!
sleep 2
err=$(LD_PRELOAD=$LIB AUTOFUSE_TIMES=1 AUTOFUSE_RECORD=$AF_TMP/mine.jsonl "$app" --tokens 2 2>&1 >/dev/null)
ok "a second process does not record to the same file" has "$err" 'cannot record to .*mine.jsonl: another process records there; use %p'
sleep 0.5
ok "the first one lives on" kill -0 $pid
kill -KILL $pid
wait $pid 2>/dev/null
text=$(trace "$AF_TMP/mine.jsonl" 2>/dev/null)
ok "and its recording is whole" has "$text" '[0-9]{3,} launches of'
export AUTOFUSE_CACHE=$cache
ok "the program's exit status is trace's" same 127 "$(trace -- /nonexistent/app >/dev/null 2>&1; echo $?)"
# Files that cannot be written: found out before the program runs where that can be; the others are written.
status() { trace "$@" >"$AF_TMP/said" 2>"$AF_TMP/err"; echo $?; }
ok "a place that is not there: the program does not run" same "125 no" \
	"$(status --html "$AF_TMP/nowhere/h" -- touch "$AF_TMP/ran") $([ -e "$AF_TMP/ran" ] && echo yes || echo no)"
ok "and says which" has "$(cat "$AF_TMP/err")" "--html $AF_TMP/nowhere/h: No such file"
ok "a full disk: 125, if the program ended well" same 125 "$(status --html /dev/full --perfetto "$AF_TMP/p.json" -- "$app" --tokens 2)"
ok "the other file is written" test -s "$AF_TMP/p.json"
ok "of a recording, too" same 125 "$(status --record /dev/full -- "$app" --tokens 2)"
ok "the program's own status stays" same 3 "$(status --html /dev/full -- sh -c '"$0" --tokens 2; exit 3' "$app")"
cp "$AF_TMP/keep.jsonl.gz" "$AF_TMP/input.gz"
for option in -o --html --perfetto; do
	ok "$option: the recording that is read stays" same "2 same" \
		"$(status $option "$AF_TMP/./input.gz" "$AF_TMP/input.gz") $(cmp "$AF_TMP/keep.jsonl.gz" "$AF_TMP/input.gz" && echo same)"
done
ok "one name for two files" same 2 "$(status --html "$AF_TMP/one" --perfetto "$AF_TMP/./one" "$AF_TMP/input.gz")"
ok "a full disk behind stdout" same 125 "$(trace "$AF_TMP/input.gz" 2>/dev/null >/dev/full; echo $?)"
ok "a program without CUDA is said to be one" has "$(trace -- /bin/true 2>&1)" 'used no CUDA driver'

# What was measured counts.
if [ "$AF_BACKEND" = soft ]; then
	FAKECUPTI_NS='*accum*:1000,*add_kernel*:1000,*rmsnorm_kernel*:1000,*:900000' trace -- "$app" --tokens $tokens >"$AF_TMP/slow" 2>/dev/null
	ok "where fusing costs, the profile says so" has "$(cat "$AF_TMP/slow")" 'costs .*|slower at [1-9]'
	got=$(AUTOFUSE_REPORT=$AF_TMP/report shim "$app" --tokens $tokens)
	ok "same tokens with it" same "$plain" "$got"
	ok "nothing fuses there: not-profitable" bigger "$(field "$AF_TMP/report" patterns/add_rmsnorm/rejected/not-profitable)" 50
	AUTOFUSE_PROFILE=no AUTOFUSE_REPORT=$AF_TMP/report shim "$app" --tokens $tokens >/dev/null
	ok "profile = no: it does" bigger "$(field "$AF_TMP/report" launches/fused)" 50
	FAKECUPTI_NS='*accum*:5000,*add_kernel*:5000,*rmsnorm_kernel*:5000,*:2000' trace -- "$app" --tokens $tokens >/dev/null 2>&1
	AUTOFUSE_REPORT=$AF_TMP/report shim "$app" --tokens $tokens >/dev/null
	ok "measured again, faster: it fuses" bigger "$(field "$AF_TMP/report" launches/fused)" 50
	sed -i 's/ 10000 2000 / 1000 2000 /' "$AUTOFUSE_CACHE/profile" # slower, it says, under a wrong checksum
	ok "the profile was there to damage" grep -q ' 1000 2000 ' "$AUTOFUSE_CACHE/profile"
	AUTOFUSE_REPORT=$AF_TMP/report shim "$app" --tokens $tokens >/dev/null
	ok "a damaged profile says nothing" bigger "$(field "$AF_TMP/report" launches/fused)" 50
fi
finish
