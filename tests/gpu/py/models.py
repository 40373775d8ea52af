# SPDX-License-Identifier: Apache-2.0
"""Models of transformers with random weights: hashes of what they compute, a line each.

usage: models.py [MODEL...|all] [--dtypes bf16,fp16,fp32] [--what prefill,generate,graph,train] [--steps N]
"""
import argparse
import hashlib
import sys

import torch
import transformers as t

COMMON = {"hidden_size": 512, "num_hidden_layers": 2, "num_attention_heads": 8, "vocab_size": 2048, "pad_token_id": 0}
GQA = dict(COMMON, num_key_value_heads=2, intermediate_size=1408)
DECODERS = {
    "llama": (t.LlamaConfig, t.LlamaForCausalLM, GQA),
    "mistral": (t.MistralConfig, t.MistralForCausalLM, dict(GQA, sliding_window=None)),
    "qwen2": (t.Qwen2Config, t.Qwen2ForCausalLM, GQA),
    "qwen3": (t.Qwen3Config, t.Qwen3ForCausalLM, dict(GQA, head_dim=64)),
    "gemma": (t.GemmaConfig, t.GemmaForCausalLM, dict(GQA, head_dim=64)),
    "gemma2": (t.Gemma2Config, t.Gemma2ForCausalLM, dict(GQA, head_dim=64, query_pre_attn_scalar=64)),
    "phi": (t.PhiConfig, t.PhiForCausalLM, dict(COMMON, intermediate_size=2048)),
    "phi3": (t.Phi3Config, t.Phi3ForCausalLM, GQA),
    "gpt2": (t.GPT2Config, t.GPT2LMHeadModel, {"n_embd": 512, "n_layer": 2, "n_head": 8, "vocab_size": 2048}),
    "gpt_neox": (t.GPTNeoXConfig, t.GPTNeoXForCausalLM, dict(COMMON, intermediate_size=2048)),
    "opt": (t.OPTConfig, t.OPTForCausalLM, dict(COMMON, ffn_dim=2048, word_embed_proj_dim=512)),
    "mixtral": (t.MixtralConfig, t.MixtralForCausalLM, dict(GQA, num_local_experts=4, num_experts_per_tok=2)),
}
ENCODERS = {
    "bert": (t.BertConfig, t.BertModel, dict(COMMON, intermediate_size=2048)),
    "vit": (t.ViTConfig, t.ViTModel, {"hidden_size": 512, "num_hidden_layers": 2, "num_attention_heads": 8, "intermediate_size": 2048,
                                     "image_size": 64}),
    "t5": (t.T5Config, t.T5ForConditionalGeneration, {"d_model": 512, "d_ff": 1408, "num_layers": 2, "num_heads": 8, "vocab_size": 2048,
                                                     "decoder_start_token_id": 0}),
}
TYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}
cuda = torch.cuda.is_available()
device = "cuda" if cuda else "cpu"


def hashed(*tensors):
    h = hashlib.sha256()
    for x in tensors:
        h.update(x.detach().contiguous().reshape(-1).view(torch.uint8).cpu().numpy().tobytes())
    return h.hexdigest()[:16]


def build(name, dtype):
    config, model, args = (DECODERS.get(name) or ENCODERS[name])
    c = config(**args)
    for drop in ("attention_dropout", "hidden_dropout", "resid_pdrop", "embd_pdrop", "attn_pdrop", "dropout", "dropout_rate",
                 "hidden_dropout_prob", "attention_probs_dropout_prob", "activation_dropout"):
        if hasattr(c, drop):
            setattr(c, drop, 0.0)
    torch.manual_seed(1)
    return c, model(c).to(device, dtype).eval()


def inputs(name, dtype, batch=2, length=33):
    torch.manual_seed(2)
    if name == "vit":
        return {"pixel_values": torch.randn(batch, 3, 64, 64).to(device, dtype)}
    ids = torch.randint(1, 2048, (batch, length), device="cpu").to(device)
    return {"input_ids": ids, "decoder_input_ids": ids[:, :17]} if name == "t5" else {"input_ids": ids}


def first(out):
    return out.logits if hasattr(out, "logits") and out.logits is not None else out.last_hidden_state


def captured(model, kwargs, steps):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            model(**kwargs)
    torch.cuda.current_stream().wait_stream(side)
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        out = first(model(**kwargs))
    hashes = []
    ids = kwargs.get("input_ids", kwargs.get("pixel_values"))
    for i in range(steps):
        torch.manual_seed(i)
        if ids.is_floating_point():
            ids.copy_(torch.randn(ids.shape))
        else:
            ids.copy_(torch.randint(1, 2048, ids.shape))
        g.replay()
        if i % 50 == 49 or i + 1 == steps:
            hashes.append(hashed(out))
    return " ".join(hashes)


def work(name, dtype, what, steps):
    config, model = build(name, TYPES[dtype])
    kwargs = inputs(name, TYPES[dtype])
    if what == "train":
        model.train()
        out = first(model(**kwargs))
        loss = out.float().pow(2).mean()
        loss.backward()
        return hashed(loss, *[p.grad for p in model.parameters() if p.grad is not None])
    with torch.no_grad():
        if what == "prefill":
            return hashed(*[first(model(**kwargs)) for _ in range(6)])
        if what == "generate":
            out = model.generate(**{k: v for k, v in kwargs.items() if k == "input_ids"}, max_new_tokens=24, do_sample=False,
                                 pad_token_id=0, output_logits=True, return_dict_in_generate=True)
            return hashed(out.sequences, *out.logits)
        return captured(model, dict(kwargs, use_cache=False) if name in DECODERS or name == "t5" else kwargs, steps)


p = argparse.ArgumentParser()
p.add_argument("model", nargs="*", default=["all"])
p.add_argument("--dtypes", default="bf16,fp16,fp32")
p.add_argument("--what", default="prefill,generate,graph,train")
p.add_argument("--steps", type=int, default=300)
a = p.parse_args()
torch.use_deterministic_algorithms(True, warn_only=True)
for name in list(DECODERS) + list(ENCODERS) if a.model == ["all"] else a.model:
    for dtype in a.dtypes.split(","):
        for what in a.what.split(","):
            if (what == "generate" and name in ("bert", "vit")) or (what == "graph" and not cuda) or (what == "graph" and name == "mixtral"):
                continue
            try:
                print(name, dtype, what, work(name, dtype, what, a.steps), flush=True)
            except Exception as e:  # what a version of transformers or PyTorch cannot do is the same with and without
                print(name, dtype, what, type(e).__name__, str(e).split("\n")[0][:100], flush=True)
