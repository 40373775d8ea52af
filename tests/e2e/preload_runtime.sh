#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Launches that come through the CUDA runtime, linked statically or shared, with the legacy and with
# the per-thread default stream: every one is seen, on the stream it was meant for.
. "$(dirname "$0")/lib.sh"
export AUTOFUSE_SUMMARY=no
builds="shared ptds"
[ "$AF_BACKEND" = gpu ] && builds="static shared ptds" # the static runtime wants the real driver

for build in $builds; do
	app=$APPS/decoder-$build-fp32
	[ $build = ptds ] && stream=0x2 || stream=0x0
	"$app" --tokens 4 >"$AF_TMP/plain"
	AUTOFUSE_RECORD=$AF_TMP/rec.$build SOFTGPU_REPORT=$AF_TMP/soft shim "$app" --tokens 4 >"$AF_TMP/shim"
	ok "$build: same tokens" cmp "$AF_TMP/plain" "$AF_TMP/shim"
	seen=$(grep -cE '^\{"k":"lx?"' "$AF_TMP/rec.$build")
	if [ "$AF_BACKEND" = soft ]; then
		ok "$build: as many launches seen as kernels run" same \
			"$(awk '$1 == "kernel" {n += $3} END {print n}' "$AF_TMP/soft")" "$seen"
	else
		ok "$build: as many launches seen as by the first build" same "${first:=$seen}" "$seen"
	fi
	ok "$build: more than a hundred" bigger "$seen" 100
	ok "$build: all on stream $stream" same "$seen" "$(grep -cE "^\{\"k\":\"lx?\".*\"st\":\"$stream\"" "$AF_TMP/rec.$build")"
	ok "$build: with their names and parameters" same "$seen" \
		"$(grep -cE '^\{"k":"lx?".*"f":"_Z[^"]*kernel.*"p":\[\[0,' "$AF_TMP/rec.$build")"
done

# A stream of the program's own, in the same program.
AUTOFUSE_RECORD=$AF_TMP/rec.own shim "$APPS/decoder-shared-fp32" --tokens 4 --stream >"$AF_TMP/shim"
ok "a created stream: none on a default one" same 0 "$(grep -cE '^\{"k":"lx?".*"st":"0x[012]"' "$AF_TMP/rec.own")"
ok "a created stream: all are seen" same "$seen" "$(grep -cE '^\{"k":"lx?"' "$AF_TMP/rec.own")"
finish
