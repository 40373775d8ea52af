# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034
# Everything on a stream of its own; shared CUDA runtime.
title=zjhellofss/KuiperLLama type=f32 exe=kuiper/llama_infer fuses=add_rmsnorm
model=(llama2c small.bin dim=1024 hidden=2816 layers=12 heads=16 kv=16 vocab=32000 seq=512)
links=(small.bin) files=(yohann/tokenizer.model)
args=(small.bin tokenizer.model)
figure='.*steps\/s:([0-9.]+).*' unit=step/s better=more
mask='/steps\/s:/d'
