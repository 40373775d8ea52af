# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034
title=likejazz/llama3.cuda type=f32 exe=likejazz/run fuses=add_rmsnorm
model=(llama2c small.bin dim=1024 hidden=2816 layers=12 heads=16 kv=16 vocab=32000 seq=512)
files=(likejazz/tokenizer.bin) links=(small.bin:stories15M.bin)
args=("I have a dream")
times=4 # a run is over in 50 ms
figure='.*Token count: [0-9]+, elapsed: ([0-9.]+)s.*' unit=s better=less
