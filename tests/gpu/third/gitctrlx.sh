# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034
# Built without -arch: sm_75 code and PTX, so the driver compiles the PTX.
title=gitctrlx/llama.cu type=f32 exe=gitctrlx/llama fuses=add_rmsnorm
model=(llama2c small.bin dim=1024 hidden=2816 layers=12 heads=16 kv=16 vocab=32000 seq=512)
files=(gitctrlx/tokenizer.bin) links=(small.bin)
args=(small.bin tokenizer.bin 400 "I have a dream")
figure='.*time: [0-9.]+s, speed: ([0-9]+) tok.*' unit=tok/s better=more
