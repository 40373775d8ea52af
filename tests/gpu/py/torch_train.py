# SPDX-License-Identifier: Apache-2.0
"""A training step of a small transformer, eager and captured; prints checksums of what it computed."""
import hashlib

import torch

torch.manual_seed(1)
torch.backends.cuda.matmul.allow_tf32 = False
model = torch.nn.TransformerEncoder(
    torch.nn.TransformerEncoderLayer(256, 4, 512, dropout=0.0, batch_first=True), 3, enable_nested_tensor=False
).cuda()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(8, 64, 256, device="cuda")


def digest(t):
    return hashlib.sha256(t.detach().float().cpu().numpy().tobytes()).hexdigest()[:16]


for step in range(5):
    opt.zero_grad()
    loss = (model(x) ** 2).mean()
    loss.backward()
    opt.step()
    print("step", step, digest(loss))
print("weights", digest(torch.cat([p.flatten() for p in model.parameters()])))
model.eval()
with torch.no_grad():
    s = torch.cuda.Stream()
    s.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(s):
        for _ in range(3):
            model(x)
    torch.cuda.current_stream().wait_stream(s)
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        y = model(x)
    for i in range(3):
        x.mul_(0.5)
        g.replay()
        print("graph", i, digest(y))
