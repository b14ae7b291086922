"""Tables of other authors, each from the assumptions that it states, to the precision it prints.

Most divide every parameter by the bandwidth: ``traffic={"weights", "kv"}`` has that ledger. A few
leave the embedding table out, as a decode step does: ``w.traffic`` has that one. Where a table says
7e9 or 70e9 parameters and not the model's exact number, the test says what it makes of it.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

import rooflab as rl
from tests.support.rows import each_row

TABLE = {"weights", "kv"}
GIB = 2**30


def accelerator(bandwidth, peak=1e15, memory=None, kind="bf16"):
    """A machine of plain numbers, as a table states them."""
    capacities = {"dram": memory} if memory else {}
    return rl.Machine(
        "own", "Own", "gpu", peaks={kind: peak}, bandwidths={"dram": bandwidth},
        capacities=capacities,
    )  # fmt: skip


# Austin et al., "How to scale your model" (jax-ml/scaling-book), inference.md and
# applied-inference.md: TPU v5e at 8.2e11 byte/s and 1.97e14 bf16 FLOP/s, 16e9 bytes.
V5E = accelerator(8.2e11, 1.97e14, 16 * 10**9)


@each_row(
    (1, 4.98, 200.61), (8, 12.13, 659.30), (16, 20.30, 787.99), (32, 36.65, 873.21),
    (64, 69.33, 923.13), (240, 249.09, 963.53)
)  # fmt: skip
def test_llama_2_13b_at_context_8192_on_eight_tpu_v5e(batch, milliseconds, tokens_per_s):
    """It rounds 26.03 GB of weights to 26, 6.71 GB of cache to 6.7: hence 0.3 % and not 0.01 %."""
    w = rl.model("llama-2-13b").decode(batch, 8192)
    assert w.seconds(V5E, 8, traffic=TABLE) * 1e3 == pytest.approx(milliseconds, rel=3e-3)
    assert w.tokens_per_s(V5E, 8, traffic=TABLE) == pytest.approx(tokens_per_s, rel=3e-3)
    printed = 26e9 + batch * 6.7e9
    moved = w.model.weight_bytes() + w.model.kv_bytes(batch, 8192)
    assert moved == pytest.approx(printed, rel=3e-3)


@each_row((1, 4.17), (8, 5.60), (16, 7.23), (32, 10.50), (64, 17.04), (240, 52.99))
def test_the_same_with_a_cache_five_times_smaller(batch, milliseconds):
    """8 KV heads for 40, "the number of parameters the same": a wider MLP makes up for K and V."""
    layers = rl.model("llama-2-13b")
    grouped = replace(layers, kv_heads=8, intermediate=layers.intermediate + 2 * 4096 // 3)
    assert grouped.parameters == pytest.approx(layers.parameters, rel=1e-4)
    seconds = grouped.decode(batch, 8192).seconds(V5E, 8, traffic=TABLE)
    assert seconds * 1e3 == pytest.approx(milliseconds, rel=3e-3)


@each_row((4, 2.5), (256, 21))
def test_the_pop_quiz_on_thirty_billion_parameters(batch, milliseconds):
    """int8 weights, bf16 FLOPs, 100 kB of cache a token, context 8192, 16 chips."""
    m = rl.Model(6144, 49, 48, kv_heads=8, head_dim=128, intermediate=28_260, tied=True)
    assert m.parameters == pytest.approx(30e9, rel=2e-3)
    assert m.kv_bytes(1, 1, "int8") == pytest.approx(100e3, rel=4e-3)
    w = m.decode(batch, 8192, weights="int8", kv="int8")
    assert w.seconds(V5E, 16, traffic=TABLE) * 1e3 == pytest.approx(milliseconds, rel=0.02)


@each_row(
    ("bf16", None, 240), ("int8", "bf16", 120), ("int8", None, 240), ("int4", None, 60),
    ("int8", "int8", 240),
)  # fmt: skip
def test_critical_batch_of_a_tpu_v5e(weights, activations, knee):
    """240 in bf16, 120 and 60 with quantised weights, 240 again with int8 × int8."""
    m = rl.model("llama-3-70b")
    below, above = (
        m.decode(batch, 1, weights, activations=activations).limits("tpu-v5e", traffic="weights")
        for batch in (knee, knee + 1)
    )
    assert (below["up"], above["up"]) == ("memory:weights", "compute")


def test_llama_3_70b_on_the_smallest_slices():
    """4×4, 4×2 and 2×2 chips for bf16, int8, int4, each with room for some 43 caches of 8192.

    Printed: 43, 52 and 67; the last two follow from 68 and 19 GB that remain, a slip, for
    128 − 70 is 58 and 64 − 35 is 29. 162 kB a token is 163,840 bytes.
    """
    m = rl.model("llama-3-70b")
    assert m.kv_bytes(1, 1, "int8") == 163_840
    for kind, chips in (("bf16", 16), ("int8", 8), ("int4", 4)):
        fitting = [b for b in range(1, 99) if m.decode(b, 8192, kind, kind).fits(V5E, chips)]
        assert fitting[-1] == 42  # 43 with 70e9 parameters
        assert not m.decode(1, 8192, kind, kind).fits(V5E, chips // 2)
        full = m.decode(43, 8192, kind, kind).seconds(V5E, chips, traffic=TABLE)
        assert full * 1e3 == pytest.approx(19.5, rel=0.015)  # a memory's worth: "19 ms"


# Stanford CS336 (2025), lecture 10, compute_transformer_stats: an H100 at 3.35e12 byte/s, context
# 1024, 2VD + … parameters.
@each_row(
    (40, 1, 26.87, 8.02, 124.7), (40, 64, 79.72, 23.80, 2689.5), (40, 256, 240.78, 71.87, 3561.8),
    (8, 64, 33.41, 9.97, 6416.7), (8, 256, 65.63, 19.59, 13068.2)
)  # fmt: skip
def test_cs336_llama_2_13b_on_an_h100(kv_heads, batch, gigabytes, milliseconds, tokens_per_s):
    """All of it, to the last digit but that of the norms, which it does not count (3e-5)."""
    m = replace(rl.model("llama-2-13b"), kv_heads=kv_heads)
    w = m.decode(batch, 1024)
    assert m.weight_bytes() + w.traffic["kv"] == pytest.approx(gigabytes * 1e9, rel=2e-4)
    how = {"traffic": TABLE, "bound": "max-of-sum"}
    assert w.seconds("h100-sxm", **how) * 1e3 == pytest.approx(milliseconds, abs=0.006)
    assert w.tokens_per_s("h100-sxm", **how) == pytest.approx(tokens_per_s, rel=1e-4, abs=0.06)


# kipply, "Transformer inference arithmetic" (2022): A100 at 312e12 FLOP/s, 1.5e12 byte/s, 300e9
# byte/s between GPUs; 12·layers·d² parameters, the tables left out.
A100 = accelerator(1.5e12, 312e12)
FIFTY_TWO = rl.Model(8192, 64, 64, gated=False, vocab=1)
GOPHER = rl.Model(16384, 80, 128, gated=False, vocab=1)


def test_kipply_52b():
    w = FIFTY_TWO.decode(1, 1)
    flops = {op.name: op.flops for op in w.operations}
    assert flops["k"] + flops["v"] == 17_179_869_184
    assert sum(flops[p.name] for p in FIFTY_TWO.products) - flops["head"] == 103_079_215_104
    assert FIFTY_TWO.kv_bytes(1, 1) == 2_097_152
    assert 16e9 / FIFTY_TWO.kv_bytes(1, 1) == pytest.approx(8000, rel=0.05)
    assert w.seconds(A100, traffic="weights") * 1e3 == pytest.approx(69, abs=0.5)
    assert w.seconds(A100, 4, traffic="weights") * 1e3 == pytest.approx(17, abs=0.5)
    limits = [FIFTY_TWO.decode(b, 1).limits(A100, traffic="weights")["up"] for b in (207, 208)]
    assert limits == ["memory:weights", "compute"]


@each_row((1, 22), (512, 53))
def test_kipply_gopher_on_sixteen(batch, milliseconds):
    seconds = GOPHER.decode(batch, 1).seconds(A100, 16, traffic="weights")
    assert seconds * 1e3 == pytest.approx(milliseconds, abs=0.6)


def test_kipply_communication():
    """18 ms at batch 512, where (N − 1)/N is rounded to 1: a ring all-reduce sends 15/16 of it."""
    w = GOPHER.decode(512, 1)
    how = {"traffic": "weights", "devices": 16}
    sent = w.seconds(A100, **how, link=300e9) - w.seconds(A100, **how)
    assert sent * 1e3 == pytest.approx(17.9 * 15 / 16, rel=2e-3)


# Tensor Economics, "LLM inference economics from first principles" (2025): Llama 3.3 70B.
def test_tensor_economics_llama_3_70b():
    m = rl.model("llama-3-70b")
    assert m.parameters == 70_553_706_496
    assert m.weight_bytes() == 141_107_412_992
    assert m.kv_bytes(1, 2048) == 640 * 2**20
    prefill = m.prefill(1, 2048, causal=False)
    assert prefill.flops == pytest.approx(291.49e12, rel=1e-3)
    assert prefill.seconds("h100-sxm", bound="max-of-sum") == pytest.approx(0.29, abs=0.006)
    step = m.decode(1, 2048).seconds("h100-sxm", traffic=TABLE)
    assert step == pytest.approx((141e9 + 0.6e9) / 3350e9, rel=2e-3)
    w = m.decode(1, 1)
    sent = w.seconds("h100-sxm", 4, link=450e9) - w.seconds("h100-sxm", 4)
    assert sent == pytest.approx(8.7e-6, rel=5e-3)  # "8 or 9 µs"


# Baseten, "A guide to LLM inference and performance" (2023): 7e9 fp16 parameters.
@each_row((300e9, 65e12, 46.7, 75), (600e9, 125e12, 23.3, 39), (2039e9, 312e12, 6.87, 16))
def test_baseten_seven_billion_parameters(bandwidth, peak, decode, prefill):
    """A token from a T4, an A10 and an A100, and a prompt of 350 tokens, without attention."""
    m = rl.Model(4096, 32, 32, intermediate=12_340, vocab=1)
    assert m.parameters == pytest.approx(7e9, rel=1e-3)
    machine = accelerator(bandwidth, peak, kind="fp16")
    how = {"traffic": "weights"}
    assert m.decode(1, 1, "fp16").seconds(machine, **how) * 1e3 == pytest.approx(decode, rel=2e-3)
    assert m.prefill(1, 350, "fp16").seconds(machine, **how) * 1e3 == pytest.approx(
        prefill, abs=0.8
    )


def test_baseten_cache():
    m = rl.model("llama-2-7b")
    assert m.kv_bytes(1, 1, "fp16") == 524_288
    assert m.kv_bytes(4, 4096, "fp16") < 10e9 < m.kv_bytes(5, 4096, "fp16")


# zeux/calm, README: tokens/s and GB/s on an RTX 4090, at the start and at the end of a context of
# 4096. Their quotient is the bytes of a token; calm does not count the embedding table.
@each_row(
    ("llama-2-7b", "fp16", 16, 67, 892), ("llama-2-7b", "fp16", 4016, 58, 901),
    ("llama-2-7b", "fp8", 16, 128, 846), ("llama-2-7b", "fp8", 4016, 99, 868),
    ("llama-2-7b", "int4", 4016, 151, 816), ("llama-2-13b", "fp8", 16, 68, 877),
    ("mistral-7b", "fp16", 16, 63, 903), ("mistral-7b", "fp8", 4016, 113, 863),
    ("mixtral-8x7b", "int4", 16, 128, 816), ("mixtral-8x7b", "int4", 4016, 119, 827)
)  # fmt: skip
def test_bytes_a_token_of_calm_on_an_rtx_4090(model, weights, context, tokens_per_s, gb_per_s):
    """Its 4-bit format has no bits beyond four a weight, so plain int4 is its size."""
    w = rl.model(model).decode(1, context, weights, "fp16")
    printed = gb_per_s * 1e9 / tokens_per_s
    off = 0.5 / tokens_per_s + 0.012  # the last digit printed, and a context that is an average
    assert w.traffic["weights"] + w.traffic["kv"] == pytest.approx(printed, rel=off)


# noooop/zerollama, tutorial 0x02: Qwen1.5 on an RTX 4090 of 1008 · 2³⁰ byte/s; the embedding table
# is left out; tokens of cache that take one millisecond more.
@each_row(
    (1024, 24, 2816, 1, 151_936, (0.86, 0.43, 0.21), 11_010),
    (4096, 32, 11_008, 1, 151_936, (13.12, 6.56, 3.28), 2064),
    (5120, 40, 13_696, 1, 152_064, (24.74, 12.37, 6.19), 1321),
    (5120, 64, 27_392, 5, 152_064, (58.64, 29.32, 14.66), 4129),
    (8192, 80, 24_576, 1, 152_064, (131.28, 65.64, 32.82), 413)
)  # fmt: skip
def test_qwen_1_5_on_an_rtx_4090(hidden, layers, intermediate, group, vocab, first, tokens):
    heads, rate = hidden // 64, 1008 * GIB
    own = (hidden, layers, heads, heads // group, None, intermediate, vocab)
    m = rl.Model(*own, biases=("q", "k", "v"))
    for kind, milliseconds in zip(("bf16", "int8", "int4"), first, strict=True):
        read = m.decode(1, 1, kind).traffic["weights"]
        assert read / rate * 1e3 == pytest.approx(milliseconds, abs=0.006, rel=2e-4)
    assert 1e-3 * rate / m.kv_bytes(1, 1) == pytest.approx(tokens, rel=1e-3)


# DeepSeek-AI, "Insights into DeepSeek-V3" (arXiv 2505.09343), table 1; Hugging Face's article on
# Llama 3.1 (16,000 and 128,000 tokens in GiB); vLLM's log of Llama-3-8B (issue 12330).
def test_cache_sizes_in_print():
    for name, kilobytes in (("deepseek-v3", 70.272), ("llama-3.1-405b", 516.096)):
        assert rl.model(name).kv_bytes(1, 1) == kilobytes * 1000
    for name, tokens, gib in (
        ("llama-3-8b", 16_000, 1.95), ("llama-3-8b", 128_000, 15.62),
        ("llama-3-70b", 16_000, 4.88), ("llama-3-70b", 128_000, 39.06),
    ):  # fmt: skip
        assert rl.model(name).kv_bytes(1, tokens) / GIB == pytest.approx(gib, abs=0.006)
    m = rl.model("llama-3-8b")
    assert m.weight_bytes() / GIB == pytest.approx(14.96, abs=0.005)
    assert 11.12 * GIB / m.kv_bytes(1, 8192) == pytest.approx(11.12)  # "maximum concurrency"
