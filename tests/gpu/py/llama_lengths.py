# SPDX-License-Identifier: Apache-2.0
"""A Llama of transformers with random weights over prompts of N different lengths, twice: does evidence grow with them?

usage: llama_lengths.py [N]
Prints a hash of all logits on stdout. With AUTOFUSE_CACHE and AUTOFUSE_REPORT the number of verdicts and kernels tells.
"""
import hashlib
import sys

import torch
from transformers import LlamaConfig, LlamaForCausalLM

count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(1)
torch.set_default_dtype(torch.bfloat16)
config = LlamaConfig(hidden_size=1024, num_hidden_layers=2, num_attention_heads=16, num_key_value_heads=4, intermediate_size=2816,
                     vocab_size=8192, max_position_embeddings=4096)
with torch.device(device):
    model = LlamaForCausalLM(config).eval()
digest = hashlib.sha256()
with torch.no_grad():
    for turn in range(2):
        for n in range(count):
            ids = torch.randint(0, 8192, (1, 64 + 5 * n), device=device)
            logits = model(ids, use_cache=False, logits_to_keep=1).logits
            digest.update(logits.contiguous().view(torch.uint8).cpu().numpy().tobytes())
print(digest.hexdigest())
