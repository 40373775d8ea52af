#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The graph samples of github.com/NVIDIA/cuda-samples (built apart, in $AF_THIRD/samples: docs/THIRD_PARTY.md): captured,
# explicit, cloned, updated each iteration, set each iteration, with host, memory and conditional nodes. The same
# output and exit status with the shim.
. "$(dirname "$0")/../e2e/lib.sh"
if [ ! -d "${AF_THIRD:-/nowhere}/samples" ]; then
	skip "graph samples" "AF_THIRD names no folder with samples/, see docs/THIRD_PARTY.md"
	finish
fi
export AUTOFUSE_GRAPHS=always AUTOFUSE_CONFIG=$AF_TESTS/apps/decoder.ini
samples=$(cd "$AF_THIRD/samples" && pwd)
once() { # OUTPUT COMMAND...: without times and addresses, and with the exit status
	local to=$1
	shift
	"$@" >"$to.raw" 2>"$to.err"
	echo "exit status $?" >>"$to.raw"
	sed -E 's/[0-9.]+ ?(\(?(ms|us|s|seconds|GB\/s)\)?)/TIME \1/g; s/0x[0-9a-f]+/ADDRESS/g' "$to.raw" >"$to"
}
each() { # PROGRAM ARGS...
	local name="$*"
	[ -x "$samples/$1" ] || { skip "$name" "not there"; return; }
	set -- "$samples/$1" "${@:2}"
	once "$AF_TMP/one" "$@"
	once "$AF_TMP/got" env AUTOFUSE_REPORT="$AF_TMP/report" LD_PRELOAD="$LIB" "$@"
	# What differs from run to run without us, too (additions by atomics, memory reused or not yet), is no matter.
	local lines=
	for _ in 1 2 3 4; do
		once "$AF_TMP/two" "$@"
		lines+=$(diff --unchanged-line-format= --new-line-format= --old-line-format='%dn ' "$AF_TMP/one" "$AF_TMP/two")
	done
	if [ -n "$lines" ]; then
		echo "# $name: lines $lines differ between runs without the shim"
		# shellcheck disable=SC2086
		sed -i "$(printf '%dd;' $lines)" "$AF_TMP/one" "$AF_TMP/got"
	fi
	ok "$name: same output ($(wc -l <"$AF_TMP/one") lines) and exit status" cmp "$AF_TMP/one" "$AF_TMP/got"
	ok "$name: it instantiated graphs" bigger "$(field "$AF_TMP/report" graphs/instantiated)" 0
	echo "# $name: $(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["graphs"]["left_alone"])' "$AF_TMP/report")"
}
each simpleCudaGraphs
each jacobi --gpumethod=0
each jacobi --gpumethod=1
each graphMemoryNodes
each graphMemoryFootprint
each graphConditionalNodes
each cg
finish
