#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Model files with random weights, in the formats of the programs of tests/gpu/third.sh.

usage: models.py FORMAT OUT [key=value ...]
  llama2c OUT dim= hidden= layers= heads= kv= vocab= seq=   fp32, one file, classifier of its own
  halves OUT layers=                                        fp16, one file, 7B shape, transposed matrices
  tensors OUT dim= layers= heads= vocab=                    fp16, a folder with one file a tensor
  gpt2 OUT layers= tokens=                                  a folder: fp32 and bf16 weights, tokens, tokenizer
  gguf OUT layers=                                          fp32, 0.6B shape, tensors in a fixed order, and its header.txt

Weights are slices of one block of normal numbers, so the same arguments always give the same bytes.
They are scaled so that activations stay of order one through the layers.
"""
import os
import struct
import sys

import numpy as np

RNG = np.random.default_rng(1234)
BASE = RNG.standard_normal(4194301, dtype=np.float32)  # prime: rows of matrices do not repeat


class Out:
    """Writes tensors of one element type, each from another offset of the block."""

    def __init__(self, path, kind):
        self.f = open(path, "wb", buffering=0)
        self.kind, self.at, self.blocks = kind, 0, {}

    def block(self, scale, shift):
        b = self.blocks.get((scale, shift))
        if b is None:
            x = BASE * np.float32(scale) + np.float32(shift)
            if self.kind == "f16":
                x = x.astype(np.float16)
            elif self.kind == "bf16":
                u = x.view(np.uint32)
                x = ((u + 0x7FFF + ((u >> 16) & 1)) >> 16).astype(np.uint16)
            b = self.blocks[scale, shift] = memoryview(x).cast("B")
        return b

    def tensor(self, n, scale, shift=0.0):
        b = self.block(scale, shift)
        size = len(b) // len(BASE)
        while n:
            k = min(n, len(BASE) - self.at)
            part = b[self.at * size:(self.at + k) * size]
            while part:
                part = part[self.f.write(part):]
            n, self.at = n - k, (self.at + k) % len(BASE)
        self.at = (self.at + 7919) % len(BASE)

    def matrix(self, rows, inputs):
        self.tensor(rows * inputs, 0.7 / inputs ** 0.5)

    def norm(self, n):
        self.tensor(n, 0.1, 1.0)

    def raw(self, data):
        self.f.write(data)


def llama2c(out, dim, hidden, layers, heads, kv, vocab, seq):
    o, kvdim = Out(out, "f32"), dim // heads * kv
    o.raw(struct.pack("<7i", dim, hidden, layers, heads, kv, -vocab, seq))
    o.tensor(vocab * dim, 0.3)
    o.norm(layers * dim)
    for rows in (dim, kvdim, kvdim, dim):
        o.matrix(layers * rows, dim)
    o.norm(layers * dim)
    for rows, inputs in ((hidden, dim), (dim, hidden), (hidden, dim)):
        o.matrix(layers * rows, inputs)
    o.norm(dim)
    half = dim // heads // 2
    angle = np.outer(np.arange(seq), 10000.0 ** (-np.arange(half) / half))
    o.raw(np.cos(angle).astype(np.float32).tobytes() + np.sin(angle).astype(np.float32).tobytes())
    o.tensor(vocab * dim, 0.3)


def halves(out, layers):
    dim, ff, vocab, o = 4096, 11008, 32000, Out(out, "f16")
    o.tensor(vocab * dim, 0.05)
    o.norm(dim)
    o.matrix(vocab, dim)
    for _ in range(layers):
        for rows, inputs in ((dim, dim),) * 4 + ((ff, dim), (dim, ff), (ff, dim)):
            o.matrix(rows, inputs)
        o.norm(2 * dim)


def tensors(out, dim, layers, heads, vocab):
    os.makedirs(out, exist_ok=True)
    multiple = 256
    ffn = (dim * 8 // 3 + multiple - 1) // multiple * multiple
    with open(out + "/params", "wb") as f:
        f.write(struct.pack("<Q6IfBBH", 0x41524F525541, 0x414D4C4C, dim, multiple, heads, layers, vocab, 1e-6, 0, 0, 0))
    text = [b"<%d>" % i for i in range(3)] + [b"?"] * 256 + [b" t%d" % i for i in range(259, vocab)]
    with open(out + "/vocab", "wb") as f:
        f.write(struct.pack("<I", vocab))
        at = 4 + 8 * vocab
        for t in text:
            f.write(struct.pack("<If", at, 0.0))
            at += len(t) + 1
        f.write(b"\0".join(text) + b"\0")

    def write(name, rows, inputs=None, scale=None):
        o = Out("%s/%s.weight__%d%s" % (out, name, rows, "_%d" % inputs if inputs else ""), "f16")
        if inputs is None:
            o.norm(rows)
        else:
            o.at = hash_of(name)
            o.tensor(rows * inputs, scale or 0.7 / inputs ** 0.5)

    def hash_of(name):
        return sum(ord(c) * 31 ** i for i, c in enumerate(name)) % len(BASE)

    write("tok_embeddings", vocab, dim, 0.3)
    write("output", vocab, dim, 0.3)
    write("norm", dim)
    for i in range(layers):
        p = "layers.%d." % i
        write(p + "attention_norm", dim)
        write(p + "ffn_norm", dim)
        for w in "qkvo":
            write(p + "attention.w" + w, dim, dim)
        write(p + "feed_forward.w1", ffn, dim)
        write(p + "feed_forward.w2", dim, ffn)
        write(p + "feed_forward.w3", ffn, dim)


def gpt2(out, layers, tokens):
    os.makedirs(out, exist_ok=True)
    dim, vocab, seq, heads = 768, 50257, 1024, 12
    padded = (vocab + 127) // 128 * 128
    for name, kind, version in (("gpt2_124M.bin", "f32", 3), ("gpt2_124M_bf16.bin", "bf16", 5)):
        o = Out(out + "/" + name, kind)
        o.raw(struct.pack("<8i", 20240326, version, seq, vocab, layers, heads, dim, padded).ljust(1024, b"\0"))
        o.tensor(vocab * dim, 0.02)
        o.raw(bytes((padded - vocab) * dim * (4 if kind == "f32" else 2)))
        o.tensor(seq * dim, 0.01)
        for n, scale, shift in ((dim, 0.1, 1), (dim, 0.01, 0), (3 * dim * dim, 0.02, 0), (3 * dim, 0.01, 0), (dim * dim, 0.02, 0),
                                (dim, 0.01, 0), (dim, 0.1, 1), (dim, 0.01, 0), (4 * dim * dim, 0.02, 0), (4 * dim, 0.01, 0),
                                (4 * dim * dim, 0.02, 0), (dim, 0.01, 0)):
            o.tensor(layers * n, scale, shift)
        o.tensor(dim, 0.1, 1)
        o.tensor(dim, 0.01)
    for name, n in (("train.bin", tokens), ("val.bin", tokens)):
        o = Out(out + "/" + name, "f32")
        o.raw(struct.pack("<3i", 20240520, 1, n).ljust(1024, b"\0"))
        o.raw(np.minimum(RNG.exponential(300.0, n), vocab - 1).astype(np.uint16).tobytes())
    with open(out + "/gpt2_tokenizer.bin", "wb") as f:
        f.write(struct.pack("<4I", 20240328, 2, vocab, vocab - 1).ljust(1024, b"\0"))
        for i in range(vocab):
            t = b" t%d" % i
            f.write(bytes([len(t)]) + t)


def gguf(out, layers):
    dim, hidden, heads, kv, head, vocab = 1024, 3072, 16, 8, 128, 151936
    o = Out(out, "f32")
    o.raw(b"GGUF".ljust(5951648, b"\0"))  # the program skips a header of exactly this size
    o.tensor(vocab * dim, 0.05)
    o.norm(dim)
    o.tensor(vocab * dim, 0.05)
    for _ in range(layers):
        o.matrix(kv * head, dim)
        o.norm(head + dim)
        o.matrix(dim, heads * head)
        o.matrix(heads * head, dim)
        o.norm(head)
        o.matrix(kv * head, dim)
        o.matrix(dim, hidden)
        o.matrix(hidden, dim)
        o.norm(dim)
        o.matrix(hidden, dim)
    with open(os.path.join(os.path.dirname(out), "header.txt"), "w") as f:
        for key, value in (("BLOCK_COUNT", layers), ("CONTEXT_LENGTH", 40960), ("EMBEDDING_LENGTH", dim), ("FEED_FORWARD_LENGTH", hidden),
                           ("ATTENTION_HEAD_COUNT", heads), ("ATTENTION_HEAD_COUNT_KV", kv), ("ATTENTION_KEY_LENGTH", head)):
            f.write("QWEN3_%s=%d\n" % (key, value))
        f.write("TOKENIZER_GGML_TOKENS=ARRAY_TYPE=8,ARRAY_LENGTH=%d\n" % vocab)


FORMATS = {f.__name__: f for f in (llama2c, halves, tensors, gpt2, gguf)}
if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in FORMATS:
        sys.exit(__doc__)
    FORMATS[sys.argv[1]](sys.argv[2], **{k: int(v) for k, v in (a.split("=") for a in sys.argv[3:])})
