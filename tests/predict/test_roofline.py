"""The roofline: worked times, and the laws of a bound."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rooflab as rl
from tests.support.rows import each_row

catalogue = st.sampled_from(list(rl.machines().values()))
intensities = st.floats(1e-6, 1e9)


@each_row(
    (1, 17.02, 0.069), (8, 17.06, 0.552), (64, 17.38, 4.416), (256, 18.47, 17.66),
    (2048, 28.69, 141.3), (16384, 110.4, 1130)
)  # fmt: skip
def test_times_of_a_layer_on_mi300x(batch, carrying, computing):
    op = rl.gemm(batch, 11008, 4096, "fp16")
    roof = rl.Roofline("mi300x", "fp16")
    assert op.bytes / roof.bandwidth * 1e6 == pytest.approx(carrying, rel=5e-4)
    assert op.flops / roof.peak * 1e6 == pytest.approx(computing, rel=8e-3)
    assert roof.time(op) == max(op.bytes / roof.bandwidth, op.flops / roof.peak)
    assert roof.limit(op) == ("memory" if carrying > computing else "compute")


@each_row(
    (1, "fp32", 20.0, "memory"), (1, "bf16", 10.0, "memory"),
    (1, "fp8", 5.0, "memory"), (128, "fp32", 64.1, "compute"),
    (128, "tf32", 21.3, "memory"), (128, "bf16", 10.6, "memory"),
    (256, "fp32", 128, "compute"), (256, "tf32", 22.5, "memory"),
    (256, "bf16", 11.3, "memory"), (512, "tf32", 34.7, "compute"),
    (512, "bf16", 17.4, "compute"), (512, "fp8", 8.7, "compute"),
    (4096, "fp32", 2051, "compute"), (4096, "bf16", 139, "compute"),
    (4096, "fp8", 69, "compute"),
)  # fmt: skip
def test_a_dtype_can_turn_the_verdict_on_h100(m, dtype, microseconds, limit):
    """At M = 128 fp32 is compute-bound and bf16 memory-bound, and six times as fast."""
    op, roof = rl.gemm(m, 4096, 4096, dtype), rl.Roofline("h100-sxm", dtype)
    assert roof.time(op) * 1e6 == pytest.approx(microseconds, rel=0.008)
    assert roof.limit(op) == limit


def test_a_token_of_a_7b_model_on_a_4090():
    """14 GB over 1008 GB/s is 72.0 tokens a second; int4 weights allow 288."""
    for dtype, tokens in [("fp16", 72.0), ("int4", 288.0)]:
        seconds = rl.gemv(10**5, 7 * 10**4, dtype).operands[0].nbytes / 1.008e12
        assert 1 / seconds == pytest.approx(tokens, rel=1e-3)
    decode = rl.Roofline("rtx-4090", "fp16").time(rl.gemv(10**5, 7 * 10**4, "fp16"))
    assert decode == pytest.approx(13.89e-3, rel=1e-3)


@each_row((0.0833, 0.4415), (0.25, 1.325), (1, 5.3), (10, 53), (100, 530))
def test_points_of_the_mi300x_roofline(intensity, tera):
    roof = rl.Roofline("mi300x", "fp16")
    assert roof.attainable(intensity) == pytest.approx(tera * 1e12, rel=1e-3)
    assert roof.attainable(300) == roof.peak == 1307.4e12


@given(catalogue, intensities, st.floats(1.0, 1e3))
def test_attainable_never_falls_and_has_two_straight_parts(m, intensity, factor):
    roof = rl.Roofline(m, next(iter(m.peaks)).partition("_")[0])
    low, high = roof.attainable(intensity), roof.attainable(intensity * factor)
    assert low <= high <= roof.peak
    assert low == min(roof.peak, intensity * roof.bandwidth)
    assert roof.attainable(roof.ridge) == pytest.approx(roof.peak)
    assert roof.attainable(roof.ridge / 2) == pytest.approx(roof.peak / 2)
    assert roof.attainable(0) == 0 and roof.attainable(math.inf) == roof.peak


@given(catalogue, st.integers(1, 10**6), st.integers(1, 10**6), st.integers(1, 10**6))
def test_time_limit_and_attainable_tell_one_story(m, rows, columns, inner):
    dtype = next(iter(m.peaks)).partition("_")[0]
    roof, op = rl.Roofline(m, dtype), rl.gemm(rows, columns, inner, dtype)
    assert roof.time(op) == pytest.approx(op.flops / roof.attainable(op.intensity))
    assert (roof.limit(op) == "memory") == (op.intensity < roof.ridge)
    assert roof.time(op) <= op.flops / roof.peak + op.bytes / roof.bandwidth <= 2 * roof.time(op)


@given(st.floats(1, 1e15), st.floats(1, 100))
def test_more_bytes_never_take_less_time(nbytes, factor):
    op, roof = rl.gemm(512, 512, 512, "bf16"), rl.Roofline("h100-sxm", "bf16")
    less, more = (op.with_traffic({"dram": amount}) for amount in (nbytes, nbytes * factor))
    assert roof.time(less) <= roof.time(more)
    assert rl.HierarchicalRoofline("h100-sxm", "bf16").time(less) == roof.time(less)


def test_on_the_ridge_is_compute():
    roof = rl.Roofline("h100-sxm", "bf16")
    op = rl.gemm(4096, 4096, 4096, "bf16")
    on = op.with_traffic({"dram": op.flops / roof.ridge})
    assert on.intensity_at("dram") == pytest.approx(roof.ridge)
    above = op.with_traffic({"dram": op.flops / roof.ridge * 1.001})
    below = op.with_traffic({"dram": op.flops / roof.ridge * 0.999})
    assert (roof.limit(above), roof.limit(below)) == ("memory", "compute")


def test_levels_of_a_roofline():
    near, far = rl.Roofline("mi250x-gcd", "fp16", "l2"), rl.Roofline("mi250x-gcd", "fp16")
    assert near.ridge == pytest.approx(191.5 / 6.96) and near.ridge < far.ridge
    op = rl.axpy(10**5, "fp16").with_traffic({"l2": 10**9})
    assert near.time(op) == 10**9 / 6.96e12
    assert far.time(op) == op.bytes / 1.6384e12


def three_levels():
    mixes = {"l1": 4e11, "l2": 2e11, "l3": 1e11, "dram": 2e10}
    bandwidth = {level: {"read": {"value": rate}} for level, rate in mixes.items()}
    roofs = {"backend": "cpu", "threads": 1, "measured_on": "2026-11-21T10:00:00Z",
             "peak": {"fp32": {"value": 1e11}}, "bandwidth": bandwidth,
             "capacity": {"l1": 2**15, "l2": 2**20, "l3": 2**25}}  # fmt: skip
    return rl.Machine.from_roofs(roofs, id="three", name="Three caches")


@each_row(
    ({"l1": 1, "l2": 1, "l3": 1, "dram": 1}, 2 * 512**3 / 1e11, "compute"),
    ({"l1": 4e10, "l2": 1, "l3": 1, "dram": 1}, 0.1, "l1"),
    ({"l1": 1, "l2": 4e10, "l3": 1, "dram": 1}, 0.2, "l2"),
    ({"l1": 4e10, "l2": 4e10, "l3": 3e10, "dram": 1}, 0.3, "l3"),
    ({"l1": 4e10, "l2": 4e10, "l3": 3e10, "dram": 8e9}, 0.4, "dram"),
)
def test_the_slowest_level_sets_the_time(traffic, seconds, limit):
    roof = rl.HierarchicalRoofline(three_levels(), "fp32")
    op = rl.gemm(512, 512, 512).with_traffic(traffic)
    assert roof.time(op) == pytest.approx(seconds)
    assert roof.limiting_level(op) == limit


def test_hierarchy_with_minimum_traffic_is_the_dram_roofline():
    m, op = three_levels(), rl.axpy(10**6)
    assert rl.HierarchicalRoofline(m, "fp32").time(op) == rl.Roofline(m, "fp32").time(op)
    assert rl.HierarchicalRoofline(m, "fp32").limiting_level(op) == "dram"
    assert set(rl.HierarchicalRoofline(m, "fp32").times(op)) == {"compute", *m.levels}


def test_a_roofline_is_a_value():
    one = rl.Roofline("h100-sxm", "bf16")
    assert one == rl.Roofline(rl.machine("H100-SXM"), rl.dtype("bfloat16"), "DRAM")
    assert pickle.loads(pickle.dumps(one)) == one and hash(one)
    assert one.machine.id == "nvidia-h100-sxm"
    assert one.attainable(np.float32(0.5)) == 0.5 * 3.35e12


@each_row(rl.Roofline, rl.HierarchicalRoofline)
@each_row(
    (("h100", "bf16"), ValueError, "machine='h100' is vague"),
    ((None, "bf16"), TypeError, "machine=None must be a machine's name"),
    (("h100-sxm", "bf61"), ValueError, "dtype='bf61' is unknown; did you mean"),
    (("h100-sxm", 16), TypeError, "dtype=16 is a int"),
    (("a100-sxm-80", "fp8"), ValueError, "nvidia-a100-sxm-80 has no fp8_e4m3 peak; it has"),
)
def test_a_roofline_needs_a_machine_with_the_figure(arguments, error, message, kind):
    with pytest.raises(error, match=message):
        kind(*arguments)


@each_row(
    ({"level": "l2"}, "nvidia-h100-sxm has no l2 bandwidth; levels with one: dram"),
    ({"level": "l5"}, "level='l5' is unknown"),
    ({"unit": "matrix"}, "unit='matrix' is unknown"),
    ({"unit": "vector"}, "nvidia-h100-sxm has no bf16 vector peak"),
    ({"mix": "triad"}, "mix='triad' is unknown"),
)
def test_a_roofline_needs_a_level_a_unit_and_a_mix(options, message):
    with pytest.raises(ValueError, match=message):
        rl.Roofline("h100-sxm", "bf16", **options)


@each_row("3", None, True, [1.0], 1j)
def test_intensities_are_numbers(value):
    with pytest.raises(TypeError, match="intensity=.* must be a number of FLOP/byte, 0 or more"):
        rl.Roofline("h100-sxm", "bf16").attainable(value)


@each_row(-1, -1e-9, math.nan)
def test_intensities_are_not_negative(value):
    with pytest.raises(ValueError, match="intensity=.* must be a number of FLOP/byte, 0 or more"):
        rl.Roofline("h100-sxm", "bf16").attainable(value)


@each_row(5, None, "gemm")
def test_only_operations_have_a_time(value):
    roof, deep = rl.Roofline("b200", "bf16"), rl.HierarchicalRoofline("b200", "bf16")
    for method in (roof.time, roof.limit, deep.time, deep.limiting_level):
        with pytest.raises(TypeError, match=f"op={value!r} must be an Operation"):
            method(value)


def test_a_machine_without_bandwidth_has_no_roofline():
    bare = rl.Machine("bare", "Bare", "cpu", peaks={"fp32": rl.Figure(1e12, unit="vector")})
    with pytest.raises(ValueError, match="bare has no memory level with a bandwidth"):
        rl.HierarchicalRoofline(bare, "fp32")
    with pytest.raises(ValueError, match="bare has no dram bandwidth; levels with one: none"):
        rl.Roofline(bare, "fp32")


def test_an_operation_beyond_all_floats_is_counted_but_not_timed():
    op = rl.gemm(10**200, 10**200, 10**200)
    assert op.intensity == pytest.approx(1e200 / 6)
    for time in (
        rl.Roofline("h100-sxm", "fp32").time,
        rl.HierarchicalRoofline("h100-sxm", "fp32").time,
        lambda op: rl.predict(op, "h100-sxm"),
        lambda op: rl.explain(op, "h100-sxm", 1.0),
    ):
        with pytest.raises(ValueError, match=r"op: gemm of .*e600 .* beyond any time"):
            time(op)
    assert rl.Roofline("h100-sxm", "fp32").attainable(10**400) == rl.machine("h100-sxm").peak(
        "fp32"
    )
