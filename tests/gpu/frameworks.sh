#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs with nothing to fuse behave the same under the shim (with signatures configured, so that all
# of it is at work).
. "$(dirname "$0")/../e2e/lib.sh"
export AUTOFUSE_CONFIG=$AF_TESTS/apps/decoder.ini AUTOFUSE_GRAPHS=on CUBLAS_WORKSPACE_CONFIG=:4096:8
unset LD_LIBRARY_PATH
program() { python3 "$AF_TESTS/gpu/py/$script.py"; }
# Lines that are the same in all files, with their numbers.
steady() { awk '!(FNR in text) { text[FNR] = $0 } text[FNR] == $0 { n[FNR]++ } END { for (i in n) if (n[i] == ARGC - 1) print i ": " text[i] }' "$@" | sort -n; }
# Some programs differ from themselves. The output under the shim is right if a run without it gave it, too. Nobody can
# say where no two of those are alike, but for lines that all of them have; else it is wrong.
judge() { # NAME
	local i outputs runs=5 got=$AF_TMP/got plain=$AF_TMP/plain
	for ((i = 1; i <= runs; i++)); do
		[ $i = 1 ] || program >"$plain.$i" 2>/dev/null
		cmp -s "$plain.$i" "$got" && break
	done
	outputs=$(sha256sum "$plain".* | cut -d' ' -f1 | sort -u | wc -l)
	[ "$outputs" = 1 ] || echo "# $script differs from itself: $outputs outputs without the shim"
	if [ $i -le $runs ]; then
		ok "$1" true
	elif [ "$outputs" = $runs ] && [ "$(steady "$plain".*)" = "$(steady "$plain".* "$got")" ]; then
		skip "$1" "no two runs are alike, with the shim or without"
	else
		ok "$1" same "$(cat "$plain.1")" "$(cat "$got")"
	fi
}
declare -A needs=([torch_train]=torch [torch_profile]=torch [torch_graph]=torch [torch_compiled]=torch [cupy_work]=cupy [jax_work]=jax [triton_work]=triton [cublas_loop]=torch [nccl_graph]=torch)
for script in torch_train torch_profile torch_graph torch_compiled cupy_work jax_work triton_work cublas_loop nccl_graph; do
	if ! python3 -c "import importlib.util, sys; sys.exit(importlib.util.find_spec('${needs[$script]}') is None)"; then
		skip "$script" "no ${needs[$script]} here"
		continue
	fi
	if [ "$script" = nccl_graph ] && [ "$(python3 -c 'import torch; print(torch.cuda.device_count())')" -lt 2 ]; then
		skip "$script" "it needs two GPUs"
		continue
	fi
	rm -f "$AF_TMP"/plain.*
	program >"$AF_TMP/plain.1" 2>"$AF_TMP/err1"
	want=$?
	AUTOFUSE_REPORT=$AF_TMP/report.%p shim python3 "$AF_TESTS/gpu/py/$script.py" >"$AF_TMP/got" 2>"$AF_TMP/err"
	status=$?
	ok "$script: runs without the shim" same 0 "$want"
	ok "$script: same exit status" same "$want" "$status"
	judge "$script: same output ($(wc -l <"$AF_TMP/plain.1") lines)"
	ok "$script: it was seen" has "$(grep '^autofuse:' "$AF_TMP/err")" "launches"
	sed -n 's/^autofuse:/#  autofuse:/p' "$AF_TMP/err"
	[ "$status" = "$want" ] || tail -n 5 "$AF_TMP/err" | sed 's/^/# /'
done
finish
