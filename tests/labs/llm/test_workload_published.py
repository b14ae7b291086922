"""Published tokens a second, bytes a token and FLOPs, from the assumptions that their tables state.

gpt-fast: README of pytorch-labs/gpt-fast, batch 1, a prompt of 5 tokens and 200 new ones; tokens/s
and GB/s of each GPU, so that their quotient is the bytes that a token moved. RTX 4090: 1008 GB/s,
7e9 fp16 parameters.
"""

from __future__ import annotations

import pytest

import rooflab as rl
from tests.support.rows import each_row

INT4 = rl.dtype("int4", group=32, scale="bf16", zero="bf16")
TABLE = {"weights", "kv"}  # what such tables count


@each_row(
    ("llama-2-7b", "bf16", 1, 104.9, 1397.31), ("llama-2-7b", "int8", 1, 155.58, 1069.20),
    ("llama-2-7b", INT4, 1, 196.80, 862.69), ("llama-2-70b", "int8", 1, 19.13, 1322.58),
    ("llama-2-70b", INT4, 1, 25.25, 1097.66), ("llama-2-70b", "bf16", 2, 21.32, 1481.87),
    ("llama-2-70b", "bf16", 4, 38.01, 1340.76), ("llama-2-70b", "bf16", 8, 62.50, 1135.29),
    ("llama-2-7b", "bf16", 2, 168.84, 1181.99),
)  # fmt: skip
def test_bytes_a_token_of_gpt_fast_on_a100(model, weights, devices, tokens_per_s, gb_per_s):
    w = rl.model(model).decode(1, 105, weights=weights)
    implied = gb_per_s * 1e9 / tokens_per_s
    counted = (w.traffic["weights"] + w.traffic["kv"]) / devices
    assert counted == pytest.approx(implied, rel=0.07)


def seven_billion():
    """Llama-2-7B's layers with one table, head and embedding, that brings it to 7.000e9."""
    layers = rl.model("llama-2-7b")
    matrices = sum(p.parameters for p in layers.products[:-1]) + layers.norm_parameters
    table = round((7e9 - matrices) / 4096)
    return rl.Model(4096, 32, 32, intermediate=11008, vocab=table, tied=True)


def test_rtx_4090_at_batch_1_and_64():
    m = seven_billion()
    one = m.decode(1, 1, weights="fp16").tokens_per_s("rtx-4090", traffic={"weights"})
    many = m.decode(64, 1, weights="fp16").tokens_per_s("rtx-4090", traffic={"weights"})
    assert one == pytest.approx(72.0, abs=0.05)
    assert many == pytest.approx(4608, abs=1)


def test_int4_weights_quadruple_it():
    rate = seven_billion().decode(1, 1, weights="int4").tokens_per_s("rtx-4090", traffic="weights")
    assert rate == pytest.approx(288, abs=0.5)


def test_exact_weights_give_a_little_more():
    """6.738e9 parameters, not 7e9; and of the embedding table a step reads one row only."""
    w = rl.model("llama-2-7b").decode(1, 1, weights="fp16")
    rate = w.tokens_per_s("rtx-4090", traffic={"weights"})
    assert rate == pytest.approx(74.8, abs=0.05)
    assert rate == pytest.approx(1008e9 / w.model.weight_bytes("fp16"))
    table = 2 * 32_000 * 4096
    assert w.traffic["weights"] == pytest.approx(w.model.weight_bytes("fp16") - table, rel=1e-5)
    assert 1008e9 / w.traffic["weights"] == pytest.approx(76.3, abs=0.05)
    assert w.tokens_per_s("rtx-4090") == pytest.approx(76.3, abs=0.1)


@each_row((128, 3526), (256, 2856), (298, 2688))
def test_rtx_4090_at_batch_64_with_its_cache(context, tokens_per_s):
    w = seven_billion().decode(64, context, weights="fp16", kv="fp16")
    assert w.tokens_per_s("rtx-4090", traffic=TABLE) == pytest.approx(tokens_per_s, abs=1)


def test_rtx_4090_holds_298_tokens_of_64_sequences():
    m = rl.model("llama-2-7b")
    memory = 24e9  # the fact's assumption: 24 GB, of which 7e9 fp16 parameters take 14
    assert 14e9 + m.kv_bytes(64, 298, "fp16") < memory < 14e9 + m.kv_bytes(64, 299, "fp16")
    assert not m.decode(64, 512, weights="fp16", kv="fp16").fits("rtx-4090")


def test_batch_64_is_memory_bound_there_and_the_compute_bound_is_far():
    w = seven_billion().decode(64, 1, weights="fp16")
    assert w.limit("rtx-4090") == "memory:weights"
    computing = 64 / (sum(op.flops for op in w.operations if op.unit == "tensor") / 165.15e12)
    assert computing == pytest.approx(11_796, rel=2e-3)


def test_gpt2_at_full_context_on_an_a100():
    """286.4e6 bytes, 6983 tokens/s at 2.0 TB/s, where the table and every position are counted."""
    m = rl.model("gpt2")
    w = m.decode(1, 1024)
    assert w.traffic["kv"] == pytest.approx(37.75e6, rel=1e-4)
    assert m.weight_bytes() + w.traffic["kv"] == pytest.approx(286.4e6, rel=2e-3)
    positions = 2 * 1023 * 768  # learned positions that the step does not read
    read = w.traffic["weights"] + w.traffic["kv"]
    assert read == pytest.approx(m.weight_bytes() + w.traffic["kv"] - positions, rel=1e-4)
    assert 2.0e12 / (read + positions) == pytest.approx(6983, rel=2e-3)


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


@each_row(("bf16", 1.006), ("int8", 0.569), ("int4", 0.351))
def test_gpt2_bytes_a_flop_with_quantised_weights(weights, ratio):
    w = rl.model("gpt2").decode(1, 1024, weights=weights)
    tensor = sum(op.flops for op in w.operations if op.unit == "tensor")
    moved = w.traffic["weights"] + w.traffic["kv"]
    assert moved / tensor == pytest.approx(ratio, rel=7e-3)


@each_row(("int8", 2.0), ("nvfp4", 32 / 9), ("int4", 4.0))
def test_smaller_weights_pay_where_weights_are_the_limit(weights, faster):
    """FP8 or int8 twice, NVFP4 with its scales 3.56 times, over fp16 at batch 1."""
    m = rl.model("llama-3-70b")
    half, small = (m.decode(1, 1, weights=kind) for kind in ("fp16", weights))
    gained = half.seconds("b200", traffic="weights") / small.seconds("b200", traffic="weights")
    assert gained == pytest.approx(faster, rel=1e-3)


def test_loading_the_cache_beats_recomputing_it():
    """One token and layer of width 4096 on an H100: 16,384 B in 4.9 ns; recomputed 67 MFLOP."""
    m = rl.Model(4096, 1, 32)
    loaded = m.kv_bytes(1, 1) / rl.machine("h100-sxm").bandwidth()
    assert m.kv_bytes(1, 1) == 16_384
    assert loaded == pytest.approx(4.9e-9, rel=5e-3)
    again = sum(2 * p.parameters for p in m.products if p.name in ("k", "v"))
    assert again == pytest.approx(67e6, rel=2e-3)
    assert again / rl.machine("h100-sxm").peak("bf16") == pytest.approx(68e-9, rel=5e-3)


def test_three_products_of_a_linear_layer_have_one_intensity():
    """Forward (M, N, K), then (M, K, N) and (N, K, M): 2525.1 FLOP/B each at 8 × 2048 tokens."""
    w = rl.model("llama-2-7b").train_step(8, 2048)
    ops = {step.name: step.op for step in w.steps}
    for name in ("up", "up dX", "up dW"):
        assert ops[name].intensity == pytest.approx(2525.1, abs=0.05)
    assert sum(ops[name].flops for name in ("up", "up dX", "up dW")) == pytest.approx(
        4.432e12, rel=2e-4
    )


@each_row(1, 64)
def test_eight_gpus_published_speed_up_stays_below_eight(batch):
    """gpt-fast: 3.1 times as fast on 8 GPUs; the link and what is not divided keep it below 8."""
    w = rl.model("llama-2-7b").decode(batch, 105)
    assert 328.43 / 104.9 < w.seconds("a100-sxm-80") / w.seconds("a100-sxm-80", 8, link=300e9) < 8
