#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Models of transformers, eager, captured and in training: the same bytes with the shim as without, in each element type.
# AF_MODELS and AF_WHAT pick (py/models.py); each type has its own processes, side by side.
. "$(dirname "$0")/../e2e/lib.sh"
if ! python3 -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec("transformers") is None)'; then
	skip "models" "no transformers here"
	finish
fi
unset LD_LIBRARY_PATH
export CUBLAS_WORKSPACE_CONFIG=:4096:8 AUTOFUSE_FAMILIES=${AUTOFUSE_FAMILIES:-yes}
types=(bf16 fp16 fp32)
models() { # TYPE
	# shellcheck disable=SC2086
	python3 "$AF_TESTS/gpu/py/models.py" ${AF_MODELS:-all} --dtypes "$1" --what "${AF_WHAT:-prefill,generate,graph,train}"
}
for t in "${types[@]}"; do
	models "$t" >"$AF_TMP/off.$t" 2>/dev/null &
	models "$t" >"$AF_TMP/again.$t" 2>/dev/null &
	(
		for run in 1 2; do
			AUTOFUSE_REPORT=$AF_TMP/report.$t shim models "$t" >"$AF_TMP/on$run.$t" 2>"$AF_TMP/err$run.$t"
		done
	) &
done
wait
for t in "${types[@]}"; do
	sed -n 's/^autofuse:/#  autofuse:/p' "$AF_TMP/err1.$t" "$AF_TMP/err2.$t"
	python3 - "$AF_TMP/report.$t" <<'PY'
import json, sys
r = json.load(open(sys.argv[1]))
print("# streams", {p: (v["fused"], v["rejected"]) for p, v in r["patterns"].items() if v["fused"] or v["rejected"]})
n = {}
for e in r["graphs"]["execs"]:
    for g in e["listed"]:
        k = (g["pattern"], g["fused"] or g["reason"])
        n[k] = n.get(k, 0) + 1
print("# graphs", r["graphs"]["launches"], n)
PY
	same=0 all=0
	while read -r line; do
		all=$((all + 1))
		read -r model type what rest <<<"$line"
		if ! grep -qxF -- "$line" "$AF_TMP/again.$t"; then
			skip "$model $type $what" "two runs without the shim differ"
			continue
		fi
		for run in 1 2; do
			if grep -qxF -- "$line" "$AF_TMP/on$run.$t"; then
				same=$((same + 1))
			else
				ok "$model $type $what: run $run is the same ($rest)" same "$line" "$(grep "^$model $type $what " "$AF_TMP/on$run.$t")"
			fi
		done
	done <"$AF_TMP/off.$t"
	ok "$t: $all results, twice $same of them the same with the shim" bigger "$same" 0
done
finish
