# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034
# Residual, then LayerNorm with mean and rstd. Its backward kernels add with float atomics, so losses can
# differ from run to run; with a learning rate of 0 the weights stay and the losses do not.
title="karpathy/llm.c train_gpt2_fp32" type=f32 exe=llmc/train_gpt2fp32cu fuses=add_layernorm
model=(gpt2 gpt2 layers=12 tokens=20481)
links=(gpt2/gpt2_124M.bin gpt2/gpt2_tokenizer.bin gpt2/train.bin gpt2/val.bin)
args=(-i train.bin -j val.bin -b 4 -t 256 -v 10 -m 4 -s 1000 -g 16)
steady=(-i train.bin -j val.bin -b 4 -t 256 -v 10 -m 4 -s 1000 -g 16 -l 0)
figure='.*total average iteration time: ([0-9.]+) ms.*' unit=ms better=less
mask='s/\([0-9.]+ ms, [0-9]+ tok.s\)//; /total average iteration/d'
