# SPDX-License-Identifier: Apache-2.0
"""torch.profiler around ten steps; prints which kinds of events it saw."""
import torch
from torch.profiler import ProfilerActivity, profile

x = torch.randn(512, 512, device="cuda")
host = torch.empty(512, 512, pin_memory=True)
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as prof:
    for _ in range(10):
        y = torch.relu(x @ x)
        host.copy_(y, non_blocking=True)
        torch.cuda.synchronize()
events = prof.events()
kernels = sum("gemm" in e.name or "relu" in e.name or "elementwise" in e.name for e in events if e.device_type.name == "CUDA")
copies = sum("Memcpy DtoH" in e.name for e in events if e.device_type.name == "CUDA")
print("kernels", kernels > 0, "copies", copies)
