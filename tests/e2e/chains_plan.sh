#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What `plan` makes of programs that launch their steps one by one: each chain has the name and the members
# that it should. The programs run as without the library.
. "$(dirname "$0")/lib.sh"
export AUTOFUSE_SUMMARY=no

# groups RECORDING: "pattern(launches of a group) groups", sorted; of its graphs, if there are any.
groups() {
	"$AUTOFUSE_COMMAND" plan --json "$1" | python3 -c '
import collections, json, sys
plan = json.load(sys.stdin)
if plan.get("graphs"):
    plan = plan["graphs"]
all = collections.Counter("%s(%d)%s" % (g["pattern"], len(g["launches"]), "" if g["fused"] else " " + g["reason"])
                          for g in plan["groups"])
print(*("%s %d" % i for i in sorted(all.items())), sep=", ")'
}
# planned NAME EXPECTED PROGRAM ARGS...
planned() {
	local name=$1 expected=$2 plain got
	shift 2
	plain=$("$@")
	got=$(AUTOFUSE_RECORD=$AF_TMP/rec shim "$@")
	ok "$name: the same output while recorded" same "$plain" "$got"
	ok "$name: groups" same "$expected" "$(groups "$AF_TMP/rec")"
}

export AUTOFUSE_CONFIG=$AF_TESTS/apps/chain.ini
chain() { # NAME EXPECTED ARGS...
	local name=$1 expected=$2
	shift 2
	planned "chain $name" "$expected" "$APPS/chain" --repeat 8 "$@"
}
chain "" "chain(3) 8" --n 100003
chain "bf16, odd" "chain(3) 8" --n 1 --type bf16 --offset 1
chain "in place" "chain(3) 8" --n 100003 --inplace --stream --offset 3
chain "nothing between iterations" "chain(16) 1, chain(8) 1" --n 4096 --dense
export AUTOFUSE_GRAPHS=on
chain "graph" "chain(3) 4" --n 100003 --graph 4 --clear
unset AUTOFUSE_GRAPHS

# Three passes of two layers: the prompt, two tokens.
export AUTOFUSE_CONFIG=$AF_TESTS/apps/decoder.ini
decoder() { # EXPECTED ARGS...
	local expected=$1
	shift
	planned "decoder-shared-$build $*" "$expected" "$APPS/decoder-shared-$build" --tokens 3 --layers 2 --prompt 3 \
		--dim 96 --heads 4 --ffn 128 --vocab 128 --digest "$@"
}
for build in fp32 bf16; do
	# Norms in 16 bits are computed in 32: two casts more.
	cast=0
	[ $build = bf16 ] && cast=2
	add="add_rmsnorm(2) 12" silu="silu_mul(2) 6"
	decoder "$add, $silu"
	decoder "add_rmsnorm($((7 + cast))) 12, rmsnorm($((6 + cast))) 3, $silu" --norm chain
	decoder "add_layernorm(2) 12, $silu" --norm layer
	decoder "add_layernorm($((10 + cast))) 12, layernorm($((9 + cast))) 3, $silu" --norm layer_chain
	decoder "add_rmsnorm(5) 12, $silu" --cast
	decoder "$add, gelu_mul(2) 6" --act gelu_tanh
	decoder "$add, gelu_mul(2) 6" --act gelu_erf
	decoder "$add, gelu(9) 6" --act gelu_chain
	decoder "$add, bias_gelu(2) 6" --act bias_gelu
	decoder "$add, mask_softmax(3) 6, $silu" --softmax mask
	decoder "$add, mask_softmax(3) 6, $silu" --softmax where
	decoder "$add, rope(10) 6, $silu" --rope split
	decoder "$add, dequant_rmsnorm(2) 3, $silu" --dequant int8
	decoder "$add, dequant_rmsnorm(2) 3, $silu" --dequant fp8
	decoder "$add, lora_add(2) 6, $silu" --lora
	decoder "$add, chain(3) 3, $silu" --softcap
	decoder "add_rmsnorm($((7 + cast))) 12, chain(3) 3, dequant_rmsnorm($((7 + cast))) 3, gelu(9) 6, mask_softmax(3) 6, rope(10) 6" \
		--norm chain --act gelu_chain --softmax mask --rope split --dequant int8 --softcap
done
# Nodes of the one graph for all tokens.
build=fp32
export AUTOFUSE_GRAPHS=on
decoder "add_rmsnorm(7) 4, gelu(9) 2, mask_softmax(3) 2, rmsnorm(6) 1, rope(10) 2" \
	--graph once --norm chain --act gelu_chain --softmax where --rope split
finish
