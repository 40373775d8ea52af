# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034
title=ankan-ban/llama2.cu type=f16 exe=ankan-ban/llama2 fuses=add_rmsnorm
model=(llama2c small.bin dim=1024 hidden=2816 layers=12 heads=16 kv=16 vocab=32000 seq=512)
files=(ankan-ban/tokenizer.bin) links=(small.bin)
args=(small.bin 0 300 "Once")
figure='.*achieved tok\/s: ([0-9]+[.][0-9]+).*' unit=tok/s better=more
mask='/achieved tok/d'
