# SPDX-License-Identifier: Apache-2.0
"""A Triton kernel, launched as Triton launches (linked libcuda)."""
import hashlib

import torch
import triton
import triton.language as tl


@triton.jit
def fma(x, y, z, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    tl.store(z + i, tl.load(x + i, mask=m) * 2 + tl.load(y + i, mask=m), mask=m)


torch.manual_seed(0)
x, y = torch.randn(2, 100000, device="cuda")
z = torch.empty_like(x)
for _ in range(50):
    fma[(triton.cdiv(x.numel(), 1024),)](x, y, z, x.numel(), B=1024)
    y.copy_(z).clamp_(-8, 8)
print(hashlib.sha256(z.cpu().numpy().tobytes()).hexdigest()[:16])
