"""Worked examples of papers, written as a reader of the interface would.

Sizes, bytes and FLOPs to the last digit that is printed.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

import rooflab as rl
from tests.support.rows import each_row


def products(workload):
    """FLOPs of the matrix products, the only ones that such figures count."""
    return sum(op.flops for op in workload.operations if op.unit == "tensor")


def forward(m, tokens):
    """A sequence's forward pass, every position through the head, all pairs in attention."""
    return m.prefill(1, tokens, attention="materialised", logits="all")


# Narayanan et al., "Efficient large-scale language model training on GPU clusters using
# Megatron-LM" (arXiv 2104.04473), table 1 and equation 3: F = 96 B s l h² (1 + s/6h + V/16lh), in
# which the layers' forward pass is done twice; 72 … V/12lh without that. Backward is two products
# for each of the forward pass, so that training has three times its FLOPs.
@each_row((1.7, 24, 2304, 24), (145.6, 96, 12288, 80), (1008.0, 160, 25600, 128))
def test_megatron_parameters_and_flops(billions, heads, hidden, layers):
    h, s, v = hidden, 2048, 51_200
    m = rl.Model(
        h, layers, heads, vocab=v, positions=s, tied=True, gated=False, norm="layer",
        biases=("q", "k", "v", "o", "up", "down"),
    )  # fmt: skip
    assert m.parameters / 1e9 == pytest.approx(billions, abs=0.0501)
    trained = 3 * products(forward(replace(m, biases=()), s))
    once = 72 * s * layers * h**2 * (1 + s / (6 * h) + v / (12 * layers * h))
    assert trained == pytest.approx(once, rel=1e-12)
    heads_of_it = 6 * s * h * v
    assert (trained - heads_of_it) * 4 / 3 + heads_of_it == pytest.approx(
        96 * s * layers * h**2 * (1 + s / (6 * h) + v / (16 * layers * h)), rel=1e-12
    )


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
    with_attention = 3 * products(forward(PALM, 2048))
    assert 238.3e3 * with_attention / 2048 / roof == pytest.approx(0.462, abs=5e-4)
    assert 238.3e3 * 6 * PALM.parameters / roof == pytest.approx(0.457, abs=5e-4)


# Yuan et al., "LLM inference unveiled" (arXiv 2402.16363), table 2: a layer of Llama-2-7B at 2048
# tokens, 16 bits, on an RTX A6000 (768 GB/s, 155 TFLOP/s): operations and bytes.
@each_row(
    ("q", (69e9, 67e6), (34e6, 34e6)),
    ("down", (185e9, 152e6), (90e6, 90e6)),
    ("scores", (34e9, 302e6), (17e6, 17e6)),
)
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
