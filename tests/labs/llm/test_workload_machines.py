"""Workloads on unusual machines and in unusual sizes: one peak, measured roofs, odd numbers."""

from __future__ import annotations

import pytest

import rooflab as rl
from tests.support.rows import each_row

LLAMA = rl.model("llama-2-7b")
OWN = rl.Machine("own", "Own", "gpu", peaks={"bf16": 1e14}, bandwidths={"dram": 1e12})
BOUNDS = ("max-of-sum", "sum-of-max", "no-overlap")


def test_a_call_costs_what_it_costs_in_the_format_computed_in():
    """A CPU computes bf16 weights in fp32: its fp32 products' calls count, not zero."""
    m = rl.recording("epyc-2core-vm").machine
    stored, plain = (
        sum(p.call for p in LLAMA.decode(1, 9, kind, kind).time(m).parts)
        for kind in ("bf16", "fp32")
    )
    assert stored == plain > 0
    assert plain == pytest.approx((7 * 32 + 1) * m.routines["gemm/fp32"]["overhead_s"])


def test_the_memory_roof_is_the_drawn_one_that_no_mix_passes():
    m = rl.recording("epyc-2core-vm").machine
    w = LLAMA.decode(1, 9, "fp32", "fp32")
    carried = sum(p.memory for p in w.time(m).parts)
    assert carried == pytest.approx(w.bytes / m.bandwidth(mix="read"))


@each_row(("bf16", ()), ("int8", ()), ("int4", ()), ("nvfp4", ()), ("fp16", ("fp16",)))
def test_a_machine_with_one_peak_computes_everything_in_it(weights, computed):
    for w in (LLAMA.decode(300, 9, weights), LLAMA.prefill(2, 90, weights)):
        timing = w.time(OWN, 2, link=1e11)
        said = {note.split()[3] for note in timing.notes if "computed in bf16" in note}
        assert said == {"fp32", *computed}  # norms are computed in fp32
        assert w.limits(OWN)["up"] == "compute"
    assert LLAMA.decode(1, 9, weights).explain(OWN, 20).share > 0
    assert LLAMA.decode(1, 9).fits(OWN) is None


def test_a_machine_of_narrow_formats_computes_norms_in_them_and_products_in_none_of_them():
    tpu = rl.Machine("tpu", peaks={"int8": 3.94e14}, bandwidths=8.2e11)
    w = LLAMA.decode(240, 1, "int8", "int8", "int8")
    assert "tpu lists no fp32 peak: computed in int8" in w.time(tpu).notes
    assert w.limits(tpu)["up"] == "memory:weights"
    with pytest.raises(ValueError, match="tpu has no peak for bf16; it has int8$"):
        LLAMA.decode(240, 1, "int8", "int8", "bf16").seconds(tpu)
    with pytest.raises(ValueError, match=r"bare has no peak for fp32; give it peaks=\{'bf16': …\}"):
        w.seconds(rl.Machine("bare", bandwidths=1e12))


@each_row(
    ("nf4", 4), ("e4m3", 8), ("torch.float8_e5m2", 8), ("q4_0", 4.5), ("q8_0", 8.5), ("int3", 3),
    ("uint8", 8), ("mxfp8", 8.25), ("iq4_xs", 4.25)
)  # fmt: skip
def test_every_format_that_people_serve_in_is_timed(kind, bits):
    w = LLAMA.decode(2, 300, weights=kind, kv=kind)
    moved = w.traffic["weights"] + w.traffic["kv"]
    plain = LLAMA.decode(2, 300, weights="int8", kv="int8")
    whole = plain.traffic["weights"] + plain.traffic["kv"]
    assert moved == pytest.approx(whole * bits / 8, rel=2e-2 if bits % 1 else 1e-5)
    assert w.formats.activations == "bf16"
    there = w.on("h100-sxm")
    assert there.traffic["weights"] == w.traffic["weights"]
    assert w.seconds("h100-sxm") == pytest.approx(there.bytes / 3.35e12, rel=1e-6)  # memory-bound
