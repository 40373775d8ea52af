# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034
title=rogerallen/llama2.cu type=f32 exe=rogerallen/runcuda fuses=add_rmsnorm
model=(llama2c large.bin dim=2048 hidden=5632 layers=11 heads=32 kv=4 vocab=32000 seq=512)
files=(rogerallen/tokenizer.bin) links=(large.bin)
args=(large.bin -t 0 -s 1 -n 200 -i "Once upon a time")
figure='.*achieved tok\/s: ([0-9]+[.][0-9]+).*' unit=tok/s better=more
