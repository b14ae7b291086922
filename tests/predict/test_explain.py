"""explain(): the factors multiply up to what was measured, and the sentence says what was timed."""

from __future__ import annotations

import dataclasses
import math
import re
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import rooflab as rl
from rooflab.predict.explain import explain
from rooflab.predict.machine import Figure
from tests.support.rows import each_row

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
        assert re.search(r"Above 100 %: check the timing( \(.*\))?(,| and) the count", e.sentence)


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


@given(st.sampled_from(OPS), st.floats(1e-9, 1e3), st.floats(0, 1e3))
def test_new_pages_come_on_top_of_what_was_predicted(op, seconds, waiting):
    e, predicted = explain(op, HERE, seconds, pages=(waiting, "n")), rl.predict(op, HERE).seconds
    *_, pages, rest = e.factors
    assert (pages.name, pages.factor) == ("new pages", pytest.approx(1 + waiting / predicted))
    assert rest.factor == pytest.approx(seconds / (predicted + waiting))
    assert math.prod(f.factor for f in e.factors) == pytest.approx(seconds / e.bound)


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


@each_row(
    ((3, "h100-sxm", 1.0), TypeError, "measured=3 must be a Measurement or an Operation"),
    ((None, "h100-sxm", 1.0), TypeError, "measured=None must be"),
    ((OPS[0], None, 1.0), TypeError, "machine=None: say which, such as 'h100-sxm'"),
    ((OPS[0], "h100", 1.0), ValueError, "machine='h100' is vague"),
    ((OPS[0], "h100-sxm", None), TypeError, "seconds=None must be a positive time"),
    ((OPS[0], "h100-sxm", "31us"), TypeError, "seconds='31us' must be a positive time"),
    ((OPS[0], "h100-sxm", True), TypeError, "seconds=True must be"),
    ((OPS[0], "h100-sxm", 0), ValueError, "seconds=0 must be a positive time in seconds"),
    ((OPS[0], "h100-sxm", -1e-6), ValueError, "seconds=-1e-06 must be a positive time"),
    ((OPS[0], "h100-sxm", math.nan), ValueError, "seconds=nan must be a positive time"),
    ((OPS[0], "h100-sxm", math.inf), ValueError, "seconds=inf must be a positive time"),
    ((rl.gemm(8, 8, 8, "fp8"), "a100-sxm-80", 1.0), ValueError, "has no fp8_e4m3 peak; it has"),
)
def test_bad_questions_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        rl.explain(*arguments)


def test_unknown_cache_states():
    with pytest.raises(ValueError, match="cache='hot' is unknown; .*Known: cold, warm"):
        layer(cache="hot")


@each_row(
    (rl.gemm(512, 512, 512), "roof of two reads to a write"),
    (rl.gemv(4096, 4096), "roof of reading only"),
    (rl.axpy(10**7), "roof of two reads to a write"),
    (rl.elementwise("relu", 10**7), "roof of a read to a write"),
    (rl.scale(10**7), "roof of a read to a write in place"),
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


# What may stand behind a time above the roof -----------------------------------------------------


def test_a_product_larger_than_l2_may_still_have_read_some_of_it_there():
    """64×8192×8192 in fp16: 136 MB in 31 µs, of which 3.35 TB/s carries 104 MB."""
    op = rl.gemm(64, 8192, 8192, "fp16")
    cold = rl.explain(op, "h100-sxm", 31e-6).sentence
    assert "32.5 MB of 136 MB cannot have come from DRAM, and the 50 MB L2 can hold that" in cold
    assert cold.endswith("Was it emptied before each call?")
    warm = rl.explain(op, "h100-sxm", 31e-6, cache="warm").sentence
    assert "The operands were left warm: 32.5 MB of 136 MB" in warm
    assert "Was it emptied" not in warm


def test_what_no_cache_can_hold_is_a_mistake():
    said = rl.explain(rl.gemm(64, 8192, 8192, "fp16"), "h100-sxm", 20e-6).sentence
    assert "69.3 MB cannot have come from DRAM, more than the 50 MB L2 holds" in said
    assert "check the timing, the count" in said
    bare = rl.Machine("bare", peaks={"fp32": 1e13}, bandwidths=1e12)
    assert "no cache is known here" in rl.explain(rl.axpy(10**9), bare, 1e-3).sentence


@each_row(
    ("bf16", 1.5e15, "(fp8 and int8 can be that fast here)", "boosts"),
    ("bf16", 1.5e15, "whether the figure is dense (sparse products count twice)", "boosts"),
    ("fp8", 3e15, "whether the figure is dense", "can be that fast"),
    ("bf16", 9e15, "a launch returns at once: did the clock wait for the work?", "dense"),
    ("tf32", 6e14, "(bf16 and fp16 and fp8 and int8 can be that fast here)", "boosts"),
    ("fp32", 1e14, "fp16 and fp8 and int8 and tf32 can be that fast here)", "fp64"),
)
def test_above_the_peak_the_format_and_the_kind_of_peak_are_asked_for(kind, rate, said, unsaid):
    op = rl.gemm(8192, 8192, 8192, kind)
    e = rl.explain(op, "h100-sxm", op.flops / rate)
    assert e.limit == "compute"
    assert said in e.sentence
    assert unsaid not in e.sentence


def test_a_little_above_a_datasheets_peak_the_clock_is_named():
    op = rl.gemm(8192, 8192, 8192, "bf16")
    said = rl.explain(op, "h100-sxm", op.flops / (1.18 * 989.4e12)).sentence
    assert "the clock (a datasheet's peak is that of one, and a card may boost past it)" in said


def test_a_card_that_boosts_past_its_datasheet_is_no_mistake():
    op = rl.gemm(8192, 8192, 8192, "bf16")
    said = rl.explain(op, "rtx-5090", op.flops / 2.3e14).sentence
    assert "Published runs reach 242 TFLOP/s: the card boosts past its datasheet." in said


def test_above_a_measured_peak_another_unit_may_have_computed():
    """BLAS on a matrix unit that the vector roof was not measured on, as on an M-series chip."""
    m4 = dataclasses.replace(
        rl.machine("apple-m4"), origin="measured", peaks={"fp32": Figure(1.2e11)}, measured={}
    )
    op = rl.gemm(2048, 2048, 2048)
    said = rl.explain(op, m4, op.flops / 1.5e12).sentence
    assert "a library uses a unit that the roof was not measured on" in said


@each_row(
    (rl.axpy(16_777_216), 0.8, "67.1 MB of them fit the 300 MB last-level cache"),
    (rl.axpy(16_777_216), 0.5, "measured in a busier moment"),  # more than the results saves
    (rl.gemv(16_384, 16_384), 0.8, "measured in a busier moment"),  # it writes next to nothing
)
def test_results_may_stay_dirty_in_a_large_cache(op, share, said):
    """Cold operands, and yet too fast: what was written need not have reached the memory."""
    server = dataclasses.replace(
        rl.machine("intel-xeon-8480p"), origin="measured", capacities={"l3": 300 * 2**20},
        peaks={"fp32": Figure(1e13)},
        bandwidths={"dram": dict.fromkeys(("read", "axpy", "copy", "update"), Figure(2e10))},
    )  # fmt: skip
    timed = SimpleNamespace(op=op, machine="", median_s=share * op.bytes / 2e10, cache="cold")
    assert said in rl.explain(timed, server).sentence


@each_row(
    (rl.gemm(8192, 8192, 8192, "bf16"), "mi300x", "reach 668 TFLOP/s of 1.31 PFLOP/s"),
    (rl.axpy(10**9), "mi300x", "reach 4.20 TB/s of 5.30 TB/s"),
    (rl.gemm(8192, 8192, 8192, "fp16"), "a10g", None),
)
def test_the_published_roof_named_is_the_one_that_binds(op, name, said):
    notes = [f.note for f in rl.explain(op, name, 1.0).factors if f.name == "measured roof"]
    assert notes == [f"published runs {said}"] if said else notes == []


def test_a_compute_dtype_may_be_a_name():
    """Every other format may; it used to be taken and to fail here, far from the mistake."""
    x = rl.axpy(1000).operands
    op = rl.Operation("mine", {"n": 1000}, x, 2000, compute_dtype="fp32")
    assert op == rl.Operation("mine", {"n": 1000}, x, 2000, rl.dtype("fp32"))
    assert rl.explain(op, "h100-sxm", 1e-3).op.compute_dtype.family == "fp32"
    assert rl.Operation.from_dict(op.to_dict()) == op
    with pytest.raises(ValueError, match="compute_dtype='fp33' is unknown; did you mean 'fp32'"):
        rl.Operation("mine", {"n": 1000}, x, 2000, compute_dtype="fp33")
    with pytest.raises(TypeError, match="compute_dtype=32 is a int"):
        rl.Operation("mine", {"n": 1000}, x, 2000, compute_dtype=32)
    with pytest.raises(ValueError, match="unit='tensors' is unknown; did you mean 'tensor'"):
        rl.Operation("mine", {"n": 1000}, x, 2000, "fp32", unit="tensors")
