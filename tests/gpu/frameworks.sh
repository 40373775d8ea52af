#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs with nothing to fuse behave the same under the shim (with signatures configured, so that all
# of it is at work).
. "$(dirname "$0")/../e2e/lib.sh"
export AUTOFUSE_CONFIG=$AF_TESTS/apps/decoder.ini AUTOFUSE_GRAPHS=on CUBLAS_WORKSPACE_CONFIG=:4096:8
unset LD_LIBRARY_PATH
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
	plain=$(python3 "$AF_TESTS/gpu/py/$script.py" 2>"$AF_TMP/err1")
	want=$?
	got=$(AUTOFUSE_REPORT=$AF_TMP/report.%p shim python3 "$AF_TESTS/gpu/py/$script.py" 2>"$AF_TMP/err")
	status=$?
	ok "$script: same exit status" same "$want" "$status"
	ok "$script: same output ($(wc -l <<<"$plain") lines)" same "$plain" "$got"
	ok "$script: it was seen" has "$(grep '^autofuse:' "$AF_TMP/err")" "launches"
	sed -n 's/^autofuse:/#  autofuse:/p' "$AF_TMP/err"
	[ "$status" = "$want" ] || tail -n 5 "$AF_TMP/err" | sed 's/^/# /'
done
finish
