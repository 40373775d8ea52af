# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034
# Its residual and LayerNorm are one kernel already.
title="karpathy/llm.c train_gpt2" type=bf16 exe=llmc/train_gpt2cu fuses=none
model=(gpt2 gpt2 layers=12 tokens=20481)
links=(gpt2/gpt2_124M_bf16.bin gpt2/gpt2_tokenizer.bin gpt2/train.bin gpt2/val.bin)
args=(-i train.bin -j val.bin -e gpt2_124M_bf16.bin -b 4 -t 256 -x 20 -v 10 -m 4 -s 1000 -g 16)
figure='.*total average iteration time: ([0-9.]+) ms.*' unit=ms better=less
mask='s/[|] [0-9.]+ ms [|].*//; /total average iteration/d; /device memory usage/d; /estimated maximum batch/d'
