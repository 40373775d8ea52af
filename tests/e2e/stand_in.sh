#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Kernels generated of candidates stand in for those by hand: same memory, fallbacks, and the choice is kept.
. "$(dirname "$0")/lib.sh"
export AUTOFUSE_CONFIG=$AF_TESTS/apps/pairs.ini AUTOFUSE_SUMMARY=no
app=$APPS/pairs report=$AF_TMP/report
if [ "$AF_BACKEND" = soft ]; then
	nvrtc=$AF_BUILD/softgpu
	export AUTOFUSE_NVRTC=$nvrtc
else
	nvrtc=${AUTOFUSE_NVRTC:-}
fi

generated() { # REPORT: substitutions by generated kernels
	python3 -c 'import json, sys; print(sum(v["generated"] for v in json.load(open(sys.argv[1]))["verdicts"]))' "$1"
}
candidates() { # REPORT
	python3 -c 'import json, sys; print(*[v["candidate"] for v in json.load(open(sys.argv[1]))["verdicts"]])' "$1"
}
run() { # ARGS...: sets plain, got
	plain=$("$app" "$@" 2>&1)
	got=$(AUTOFUSE_REPORT=$report AUTOFUSE_VERIFY=off shim "$app" "$@" 2>"$AF_TMP/err")
}

# What a GPU of software takes says nothing: it is told.
export AUTOFUSE_STAND_IN=generated
modes="plain norm_inplace"
for mode in $modes; do
	ok "$mode: learns to fuse" learn 20 "$report" "$app" $mode 4000
done
for mode in $modes; do
	run $mode 2000
	ok "$mode: same memory" same "$plain" "$got"
	ok "$mode: a generated kernel stands in" bigger "$(generated "$report")" 0
	ok "$mode: the report says so" has "$(candidates "$report")" ':generated@'
done
got=$(AUTOFUSE_REPORT=$report AUTOFUSE_SAMPLE_EVERY=20 shim "$app" plain 6000)
ok "samples are checked" bigger "$(field "$report" patterns/add_rmsnorm/checked)" 1
ok "and find nothing wrong" same 0 "$(field "$report" patterns/add_rmsnorm/rejected/quarantined)"
ok "other rows than those it was found at" same "$("$app" plain 2000 1 4096)" "$(shim "$app" plain 2000 1 4096)"

# The same verdicts, and no kernel to be had: as ever.
none_but_by_hand() { # NAME
	run plain 2000
	ok "$1: same memory" same "$plain" "$got"
	ok "$1: fuses" bigger "$(field "$report" launches/fused)" 0
	ok "$1: by hand" same 0 "$(generated "$report")"
}
AUTOFUSE_STAND_IN=written none_but_by_hand "stand_in = written"
AUTOFUSE_GENERATED=0 none_but_by_hand "generated = 0"
export AUTOFUSE_NVRTC=$AF_TMP/nowhere
for f in "$AUTOFUSE_CACHE"/image-*; do
	printf 'x' | dd of="$f" bs=1 seek=300 conv=notrunc 2>/dev/null
done
none_but_by_hand "broken images and no compiler"
rm -f "$AUTOFUSE_CACHE"/image-*
none_but_by_hand "no images and no compiler"
export AUTOFUSE_CACHE=$AF_TMP/no-compiler
ok "no compiler from the start: learns to fuse" learn 20 "$report" "$app" plain 4000
none_but_by_hand "no compiler from the start"
ok "no compiler from the start: nothing is said of it" same "" "$(cat "$AF_TMP/err")"
ok "no compiler from the start: the verdict is the usual one" has "$(candidates "$report")" '^[^:]+$'

# Silu, and a program with both.
export AUTOFUSE_NVRTC=$nvrtc AUTOFUSE_CACHE=$AF_TMP/decoder-cache AUTOFUSE_CONFIG=$AF_TESTS/apps/decoder.ini
for b in shared-fp32 shared-bf16; do
	plain=$("$APPS/decoder-$b" --tokens 24)
	ok "decoder $b: learns to fuse" learn 20 "$report" "$APPS/decoder-$b" --tokens 24
	got=$(AUTOFUSE_REPORT=$report shim "$APPS/decoder-$b" --tokens 24)
	ok "decoder $b: same tokens" same "$plain" "$got"
	ok "decoder $b: generated kernels stand in" bigger "$(generated "$report")" 0
	for pattern in add_rmsnorm silu_mul; do
		ok "decoder $b: of $pattern" has "$(python3 -c 'import json, sys; print(*[v["pattern"] for v in json.load(open(sys.argv[1]))["verdicts"] if v["generated"]])' "$report")" $pattern
	done
done
if [ "$AF_BACKEND" = soft ]; then
	export SOFTGPU_TIMES_COUNT=1
fi
export AUTOFUSE_STAND_IN=measured AUTOFUSE_CACHE=$AF_TMP/measured-cache
for ((i = 0; i < 2; i++)); do
	got=$(AUTOFUSE_REPORT=$report shim "$APPS/decoder-shared-fp32" --tokens 24)
	ok "measured, run $i: same tokens" same "$("$APPS/decoder-shared-fp32" --tokens 24)" "$got"
	probes_over
done
finish
