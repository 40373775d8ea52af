# SPDX-License-Identifier: Apache-2.0
"""torch.compile(mode="reduce-overhead"): generated kernels in CUDA graph trees, forward and backward."""
import torch

torch.manual_seed(1)
model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.GELU(), torch.nn.LayerNorm(512), torch.nn.Linear(512, 256)).cuda()
step = torch.compile(model, mode="reduce-overhead")
for i in range(12):
    model.zero_grad(set_to_none=True)  # gradients lie in the graph's memory, which the next run overwrites
    torch.compiler.cudagraph_mark_step_begin()
    x = torch.randn(16, 256, device="cuda", requires_grad=True)
    loss = step(x).square().mean()
    loss.backward()
    print(i, loss.item(), x.grad.double().abs().sum().item())
