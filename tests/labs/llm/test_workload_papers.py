"""Worked examples of papers, books and tools, written as a reader of the interface would.

Sizes, bytes and FLOPs to the last digit that is printed, times where the source states its roofs.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

import rooflab as rl
from tests.support.rows import each_row

GIB, TIB = 2**30, 2**40
TABLE = ["weights", "kv"]


def products(workload):
    """FLOPs of the matrix products, the only ones that such figures count."""
    return sum(op.flops for op in workload.operations if op.unit == "tensor")


def gpt(hidden, layers, heads, vocab=51_200, positions=2048):
    return rl.Model(
        hidden, layers, heads, vocab=vocab, positions=positions, tied=True, gated=False,
        norm="layer", biases=("q", "k", "v", "o", "up", "down"),
    )  # fmt: skip


# Narayanan et al., "Efficient large-scale language model training on GPU clusters using
# Megatron-LM" (arXiv 2104.04473), table 1 and equation 3: F = 96 B s l h² (1 + s/6h + V/16lh), in
# which the layers' forward pass is done twice; 72 … V/12lh without that.
@each_row(
    (1.7, 24, 2304, 24), (3.6, 32, 3072, 30), (7.5, 32, 4096, 36), (18.4, 48, 6144, 40),
    (39.1, 64, 8192, 48), (76.1, 80, 10240, 60), (145.6, 96, 12288, 80), (310.1, 128, 16384, 96),
    (529.6, 128, 20480, 105), (1008.0, 160, 25600, 128)
)  # fmt: skip
def test_megatron_parameters_and_flops(billions, heads, hidden, layers):
    m, h, s, v = gpt(hidden, layers, heads), hidden, 2048, 51_200
    assert m.parameters / 1e9 == pytest.approx(billions, abs=0.0501)
    step = replace(m, biases=()).train_step(1, s, attention="materialised")
    once = 72 * s * layers * h**2 * (1 + s / (6 * h) + v / (12 * layers * h))
    assert products(step) == pytest.approx(once, rel=1e-12)
    heads_of_it = 6 * s * h * v
    assert (products(step) - heads_of_it) * 4 / 3 + heads_of_it == pytest.approx(
        96 * s * layers * h**2 * (1 + s / (6 * h) + v / (16 * layers * h)), rel=1e-12
    )


@each_row(
    (12288, 96, 96, 1536, 141, 23), (20480, 105, 128, 560, 171, 156),
    (20480, 105, 128, 1120, 167, 80), (20480, 105, 128, 2240, 159, 42)
)  # fmt: skip
def test_megatron_days_of_training(hidden, layers, heads, gpus, teraflops, days):
    """Table 2 at 300e9 tokens, "8 T P / n X": a third more FLOPs than with one forward pass. All
    GPUs as one machine: data parallel, where ``devices`` would share every layer."""
    cluster = rl.Machine("a100s", peaks={"bf16": gpus * teraflops * 1e12}, bandwidths=1e18)
    step = gpt(hidden, layers, heads).train_step(8, 2048)
    assert step.limit(cluster) == "compute"
    seconds = 4 / 3 * 300e9 / step.tokens * step.seconds(cluster)
    assert seconds / 86_400 == pytest.approx(days, rel=0.045)


# Chowdhery et al., "PaLM" (arXiv 2204.02311), table 1 and appendix B: 238.3 thousand tokens/s on
# 6144 TPU v4 of 275 TFLOP/s; 6 N + 12 L H Q T FLOP a token.
PALM = rl.Model(
    18_432, 118, 48, kv_heads=1, head_dim=256, intermediate=73_728, vocab=256_000, tied=True,
    norms=1,
)  # fmt: skip


def test_palm_540b():
    assert PALM.parameters == pytest.approx(540.35e9, rel=2e-5)
    for hidden, layers, heads, billions in ((4096, 32, 16, 8.63), (8192, 64, 32, 62.50)):
        small = replace(PALM, hidden=hidden, layers=layers, heads=heads, intermediate=4 * hidden)
        assert small.parameters / 1e9 == pytest.approx(billions, abs=0.005)
    roof = 6144 * rl.machine("tpu-v4").peak("bf16")
    with_attention = PALM.train_step(1, 2048, attention="materialised")
    assert 238.3e3 * products(with_attention) / 2048 / roof == pytest.approx(0.462, abs=5e-4)
    assert 238.3e3 * 6 * PALM.parameters / roof == pytest.approx(0.457, abs=5e-4)


def test_pope_cache_of_multi_head_attention():
    """Pope et al., "Efficiently scaling transformer inference": 3 TB at batch 512 and 2048 tokens,
    three times the weights; one KV head of 256 instead of 48 of 128 is 24 times smaller."""
    many = replace(PALM, kv_heads=48, head_dim=128)
    assert many.kv_bytes(512, 2048) == pytest.approx(3e12, rel=0.02)
    assert many.kv_bytes(512, 2048) / PALM.weight_bytes() == pytest.approx(3, rel=0.07)
    assert many.kv_bytes(1, 1) == 24 * PALM.kv_bytes(1, 1)


def test_flexgen_opt_175b():
    """Sheng et al. (2023): 325 GB of weights; 1.2 TB of cache at batch 512, 512 + 32 tokens, 3.8
    times the weights: binary units."""
    m = gpt(12_288, 96, 96, vocab=50_272, positions=2050)
    assert m.weight_bytes("fp16") / GIB == pytest.approx(325, abs=0.5)
    assert m.kv_bytes(512, 544, "fp16") / TIB == pytest.approx(1.2, abs=0.05)
    assert m.kv_bytes(512, 544, "fp16") / m.weight_bytes("fp16") == pytest.approx(3.8, abs=0.05)


def test_vllm_opt_13b():
    """Kwon et al., "PagedAttention" (2023): 800 KB a token, 1.6 GB for 2048, 26 GB of weights."""
    m = gpt(5120, 40, 40, vocab=50_272, positions=2050)
    assert m.kv_bytes(1, 1, "fp16") == 800 * 1024
    assert m.kv_bytes(1, 2048, "fp16") / GIB == pytest.approx(1.6, abs=0.05)
    assert m.weight_bytes("fp16") == pytest.approx(26e9, rel=0.02)


def test_llama_3_405b_took_38e24_flops():
    """Meta (2024): 3.8e25 FLOPs on 15.6e12 tokens. 2.54 TFLOP a token at 8192 in folu.me's article
    on DeepSeek-V3's training, which halves the attention and counts the embedding as a product."""
    m = rl.model("llama-3.1-405b")
    assert 6 * m.parameters * 15.6e12 == pytest.approx(3.8e25, rel=5e-3)
    assert m.train_step(1, 8192).flops / 8192 == pytest.approx(2.54e12, abs=5e9)


# Austin et al., "How to scale your model", transformers.md and applied-training.md.
def test_scaling_book_problems():
    m = rl.Model(hidden=4096, layers=64, heads=32, intermediate=4 * 4096, vocab=32_000)
    assert m.parameters == pytest.approx(16e9, rel=0.1)  # 4e3 for 4096 and so on
    assert m.kv_bytes(1, 1, "int8") == 512 * 1024
    assert rl.Model(hidden=8192, layers=64, heads=64).kv_bytes(1, 8192, "int8") == 8 * GIB
    crossing = rl.Model(4096, 1, 32).train_step(1, 2 * 4096, attention="materialised")
    flops = {op.name: op.flops for op in crossing.operations}
    projections = sum(flops[name + back] for name in "qkvo" for back in ("", " dX", " dW"))
    pairs = sum(flops[name + back] for name in ("scores", "values") for back in ("", " back"))
    assert projections == pairs


def test_scaling_book_training_of_llama_3_70b():
    """4.2e11 FLOP a token with 70e9 parameters, the embedding among them: 1 ms on a TPU v5p, and 44
    days for 15e12 tokens on 8960 of them at 40 %."""
    step = rl.model("llama-3-70b").train_step(1, 1)
    assert products(step) == pytest.approx(4.2e11, rel=0.01)
    assert products(step) / rl.machine("tpu-v5p").peak("bf16") == pytest.approx(1e-3, rel=0.1)
    pod = rl.Machine("v5p", peaks={"bf16": 0.4 * 4.59e14}, bandwidths=2.765e12, capacities=96e9)
    batch = rl.model("llama-3-70b").train_step(64, 64)
    seconds = batch.seconds(pod, 8960, traffic={"weights"}, bound="max-of-sum")
    assert 15e12 / batch.tokens * seconds / 86_400 == pytest.approx(44, abs=0.8)


@each_row(("bf16", 16, 43, 0.27), ("int8", 8, 52, 0.66), ("int4", 4, 67, 1.72))
def test_scaling_book_queries_a_second_and_chip(kind, chips, caches, queries):
    """512 tokens a query; a step reads the full memory of the chips, some 19 ms, with 43 caches
    (see test_workload_tables.py on the 52 and 67 that it prints)."""
    v5e = rl.Machine("v5e", peaks={"bf16": 1.97e14}, bandwidths=8.2e11, capacities=16e9)
    w = rl.model("llama-3-70b").decode(43, 8192, kind, kind)
    step = w.seconds(v5e, devices=chips, traffic=TABLE)
    assert caches / (step * 512 * chips) == pytest.approx(queries, rel=0.035)


# Kapoulkine, "LLM inference speed of light" (zeux.io, 2024): the embedding table is not read.
def test_speed_of_light_of_mistral_7b():
    m = rl.model("mistral-7b")
    parts = {p.name: p.parameters for p in m.products}
    assert sum(parts[name] for name in "qkvo") == pytest.approx(1342e6, abs=5e5)
    assert sum(parts[name] for name in ("gate", "up", "down")) == pytest.approx(5637e6, abs=5e5)
    assert sum(parts.values()) == pytest.approx(7111e6, abs=1e6)  # a sum of rounded numbers
    for kind, gigabytes, milliseconds in (("fp16", 14.2, 14.1), ("fp8", 7.1, 7.0)):
        w = m.decode(1, 1, weights=kind, kv="fp16")
        assert w.traffic["weights"] / 1e9 == pytest.approx(gigabytes, abs=0.05)
        assert w.seconds("rtx-4090") * 1e3 == pytest.approx(milliseconds, abs=0.07)
    assert m.kv_bytes(1, 1000, "fp16") == pytest.approx(130e6, rel=0.01)
    assert m.kv_bytes(1, 4096, "fp16") == 0.5 * GIB
    assert rl.model("llama-2-7b").kv_bytes(1, 4096, "fp16") == 2 * GIB


def test_speed_of_light_of_command_r():
    m = rl.Model(8192, 40, 64, intermediate=22_528, vocab=256_000, tied=True, norms=1)
    assert m.parameters == pytest.approx(35e9, rel=2e-3)
    assert m.kv_bytes(1, 4096, "fp16") == pytest.approx(5.3e9, rel=0.02)
    assert m.kv_bytes(1, 200_000, "fp16") == pytest.approx(260e9, rel=0.01)
    w = m.decode(1, 100_000, weights="q4_0", kv="fp8")
    assert w.traffic["weights"] / 1e9 == pytest.approx(19.7, abs=0.05)
    assert w.traffic["kv"] / 1e9 == pytest.approx(65, abs=0.6)
    parts = {part.name: part.seconds for part in w.time("rtx-4090").parts}
    assert parts["attention"] / sum(parts.values()) == pytest.approx(0.76, abs=0.01)


@each_row(("q6_k", 6.5633, 6.14), ("q8_0", 8.5008, 7.95), ("fp16", 16.0005, 14.96))
def test_llama_cpp_sizes_of_llama_3_1_8b(kind, bits, gib):
    """ggml-org/llama.cpp, tools/quantize: the formats that are not mixed. Its norms are fp32."""
    m = rl.model("llama-3.1-8b")
    assert m.weight_bytes(kind) * 8 / m.parameters == pytest.approx(bits, abs=1.1e-3)
    assert m.weight_bytes(kind) / GIB == pytest.approx(gib, abs=0.006)


# Yuan et al., "LLM inference unveiled" (arXiv 2402.16363), table 2: a layer of Llama-2-7B at 2048
# tokens, 16 bits, on an RTX A6000 (768 GB/s, 155 TFLOP/s): operations and bytes.
@each_row(
    ("q", (69e9, 67e6), (34e6, 34e6)), ("o", (69e9, 67e6), (34e6, 34e6)),
    ("gate", (185e9, 152e6), (90e6, 90e6)), ("down", (185e9, 152e6), (90e6, 90e6)),
    ("scores", (34e9, 302e6), (17e6, 17e6)), ("values", (34e9, 302e6), (17e6, 17e6))
)  # fmt: skip
def test_llm_viewer_layer(name, prefill, decode):
    """It has k and v written by their products, straight into the cache; here the attention moves
    them there, 2 · 2048 · 4096 elements' worth of bytes more (rotated in between)."""
    m = rl.model("llama-2-7b")
    how = {"weights": "fp16", "kv": "fp16", "attention": "materialised"}
    for w, (flops, nbytes) in (
        (m.prefill(1, 2048, **how), prefill),
        (m.decode(1, 2048, **how), decode),
    ):
        op = next(step.op for step in w.steps if step.name == name)
        cached = w.queries * 4096 * 2 if name in ("scores", "values") else 0
        assert op.flops == pytest.approx(flops, rel=0.015)
        assert op.bytes - cached == pytest.approx(nbytes, rel=0.015)
    limits = m.prefill(1, 2048, **how).limits("rtx-a6000")
    assert (limits["q"], limits["down"]) == ("compute", "compute")
    assert limits["scores"].startswith("memory") and limits["values"].startswith("memory")


# Skortsov, "LLM inference essentials" (Nebius Academy, 2025): Llama-3.1-8B at 8192 tokens, an H100
# NVL of 3.9e12 byte/s and 1671e12 FLOP/s (the sparse peak).
def test_nebius_llama_3_1_8b():
    m = rl.model("llama-3.1-8b")
    flops = {op.name: op.flops // op.batch for op in m.decode(1, 8192).operations}
    assert sum(flops[name] for name in "qkvo") == 83_886_080
    assert flops["attention"] == 134_217_728
    assert sum(flops[name] for name in ("gate", "up", "down")) == 352_321_536
    assert flops["head"] == 1_050_673_152
    assert products(m.decode(7, 8192)) == pytest.approx(7 * 19.3e9, rel=2e-3)
    assert m.kv_bytes(1, 8192) == pytest.approx(1e9, rel=0.08)


def test_a_negative_batch_is_no_answer():
    """It sets the time for all FLOPs equal to that for all bytes and finds batch −16.75: with a
    cache for each sequence the sum never turns. Operation by operation it does, at 430."""
    nvl = rl.Machine("h100-nvl", peaks={"bf16": 1671e12}, bandwidths={"HBM": 3.9e12})
    for batch in (1, 430, 10**6):
        w = rl.model("llama-3.1-8b").decode(batch, 8192)
        parts = w.time(nvl, traffic=TABLE).parts
        assert sum(p.memory for p in parts) > sum(p.compute for p in parts)
        assert w.limits(nvl, traffic=TABLE)["up"] == (
            "memory:weights" if batch < 428 else "compute"
        )
