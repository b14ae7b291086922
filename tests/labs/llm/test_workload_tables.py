"""Tables of other authors, each from the assumptions that it states, to the precision it prints.

Most divide every parameter and the cache by the bandwidth: that is ``w.memory``. A few leave the
embedding table out, as a decode step does: ``w.traffic`` has that one. Where a table says 7e9 or
70e9 parameters and not the model's exact number, the test says what it makes of it.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

import rooflab as rl
from tests.support.rows import each_row


def by_table(w, machine, devices=1):
    """Seconds to read all parameters and the cache once, shared out evenly."""
    return (w.memory["weights"] + w.memory["kv"]) / rl.machine(machine).bandwidth() / devices


def reading(w, machine):
    """Seconds to read the weights, and of an operation to compute and to read them, by its name."""
    parts = w.time(machine).parts
    each = {part.name: (part.compute, part.carry["weights"]) for part in parts}
    return sum(weights for _, weights in each.values()), each


# Austin et al., "How to scale your model" (jax-ml/scaling-book), inference.md and
# applied-inference.md: TPU v5e at 8.2e11 byte/s and 1.97e14 bf16 FLOP/s, 16e9 bytes.
V5E = rl.Machine("v5e", peaks={"bf16": 1.97e14}, bandwidths=8.2e11, capacities=16e9)


@each_row((1, 4.98, 200.61), (240, 249.09, 963.53))
def test_llama_2_13b_at_context_8192_on_eight_tpu_v5e(batch, milliseconds, tokens_per_s):
    """It rounds 26.03 GB of weights to 26, 6.71 GB of cache to 6.7: hence 0.3 % and not 0.01 %."""
    w = rl.model("llama-2-13b").decode(batch, 8192)
    assert by_table(w, V5E, 8) * 1e3 == pytest.approx(milliseconds, rel=3e-3)
    assert w.tokens / by_table(w, V5E, 8) == pytest.approx(tokens_per_s, rel=3e-3)
    printed = 26e9 + batch * 6.7e9
    moved = w.model.weight_bytes() + w.model.kv_bytes(batch, 8192)
    assert moved == pytest.approx(printed, rel=3e-3)


@each_row(
    ("bf16", None, 240), ("int8", "bf16", 120), ("int8", None, 240), ("int4", None, 60),
    ("int8", "int8", 240),
)  # fmt: skip
def test_critical_batch_of_a_tpu_v5e(weights, activations, knee):
    """240 in bf16, 120 and 60 with quantised weights, 240 again with int8 × int8."""
    m = rl.model("llama-3-70b")
    for batch, computes in ((knee, False), (knee + 1, True)):
        _, each = reading(m.decode(batch, 1, weights, activations=activations), "tpu-v5e")
        assert (each["up"][0] >= each["up"][1]) is computes


def test_llama_3_70b_on_the_smallest_slices():
    """4×4, 4×2 and 2×2 chips for bf16, int8, int4, each with room for some 43 caches of 8192.

    Printed: 43, 52 and 67; the last two follow from 68 and 19 GB that remain, a slip, for
    128 − 70 is 58 and 64 − 35 is 29. 162 kB a token is 163,840 bytes. The cache is shared out
    evenly there, by sequences, where 16 chips have no 16 heads.
    """
    m = rl.model("llama-3-70b")
    assert m.kv_bytes(1, 1, "int8") == 163_840
    for kind, chips in (("bf16", 16), ("int8", 8), ("int4", 4)):
        room = V5E.capacities["dram"]
        steps = {b: m.decode(b, 8192, kind, kind).memory for b in range(1, 99)}
        each = {b: (held["weights"] + held["kv"]) / chips + held["activations"]
                for b, held in steps.items()}  # fmt: skip
        assert max(b for b in each if each[b] <= room) == 42  # 43 with 70e9 parameters
        assert not m.decode(1, 8192, kind, kind).fits(V5E, chips // 2)
        full = by_table(m.decode(43, 8192, kind, kind), V5E, chips)
        assert full * 1e3 == pytest.approx(19.5, rel=0.015)  # a memory's worth: "19 ms"


# Stanford CS336 (2025), lecture 10, compute_transformer_stats: an H100 at 3.35e12 byte/s, context
# 1024, 2VD + … parameters.
@each_row((40, 1, 26.87, 8.02, 124.7), (8, 256, 65.63, 19.59, 13068.2))
def test_cs336_llama_2_13b_on_an_h100(kv_heads, batch, gigabytes, milliseconds, tokens_per_s):
    """All of it, to the last digit but that of the norms, which it does not count (3e-5)."""
    m = replace(rl.model("llama-2-13b"), kv_heads=kv_heads)
    w = m.decode(batch, 1024)
    assert m.weight_bytes() + w.traffic["kv"] == pytest.approx(gigabytes * 1e9, rel=2e-4)
    seconds = by_table(w, "h100-sxm")
    assert seconds * 1e3 == pytest.approx(milliseconds, abs=0.006)
    assert w.tokens / seconds == pytest.approx(tokens_per_s, rel=1e-4, abs=0.06)


# kipply, "Transformer inference arithmetic" (2022): A100 at 312e12 FLOP/s, 1.5e12 byte/s, 300e9
# byte/s between GPUs; 12·layers·d² parameters, the tables left out.
A100 = rl.Machine("a100", peaks={"bf16": 312e12}, bandwidths=1.5e12)
FIFTY_TWO = rl.Model(8192, 64, 64, gated=False, vocab=1)
GOPHER = rl.Model(16384, 80, 128, gated=False, vocab=1)


def test_kipply_52b():
    w = FIFTY_TWO.decode(1, 1)
    flops = {op.name: op.flops for op in w.operations}
    assert flops["k"] + flops["v"] == 17_179_869_184
    assert sum(flops[p.name] for p in FIFTY_TWO.products) - flops["head"] == 103_079_215_104
    assert FIFTY_TWO.kv_bytes(1, 1) == 2_097_152
    assert 16e9 / FIFTY_TWO.kv_bytes(1, 1) == pytest.approx(8000, rel=0.05)
    assert reading(w, A100)[0] * 1e3 == pytest.approx(69, abs=0.5)
    for batch, computes in ((207, False), (208, True)):
        _, each = reading(FIFTY_TWO.decode(batch, 1), A100)
        assert (each["up"][0] >= each["up"][1]) is computes


def test_kipply_communication():
    """18 ms at batch 512, where (N − 1)/N is rounded to 1: a ring all-reduce sends 15/16 of it."""
    w = GOPHER.decode(512, 1)
    sent = w.seconds(A100, 16, link=300e9) - w.seconds(A100, 16)
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
    step = by_table(m.decode(1, 2048), "h100-sxm")
    assert step == pytest.approx((141e9 + 0.6e9) / 3350e9, rel=2e-3)
    w = m.decode(1, 1)
    sent = w.seconds("h100-sxm", 4, link=450e9) - w.seconds("h100-sxm", 4)
    assert sent == pytest.approx(8.7e-6, rel=5e-3)  # "8 or 9 µs"
