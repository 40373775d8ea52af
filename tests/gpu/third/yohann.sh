# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034
# Every step is its own kernel: SiLU and the product, and eight kernels for a norm.
title=YohannXu/llama2.cu type=f16 exe=yohann/infer_fp fuses=silu_mul
model=(halves halves.bin layers=2)
links=(halves.bin) files=(yohann/tokenizer.model:weights/llama-7b-chat/tokenizer.model)
args=(halves.bin Once upon a time)
figure='.*inference time for [0-9]+ tokens : ([0-9.]+) s.*' unit=s better=less
mask='/inference time for/d'
