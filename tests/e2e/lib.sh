# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# For end-to-end scripts: where things are, how a program runs with and without the shim, TAP.
# AF_BACKEND: soft (software GPU) or gpu (the real one). Each script has its own AF_TMP and cache.
set -u
: "${AF_BUILD:?run by tests/run}" "${AF_BACKEND:?}" "${AF_TESTS:?}" "${AF_TMP:?}"
LIB=$AF_BUILD/libautofuse.so
AUTOFUSE_COMMAND=$AF_BUILD/autofuse
APPS=$AF_BUILD/apps
export AUTOFUSE_CACHE=$AF_TMP/cache
# Evidence as fast as it comes; tests of the pace set their own.
export AUTOFUSE_PROBE_SHARE=100 AUTOFUSE_PLAN_SHARE=100
n=0 bad=0

# Where a real libcudart.so.13 is, for programs built with the shared runtime.
real_cudart() {
	local d
	for d in /usr/local/cuda/lib64 /usr/local/cuda/targets/x86_64-linux/lib \
		$(python3 -c 'import site, sys; print(*[p + "/nvidia/cu13/lib" for p in site.getsitepackages()])' 2>/dev/null); do
		[ -e "$d/libcudart.so.13" ] && echo "$d" && return
	done
}
if [ "$AF_BACKEND" = soft ]; then
	export LD_LIBRARY_PATH=$AF_BUILD/softgpu${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
	# The timer never wins on a loaded machine; tests of the timer set their own.
	export AUTOFUSE_HOLD_US=2000000 AUTOFUSE_IDLE_US=2000000
else
	d=$(real_cudart)
	[ -z "$d" ] || export LD_LIBRARY_PATH=$d${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
fi

# ok NAME CONDITION-COMMAND...: one test.
ok() {
	local name=$1
	shift
	n=$((n + 1))
	if "$@"; then
		echo "ok $n - $name"
	else
		echo "not ok $n - $name"
		bad=1
	fi
}
skip() { # NAME WHY
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
}
# left_out NAME WHY: what this machine lacks something for that is no GPU. Shown, and not counted.
left_out() {
	echo "# left out: $1: $2"
}
same() { # TEXT TEXT
	[ "$1" = "$2" ] && return
	printf '# got:      %s\n# expected: %s\n' "$2" "$1" | cut -c1-400
	return 1
}
bigger() { [ "$1" -gt "$2" ] 2>/dev/null || { echo "# $1 is not more than $2"; return 1; }; }
has() { # TEXT PATTERN
	grep -qE -- "$2" <<<"$1" && return
	printf '# no match for /%s/ in: %s\n' "$2" "$1" | head -c 600
	echo
	return 1
}
# shim PROGRAM ARGS...: runs it with the library preloaded.
shim() { LD_PRELOAD="$LIB${LD_PRELOAD:+:$LD_PRELOAD}" "$@"; }
# field REPORT JQ-LIKE-PATH: one value of a JSON report, by keys separated by '/'.
field() {
	python3 - "$1" "$2" <<'PY'
import json, sys
v = json.load(open(sys.argv[1]))
for k in sys.argv[2].split("/"):
    v = v[int(k)] if isinstance(v, list) else v.get(k, 0) if isinstance(v, dict) else 0
print(json.dumps(v) if isinstance(v, (dict, list)) else v)
PY
}
# Waits for the probes that a program left behind: at most about as long as one takes.
probes_over() {
	local i most=20
	[ "$AF_BACKEND" = soft ] || most=7
	sleep 0.1
	for ((i = 1; i < most; i++)); do
		[ -z "$(find /proc -mindepth 2 -maxdepth 2 -name exe -lname "$AUTOFUSE_COMMAND" 2>/dev/null)" ] && return
		sleep 0.1
	done
}
# Runs a program under the shim until it fuses and no verdict is open any more (evidence is gathered
# across runs), at most N times.
learn() { # N REPORT PROGRAM ARGS...
	local times=$1 report=$2 i
	shift 2
	for ((i = 0; i < times; i++)); do
		AUTOFUSE_REPORT=$report AUTOFUSE_SUMMARY=no shim "$@" >"$AF_TMP/learn.out" || return
		[ "$(field "$report" launches/fused)" -gt 0 ] &&
			[ "$(field "$report" patterns/add_rmsnorm/rejected/no-verdict)" = 0 ] &&
			[ "$(field "$report" patterns/silu_mul/rejected/no-verdict)" = 0 ] && return
		probes_over
	done
	return 1
}
# tap NAME COMMAND...: a program that prints TAP itself; its tests become the script's.
tap() { # NAME COMMAND...
	local name=$1 line out status began=$SECONDS
	shift
	out=$("$@" 2>&1)
	status=$?
	echo "# $name took $((SECONDS - began)) s"
	while IFS= read -r line; do
		case $line in
		"ok "*) ok "$name: ${line#ok * - }" true ;;
		"not ok "*) ok "$name: ${line#not ok * - }" false ;;
		1..*) ;;
		*) echo "# $line" ;;
		esac
	done <<<"$out"
	ok "$name: ends well" test $status = 0
}
finish() {
	echo "1..$n"
	exit $bad
}
