# SPDX-License-Identifier: Apache-2.0
"""A Llama of transformers with random weights, greedy tokens, eager. usage: hf_llama.py [TOKENS [LAYERS]]"""
import sys

import torch
from transformers import LlamaConfig, LlamaForCausalLM

tokens = int(sys.argv[1]) if len(sys.argv) > 1 else 8
layers = int(sys.argv[2]) if len(sys.argv) > 2 else 4
torch.manual_seed(1)
config = LlamaConfig(hidden_size=1024, num_hidden_layers=layers, num_attention_heads=16, num_key_value_heads=4,
                     intermediate_size=2816, vocab_size=8192)
model = LlamaForCausalLM(config).to(device="cuda", dtype=torch.bfloat16).eval()
with torch.no_grad():
    out = model.generate(torch.tensor([[1, 2, 3, 4, 5]], device="cuda"), max_new_tokens=tokens, do_sample=False,
                         pad_token_id=0)
print(out[0].tolist())
