#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Generated kernels: random row programs, each byte compared with the same program statement by statement.
# Here the host's compiler stands for NVRTC; NVIDIA's, where it is found, compiles the same texts.
. "$(dirname "$0")/lib.sh"
check=$AF_BUILD/tests/gpu/gen_check
if [ "$AF_BACKEND" = soft ]; then
	export AUTOFUSE_NVRTC=$AF_BUILD/softgpu
	# The compiler takes most of the time, and one processor.
	half=$((${GEN_COUNT:-320} / 2)) first=${GEN_SEED:-1}
	"$check" -s $((first + half)) -n $half -b 24 >"$AF_TMP/second" 2>&1 &
	second=$!
	tap "random programs" "$check" -s "$first" -n $half -b 24
	wait $second
	rc=$?
	sed 's/^/# /' "$AF_TMP/second"
	ok "more random programs" test $rc = 0
	tap "16-bit functions and casts" "$check" -x
else
	tap "random programs" "$check" -s "${GEN_SEED:-1}" -n "${GEN_COUNT:-2000}" -b 24
	tap "16-bit functions and casts" "$check" -x
fi
real=
for d in "${GEN_NVRTC:-}" /usr/local/cuda/lib64 "$AF_BUILD/cuda/lib" "$AF_BUILD/cuda/lib64"; do
	[ -n "$real" ] || { [ -n "$d" ] && [ -e "$d/libnvrtc.so.13" ] && real=$d; }
done
if [ -n "$real" ]; then
	for cc in 80 90 100; do
		out=$(AUTOFUSE_NVRTC=$real "$check" -s 5000 -n 12 -b 12 -a $cc -w "$AF_TMP" 2>&1)
		rc=$?
		echo "$out" | sed 's/^/# /'
		ok "NVIDIA's compiler takes the texts for sm_$cc, without a word" test $rc = 0
	done
else
	left_out "NVIDIA's compiler takes the texts" "no libnvrtc.so.13 in the toolkit (GEN_NVRTC=FOLDER says where one is)"
fi
finish
