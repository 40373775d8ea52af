# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034
# Beyond 1,024 columns its norm squares the sum of a thread's elements: no RMSNorm, so nothing may fuse.
title="ankan-ban/llama2.cu, 2,048 wide" type=f16 exe=ankan-ban/llama2 fuses=none why=not-exact
model=(llama2c wide.bin dim=2048 hidden=5632 layers=2 heads=32 kv=32 vocab=32000 seq=512)
files=(ankan-ban/tokenizer.bin) links=(wide.bin)
args=(wide.bin 0 300 "Once")
figure='.*achieved tok\/s: ([0-9]+[.][0-9]+).*' unit=tok/s better=more
mask='/achieved tok/d'
