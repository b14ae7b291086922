"""explain(): the factors multiply up to what was measured, and the sentence says what was timed."""

from __future__ import annotations

import dataclasses
import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import rooflab as rl
from rooflab.predict.machine import Figure

OPS = [
    rl.axpy(10**6),
    rl.gemv(4096, 4096, "bf16"),
    rl.gemm(8, 11008, 4096, "bf16"),
    rl.gemm(4096, 4096, 4096, "fp16"),
    rl.gemm(64, 64, 64).with_traffic({"dram": 1e9}),
    rl.elementwise("relu", 10**5, "fp16"),
]
HERE = dataclasses.replace(
    rl.machine("h100-sxm"), origin="measured",
    bandwidths={"dram": dict.fromkeys(("read", "axpy", "copy", "update"), Figure(3e12))},
)  # fmt: skip


def layer(seconds=31e-6, **options):
    op = rl.gemm(8, 11008, 4096, "bf16")
    return rl.explain(op, machine="h100-sxm", seconds=seconds, **options)


def test_a_thin_product_on_h100_reaches_87_percent():
    e = layer()
    assert e.rate == pytest.approx(2.92e12, abs=0.005e12)
    assert round(100 * e.share) == 87
    assert e.limit == "memory"
    assert "2.92 TB/s, 87 % of the datasheet roof" in e.sentence
    assert e.bound == rl.Roofline("h100-sxm", "bf16").time(e.op)


def test_a_weight_that_fits_l2_is_named_as_an_l2_timing():
    for op in (rl.gemv(4096, 4096, "bf16"), rl.gemm(1, 4096, 4096, "bf16")):
        e = rl.explain(op, machine="h100-sxm", seconds=7e-6)
        assert e.share > 1
        assert "33.6 MB fits the 50 MB L2: you timed L2" in e.sentence


def test_operands_written_in_place_fit_once():
    """30 MB of vectors, 45 MB of traffic: a 40 MB L2 holds them although the traffic is more."""
    op = rl.axpy(3_750_000)
    assert (op.working_set, op.bytes) == (30_000_000, 45_000_000)
    e = rl.explain(op, machine="a100-sxm-80", seconds=10e-6)
    assert "30.0 MB fits the 40 MB L2: you timed L2" in e.sentence


def test_the_level_named_is_the_nearest_that_holds_the_operands():
    assert "32 MB L2" in rl.explain(rl.axpy(10**6), "mi300x", 1e-6).sentence
    assert "256 MB L3" in rl.explain(rl.axpy(10**7), "mi300x", 1e-6).sentence


def test_too_fast_without_a_cache_to_blame_asks_for_the_count():
    for op in (rl.axpy(10**9), rl.gemm(4096, 4096, 4096, "bf16")):
        e = rl.explain(op, machine="h100-sxm", seconds=1e-6)
        assert "Above 100 %: check the timing, the count" in e.sentence


def test_within_the_roof_nothing_is_suspected():
    assert "timed L2" not in layer().sentence and "Above" not in layer().sentence


@given(st.sampled_from(OPS), st.sampled_from(list(rl.machines())), st.floats(1e-9, 1e3),
       st.sampled_from(["cold", "warm"]))  # fmt: skip
def test_the_factors_multiply_up_to_measured_over_bound(op, name, seconds, cache):
    assume(rl.machine(name).has_peak(op.compute_dtype))
    e = rl.explain(op, machine=name, seconds=seconds, cache=cache)
    assert math.prod(f.factor for f in e.factors) == pytest.approx(seconds / e.bound)
    assert e.share == pytest.approx(e.bound / seconds)
    assert e.limit in ("memory", "compute")
    assert e.factors[-1].name == "unexplained"
    assert all(f.factor > 0 and f.note for f in e.factors)


def test_published_runs_explain_most_of_the_gap():
    e = layer()
    roof = next(f for f in e.factors if f.name == "measured roof")
    assert roof.factor == pytest.approx(3.35 / 2.958, rel=1e-3)  # gpu-roofline's read bandwidth
    assert e.factors[-1].factor == pytest.approx(1.014, abs=0.002)


def test_stated_traffic_is_what_is_explained():
    op = rl.gemm(64, 64, 64).with_traffic({"dram": 3.35e9})
    e = rl.explain(op, machine="h100-sxm", seconds=2e-3)
    assert e.bound == pytest.approx(1e-3) and e.rate == pytest.approx(3.35e9 / 2e-3)
    assert e.factors[0].factor == pytest.approx(3.35 / 2.958, rel=1e-3)


def test_compute_bound_work_is_rated_in_flops():
    op = rl.gemm(8192, 8192, 8192, "bf16")
    e = rl.explain(op, machine="h100-sxm", seconds=op.flops / 794.5e12)
    assert e.limit == "compute" and e.rate == pytest.approx(794.5e12)
    assert "794 TFLOP/s, 80 % of the datasheet roof" in e.sentence
    assert e.factors[-1].factor == pytest.approx(1.0)  # the published best, exactly


def test_a_machine_without_published_runs_has_no_measured_roof():
    e = rl.explain(rl.axpy(10**6), machine="mi250x-gcd", seconds=1e-4)
    assert "measured roof" not in [f.name for f in e.factors]


def called(m, seconds: float, n: int = 8, cache: str = "warm"):
    return rl.explain(rl.gemm(n, n, n), m, seconds, cache=cache)


def test_where_the_call_is_most_of_the_time_it_is_the_limit() -> None:
    roofs = dataclasses.replace(
        rl.machine("h100-sxm"), origin="measured", name="A named one",
        routines={"gemm/fp32": {"overhead_s": 2e-6, "cold_overhead_s": 8e-6, "points": []}},
    )  # fmt: skip
    assert "limited by the call (2.00 µs of 2.20 µs)." in called(roofs, 2.2e-6).sentence
    assert "limited by the call (8.00 µs of 9.00 µs)." in called(roofs, 9e-6, cache="cold").sentence
    assert "limited by the call (usually 2.00 µs)." in called(roofs, 1.9e-6).sentence
    assert called(roofs, 2.2e-6).limit == "memory", "the field is that of the bound"
    assert "limited by memory." in called(roofs, 9e-6).sentence, "the rest is something else"
    assert "limited by compute." in called(roofs, 1e-2, n=4096).sentence
    assert "on A named one:" in called(roofs, 1e-6).sentence


def test_a_measurement_brings_its_own_time_and_machine():
    timed = SimpleNamespace(op=OPS[2], machine="nvidia-h100-sxm", cache="cold", median_s=31e-6)
    assert rl.explain(timed) == layer()
    assert rl.explain(timed, machine="h200-sxm").machine.id == "nvidia-h200-sxm"
    elsewhere = SimpleNamespace(op=OPS[2], machine="my-desk", cache="cold", median_s=31e-6)
    with pytest.raises(TypeError, match=r"machine=None: say which, such as .*rl\.this_machine"):
        rl.explain(elsewhere)


def test_an_explanation_prints_a_line_a_factor():
    lines = str(layer()).splitlines()
    assert lines[0] == layer().sentence
    assert len(lines) == 1 + len(layer().factors)
    assert layer(np.float32(31e-6)).rate == pytest.approx(layer().rate, rel=1e-6)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((3, "h100-sxm", 1.0), TypeError, "measured=3 must be a Measurement or an Operation"),
        ((None, "h100-sxm", 1.0), TypeError, "measured=None must be"),
        ((OPS[0], None, 1.0), TypeError, "machine=None: say which, such as 'h100-sxm'"),
        ((OPS[0], "h100", 1.0), ValueError, "machine='h100' is vague"),
        ((OPS[0], "h100-sxm", None), TypeError, "seconds=None must be the measured time"),
        ((OPS[0], "h100-sxm", "31us"), TypeError, "seconds='31us' must be the measured time"),
        ((OPS[0], "h100-sxm", True), TypeError, "seconds=True must be"),
        ((OPS[0], "h100-sxm", 0), ValueError, "seconds=0 must be a positive time in seconds"),
        ((OPS[0], "h100-sxm", -1e-6), ValueError, "seconds=-1e-06 must be a positive time"),
        ((OPS[0], "h100-sxm", math.nan), ValueError, "seconds=nan must be a positive time"),
        ((OPS[0], "h100-sxm", math.inf), ValueError, "seconds=inf must be a positive time"),
        ((rl.gemm(8, 8, 8, "fp8"), "a100-sxm-80", 1.0), ValueError, "has no fp8_e4m3 peak; it has"),
    ],
)
def test_bad_questions_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        rl.explain(*arguments)


def test_unknown_cache_states():
    with pytest.raises(ValueError, match="cache='hot' is unknown; .*Known: cold, warm"):
        layer(cache="hot")


@pytest.mark.parametrize(
    ("op", "said"),
    [
        (rl.gemm(512, 512, 512), "roof of two reads to a write"),
        (rl.gemv(4096, 4096), "roof of reading only"),
        (rl.axpy(10**7), "roof of two reads to a write"),
        (rl.elementwise("relu", 10**7), "roof of a read to a write"),
        (rl.scale(10**7), "roof of a read to a write in place"),
    ],
)
def test_the_mix_is_told_in_reads_and_writes(op, said):
    """Not by the name of the loop it was measured with: "axpy mix" of a GEMM."""
    e = rl.explain(op, HERE, 1.0)
    note = next(f.note for f in e.factors if f.name == "level and mix")
    assert note.endswith(said) and " mix" not in note


@given(st.sampled_from(OPS), st.sampled_from(list(rl.machines())))
def test_a_datasheet_has_one_roof_for_every_mix(op, name):
    assume(rl.machine(name).has_peak(op.compute_dtype))
    e = rl.explain(op, name, 1.0)
    assert "one roof for reading and writing" in str(e)


def test_cold_operands_were_in_no_cache_whatever_fits():
    """Above a measured roof, it is the roof that was low: a busy neighbour, say."""
    cold, warm = (
        SimpleNamespace(op=rl.gemv(4096, 4096, "bf16"), machine="", median_s=7e-6, cache=cache)
        for cache in ("cold", "warm")
    )
    assert "measured in a busier moment" in rl.explain(cold, HERE).sentence
    assert "you timed L2" in rl.explain(warm, HERE).sentence
    assert "you timed L2" in rl.explain(cold, "h100-sxm").sentence
