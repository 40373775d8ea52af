# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034
# A norm in place for every head, and one at the end.
title=gigit0000/qwen3.cu type=f32 exe=qwen3/runcu fuses=add_rmsnorm
model=(gguf gguf/qwen3.gguf layers=4)
links=(gguf/qwen3.gguf gguf/header.txt) files=(qwen3/vocab.txt qwen3/merges.txt)
args=(qwen3.gguf -t 0 -s 1 -r 1)
input=$'\nOnce upon a time\n\n'
figure='.*tok\/s: ([0-9.]+).*' unit=tok/s better=more
