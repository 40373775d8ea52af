# SPDX-License-Identifier: Apache-2.0
"""A small model captured by torch.cuda.graph and replayed on new inputs; then captured anew, graph by graph."""
import torch

torch.manual_seed(1)


class Block(torch.nn.Module):
    def __init__(self, n):
        super().__init__()
        self.norm = torch.nn.RMSNorm(n)
        self.gate, self.up, self.down = (torch.nn.Linear(a, b, bias=False) for a, b in
                                         [(n, 2 * n), (n, 2 * n), (2 * n, n)])

    def forward(self, x):
        y = self.norm(x)
        return x + self.down(torch.nn.functional.silu(self.gate(y)) * self.up(y))


model = torch.nn.Sequential(*[Block(512) for _ in range(4)]).to(device="cuda", dtype=torch.bfloat16)
x = torch.zeros(8, 512, device="cuda", dtype=torch.bfloat16)
with torch.no_grad():
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            model(x)
    torch.cuda.current_stream().wait_stream(side)
    for capture in range(4):
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g):
            y = model(x)
        for step in range(25):
            x.normal_()
            g.replay()
        print(capture, y.float().sum().item(), y.view(torch.int16).long().sum().item())
