# SPDX-License-Identifier: Apache-2.0
"""Two ranks, each a small model split in two with an all-reduce, captured by torch.cuda.graph and replayed."""
import os
import socket

import torch
import torch.distributed as dist


def rank(r, n, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.cuda.set_device(r)
    dist.init_process_group("nccl", rank=r, world_size=n, device_id=torch.device("cuda", r))
    torch.manual_seed(r)
    norm = torch.nn.RMSNorm(1024)
    gate, up, down = (torch.nn.Linear(a, b, bias=False) for a, b in [(1024, 512), (1024, 512), (512, 1024)])
    model = torch.nn.ModuleList([norm, gate, up, down]).to("cuda", torch.bfloat16)
    x = torch.zeros(16, 1024, device="cuda", dtype=torch.bfloat16)

    def step():
        h = x
        for _ in range(4):
            y = model[0](h)
            y = model[3](torch.nn.functional.silu(model[1](y)) * model[2](y))
            dist.all_reduce(y)
            h = h + y
        return h

    with torch.no_grad():
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                step()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = step()
        sums = []
        for i in range(400):
            torch.manual_seed(i)
            x.copy_(torch.randn(16, 1024).to(torch.bfloat16))
            graph.replay()
            sums.append(out.view(torch.int16).long().sum().item())
    if r == 0:
        print(sums, flush=True)
    dist.barrier()
    del graph, out  # a communicator does not go while a graph has its kernels
    torch.cuda.synchronize()
    dist.destroy_process_group()


if __name__ == "__main__":
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        free = s.getsockname()[1]
    torch.multiprocessing.spawn(rank, args=(2, free), nprocs=2)
