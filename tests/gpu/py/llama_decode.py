# SPDX-License-Identifier: Apache-2.0
"""A Llama of transformers with random weights: a decode step captured by torch.cuda.graph and replayed, or eager, or prefill.

usage: llama_decode.py 1b|8b|1b4|small BATCH graph|eager|prefill|compiled [STEPS]
Prints a hash of logits and cache on stdout, the median time of a step on stderr. With AF_SWITCH=FILE (the library's
AUTOFUSE_CONTROL) fusion is off in every other 12 of the steps, or as many as take a quarter of a second. `ratio R`: the
median of the ratios between neighbours; `at 10%, 25%, 50%`: between all steps' times there, since hosts that are slow now
and then are slow in both. With AF_BLOCKS=FILE as well, when these steps were and how long each took ("on|off START END
STEPS MS...", seconds of CLOCK_MONOTONIC), for sampler.py and for whoever looks for a rhythm.
"""
import hashlib
import os
import statistics
import sys
import time

import torch
from transformers import LlamaConfig, LlamaForCausalLM, StaticCache

SHAPES = {"small": (1024, 4, 16, 4, 2816, 8192), "1b4": (2048, 4, 32, 8, 8192, 32000), "1b": (2048, 16, 32, 8, 8192, 128256), "8b": (4096, 32, 32, 8, 14336, 128256)}
shape, batch, mode = sys.argv[1], int(sys.argv[2]), sys.argv[3]
steps = int(sys.argv[4]) if len(sys.argv) > 4 else 50
cuda = torch.cuda.is_available()
device = "cuda" if cuda else "cpu"
PROMPT = 2048 if mode == "prefill" else 16

torch.manual_seed(1)
hidden, layers, heads, kv, ffn, vocab = SHAPES[shape]
config = LlamaConfig(hidden_size=hidden, num_hidden_layers=layers, num_attention_heads=heads, num_key_value_heads=kv,
                     intermediate_size=ffn, vocab_size=vocab, max_position_embeddings=4096)
torch.set_default_dtype(torch.bfloat16)
with torch.device(device):
    model = LlamaForCausalLM(config).eval()
digest = hashlib.sha256()
parts = []  # logits, then keys and values layer by layer


def note(t):
    data = t.detach().contiguous().view(torch.uint8).cpu().numpy().tobytes()
    digest.update(data)
    parts.append(hashlib.sha256(data).hexdigest()[:8])


def switch(on):
    with open(os.environ["AF_SWITCH"], "w") as f:
        f.write("on\n" if on else "off\n")
    time.sleep(0.12)  # it is looked at 20 times a second


def timed(fn, before=lambda: None):
    if "AF_SWITCH" not in os.environ:
        ms = some(steps, fn, before)
        return statistics.median(ms[len(ms) // 5:])
    on, off, ratio, when = [], [], [], []
    each = max(12, int(250 / statistics.median(some(5, fn, before))))
    for block in range(max(4, steps // (2 * each))):
        for ms, state in ((on, True), (off, False)):
            switch(state)
            some(3, fn, before)
            start = time.monotonic()
            ms.extend(some(each, fn, before))
            when.append("%s %.6f %.6f %d %s\n" % ("on" if state else "off", start, time.monotonic(), each,
                                                  " ".join("%.3f" % x for x in ms[-each:])))
        ratio.append(statistics.median(on[-each:]) / statistics.median(off[-each:]))
    # The first ones pay for what is found out about launches.
    first, on, off, ratio = ratio[:2], on[2 * each:], off[2 * each:], ratio[2:]
    if "AF_BLOCKS" in os.environ:
        with open(os.environ["AF_BLOCKS"], "w") as f:
            f.writelines(when[4:])
    parts = [sorted(on)[len(on) * q // 100] / sorted(off)[len(off) * q // 100] for q in (10, 25, 50)]
    print("switched off %.4f ms, on %.4f ms, first blocks of %d steps %s, then %s: ratio %.3f, at 10%%, 25%%, 50%% %.3f %.3f %.3f" % (
        statistics.median(off), statistics.median(on), each, *[" ".join("%.3f" % r for r in some) for some in (first, ratio)],
        statistics.median(ratio), *parts), file=sys.stderr)
    switch(True)
    return statistics.median(on)


def some(n, fn, before):
    ms = []
    for _ in range(n):
        before()
        if cuda:
            torch.cuda.synchronize()
        start = time.perf_counter()
        fn()
        if cuda:
            torch.cuda.synchronize()
        ms.append(1e3 * (time.perf_counter() - start))
    return ms


with torch.no_grad():
    ids = torch.randint(0, vocab, (batch, PROMPT), device=device)
    if mode == "prefill":
        out = [None]

        def forward():
            out[0] = model(ids, use_cache=False, logits_to_keep=1).logits

        ms = timed(forward)
        note(out[0])
    else:
        cache = StaticCache(config=config, max_cache_len=256)
        model(ids, past_key_values=cache)
        one = torch.randint(0, vocab, (batch, 1), device=device)

        def restore():
            for layer in cache.layers:
                layer.cumulative_length.fill_(PROMPT)

        step = model
        if mode == "compiled":
            step = torch.compile(model, mode="max-autotune-no-cudagraphs" if not cuda else "reduce-overhead")
        out = [None]

        def forward():
            out[0] = step(one, past_key_values=cache).logits

        if mode == "graph":
            side = torch.cuda.Stream()
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                for _ in range(3):
                    restore()
                    forward()
            torch.cuda.current_stream().wait_stream(side)
            restore()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                forward()
            run = graph.replay
        else:
            run = forward
            start = time.perf_counter()
            for _ in range(4):
                restore()
                run()
            print("warm-up %.1f s" % (time.perf_counter() - start), file=sys.stderr)
        ms = timed(run, restore)
        note(out[0])
        for layer in cache.layers:
            note(layer.keys)
            note(layer.values)
print(digest.hexdigest())
print(" ".join(parts), file=sys.stderr)
print("%.4f ms" % ms, file=sys.stderr)
if cuda:
    print("%.1f MiB reserved, free %.1f MiB" % (torch.cuda.memory_reserved() / 2**20, torch.cuda.mem_get_info()[0] / 2**20), file=sys.stderr)
