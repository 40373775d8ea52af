# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# For scripts about links, the program of chains on streams: how it is run, and what reports say of its chains.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
export AUTOFUSE_CONFIG=$AF_TESTS/apps/links.ini AUTOFUSE_SUMMARY=no
[ "$AF_BACKEND" != soft ] || export AUTOFUSE_NVRTC=$AF_BUILD/softgpu
app=$APPS/links
report=$AF_TMP/report
cold=(--repeat 150 --pause 20000 --wait --n 20003) warm=(--repeat 300 --pause 1000 --wait --n 20003)

run() { # ARGS...: sets plain, got, log
	plain=$("$app" "$@" --pause 0 2>&1)
	got=$(AUTOFUSE_REPORT=$report AUTOFUSE_LOG=debug shim "$app" "$@" 2>"$AF_TMP/log")
	log=$(cat "$AF_TMP/log")
}
chains() { field "$report" "patterns/chain/$1"; }
compiled() { grep -c 'of image compiled' <<<"$log"; }
# Longer and longer, until the compiler is through before the program is.
run_until_fused() { # ARGS...
	local repeat
	for repeat in 150 300 600 2400; do
		run "$@" "${cold[@]}" --repeat $repeat
		[ "$(chains fused)" -le 10 ] || return
		rm -rf "$AUTOFUSE_CACHE"
	done
}
