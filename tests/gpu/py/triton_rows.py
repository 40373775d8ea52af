# SPDX-License-Identifier: Apache-2.0
"""What a plain Triton kernel does with add -> RMSNorm and silu -> mul: a program for each row (or
for each block of elements), the whole row in registers. Times from replays of a graph of launches,
and with the launch for single rows. usage: triton_rows.py [--json]"""
import json
import statistics
import sys

import torch
import triton
import triton.language as tl


@triton.jit
def add_rmsnorm(a, b, w, s, o, n, eps, B: tl.constexpr):
    r = tl.program_id(0).to(tl.int64) * n
    i = tl.arange(0, B)
    m = i < n
    x = tl.load(a + r + i, mask=m, other=0.0) + tl.load(b + r + i, mask=m, other=0.0)
    tl.store(s + r + i, x, mask=m)
    x = x.to(tl.float32)
    y = x * tl.rsqrt(tl.sum(x * x, 0) / n + eps) * tl.load(w + i, mask=m, other=0.0).to(tl.float32)
    tl.store(o + r + i, y.to(o.dtype.element_ty), mask=m)


@triton.jit
def silu_mul(g, u, s, o, n, STORE: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
    m = i < n
    x = tl.load(g + i, mask=m, other=0.0).to(tl.float32)
    y = (x * tl.sigmoid(x)).to(o.dtype.element_ty)
    if STORE:
        tl.store(s + i, y, mask=m)
    tl.store(o + i, (y.to(tl.float32) * tl.load(u + i, mask=m, other=0.0).to(tl.float32)).to(o.dtype.element_ty), mask=m)


def timed(call, n):
    """Median microseconds of a launch inside a graph of n, and of one launched by itself."""
    for _ in range(3):
        call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(n):
            call()
    t0, t1 = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    out = []
    for run in [graph.replay, lambda: [call() for _ in range(n)]]:
        us = []
        for _ in range(9):
            t0.record()
            run()
            t1.record()
            t1.synchronize()
            us.append(1000 * t0.elapsed_time(t1) / n)
        out.append(statistics.median(us))
    return out


SHAPES = [(4096, 4096), (4096, 8192), (4096, 16384), (16384, 8192), (1, 4096), (1, 8192), (32, 4096)]
rows = []
for dtype in [torch.bfloat16, torch.float32]:
    for r, c in SHAPES if dtype == torch.bfloat16 else SHAPES[:2]:
        n = 10 if r > 64 else 100
        a, b = torch.randn(2, r, c, device="cuda", dtype=dtype)
        w = torch.randn(c, device="cuda", dtype=dtype)
        s, o = torch.empty_like(a), torch.empty_like(a)
        size = a.numel() * a.element_size()
        best = {}
        for warps in (4, 8, 16, 32):
            calls = {"add_rmsnorm": (4, lambda: add_rmsnorm[(r,)](a, b, w, s, o, c, 1e-5, B=c, num_warps=warps))}
            for name, store in [("silu_mul", True), ("silu_mul dead", False)]:
                calls[name] = (4 if store else 3, lambda store=store: silu_mul[(triton.cdiv(r * c, 256 * warps),)](
                    a, b, s, o, r * c, STORE=store, B=256 * warps, num_warps=warps))
            for name, (factor, call) in calls.items():
                graph, alone = timed(call, n)
                if name not in best or graph < best[name][0]:
                    best[name] = (graph, alone, warps, factor)
        for name, (graph, alone, warps, factor) in best.items():
            rows.append({"op": name, "dtype": str(dtype).split(".")[1], "rows": r, "cols": c, "us": graph, "alone": alone,
                         "gbs": 1e-3 * factor * size / graph, "warps": warps})
if "--json" in sys.argv:
    print(json.dumps(rows))
else:
    for x in rows:
        print("triton %-13s %-8s %5d x %-5d %9.2f us %8.1f GB/s  (launched one by one %.2f us, %d warps)" % (
            x["op"], x["dtype"], x["rows"], x["cols"], x["us"], x["gbs"], x["alone"], x["warps"]))
