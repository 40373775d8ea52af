# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034
# Q, K and V on three streams with events between them; the residual is added by the matrix product and
# SiLU comes with its product, so there is nothing to fuse.
title="eiz/llama.cu (streams, events)" type=f16 exe=eiz/llama_cu fuses=none
model=(tensors tensors dim=1024 layers=8 heads=16 vocab=32000)
links=(tensors:models/random)
args=(4 random "Once upon a time")
figure='.*tokens: [0-9]+ time: ([0-9.]+).*' unit=s better=less
mask='/^tokens: /d'
