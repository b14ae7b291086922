"""Published tokens a second and bytes a token, from the assumptions that their tables state.

gpt-fast: README of pytorch-labs/gpt-fast, batch 1, a prompt of 5 tokens and 200 new ones; tokens/s
and GB/s of each GPU, so that their quotient is the bytes that a token moved. RTX 4090: 1008 GB/s.
"""

from __future__ import annotations

import pytest

import rooflab as rl
from tests.support.rows import each_row

INT4 = rl.dtype("int4", group=32, scale="bf16", zero="bf16")


@each_row(
    ("llama-2-7b", "bf16", 104.9, 1397.31),
    ("llama-2-70b", "int8", 19.13, 1322.58),
    ("llama-2-7b", INT4, 196.80, 862.69),
)
def test_bytes_a_token_of_gpt_fast_on_a100(model, weights, tokens_per_s, gb_per_s):
    w = rl.model(model).decode(1, 105, weights=weights)
    implied = gb_per_s * 1e9 / tokens_per_s
    assert w.traffic["weights"] + w.traffic["kv"] == pytest.approx(implied, rel=0.07)


def test_exact_weights_give_a_little_more():
    """72.0 tokens/s with 7e9 parameters; and of the embedding table a step reads one row only."""
    w = rl.model("llama-2-7b").decode(1, 1, weights="fp16")
    assert 1008e9 / w.model.weight_bytes("fp16") == pytest.approx(74.8, abs=0.05)
    table = 2 * 32_000 * 4096
    assert w.traffic["weights"] == pytest.approx(w.model.weight_bytes("fp16") - table, rel=1e-5)
    assert 1008e9 / w.traffic["weights"] == pytest.approx(76.3, abs=0.05)
    assert w.tokens_per_s("rtx-4090") == pytest.approx(76.3, abs=0.1)


def test_gpt2_decode_never_reaches_the_fp32_ridge_of_an_a100():
    """The cache's bytes per FLOP, 0.1325, stay above 1/ridge = 0.1026 at any batch."""
    m = rl.model("gpt2")
    ridge = 1 / rl.Roofline("a100-sxm-40", "fp32").ridge
    for batch, expected in ((64, 0.146), (1024, 0.133), (65_536, 0.1325)):
        w = m.decode(batch, 1024)
        tensor = sum(op.flops for op in w.operations if op.unit == "tensor")
        ratio = (w.traffic["weights"] + w.traffic["kv"]) / tensor
        assert ratio == pytest.approx(expected, abs=6e-4)
        assert ratio > 0.1026 > ridge
