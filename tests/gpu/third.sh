#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs that nobody here wrote, without and with the shim: same output, what was fused, what it gained.
# They are not in this tree: AF_THIRD names the folder where their binaries lie (docs/THIRD_PARTY.md).
# usage: AF_THIRD=DIR [AF_THIRD_ONLY="likejazz eiz"] [AF_THIRD_PAIRS=5] [AF_THIRD_TABLE=FILE] tests/gpu/third.sh
# Models with random weights are made below TMPDIR (9 GB for all of them).
here=$(cd "$(dirname "$0")" && pwd)
export AF_BACKEND=${AF_BACKEND:-gpu} AF_TESTS=${AF_TESTS:-$(dirname "$here")}
AF_BUILD=$(cd "${AF_BUILD:-$AF_TESTS/../build}" && pwd) || exit 2
if [ -z "${AF_TMP:-}" ]; then
	AF_TMP=$(mktemp -d)
	trap 'rm -rf "$AF_TMP"' EXIT
fi
export AF_BUILD AF_TMP
# shellcheck source=/dev/null
. "$AF_TESTS/e2e/lib.sh"
if [ -z "${AF_THIRD:-}" ]; then
	skip "third-party programs" "AF_THIRD names no folder with them, see docs/THIRD_PARTY.md"
	finish
fi
AF_THIRD=$(cd "$AF_THIRD" && pwd) || exit 2
# shellcheck source=/dev/null
. "$here/third/run.sh"
export AUTOFUSE_SUMMARY=no
pairs=${AF_THIRD_PAIRS:-5}
names=${AF_THIRD_ONLY:-likejazz rogerallen gitctrlx qwen3 kuiper ankan_ban ankan_ban_wide yohann eiz llmc_fp32 llmc_bf16 decoder}

present=
for name in $names; do
	program "$name"
	if [ ! -x "$AF_THIRD/$exe" ]; then
		[ "$name" = decoder ] || skip "$title" "$exe is not in AF_THIRD"
	elif missing=$(ldd "$AF_THIRD/$exe" 2>/dev/null | awk '/not found/ {print $1}' | sort -u | xargs) && [ -n "$missing" ]; then
		skip "$title" "no $missing here"
	else
		present+=" $name"
	fi
done

# Models first (the large ones side by side), then every program learns, several at a time: only what is
# timed later needs the machine for itself.
# shellcheck disable=SC2086
make_models $present
for name in $present; do
	while [ "$(jobs -rp | wc -l)" -ge "${AF_THIRD_JOBS:-6}" ]; do wait -n; done
	(program "$name" && prepare) &
done
wait

for name in $present; do
	program "$name"
	timed "$pairs"
	judge
done
table | tee ${AF_THIRD_TABLE:+"$AF_THIRD_TABLE"} | sed 's/^/# /'
finish
