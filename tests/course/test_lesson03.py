"""Lesson 03: the facts behind its answers, and that other right answers are accepted."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rooflab as rl
from rooflab.course.lesson03.exercises import AMD, LOG, NVIDIA, peak_and_bandwidth
from rooflab.exercises.judge import judge
from rooflab.exercises.observe.collect import collect
from rooflab.exercises.registry import exercise

SEEDS = [0, *range(200, 225)]
time = exercise("03-time").reference
ridge, attainable = exercise("03-time").given
rates = st.floats(1e6, 1e17)
amounts = st.integers(1, 10**15)


def verdict(id, answer, seed):
    found = exercise(id)
    cases = found.draw(seed)
    return judge(found, cases, collect(found.kind, cases, answer))


def test_ridges_are_the_published_ones():
    for name, dtype, published in (
        ("h200-sxm", "bf16", 206), ("rtx-4090", "fp64", 1.28), ("a100-sxm-80", "fp64", 4.76),
        ("a100-sxm-80", "fp32", 9.56), ("mi300x", "fp16", 246.6), ("l4", "fp16", 403),
    ):  # fmt: skip
        assert ridge(*peak_and_bandwidth(name, dtype)) == pytest.approx(published, rel=0.005)


def test_at_eight_flop_per_byte_a_4090_gives_a_tenth_of_its_fp32_peak():
    peak, bandwidth = peak_and_bandwidth("rtx-4090", "fp32")
    assert attainable(8, peak, bandwidth) / peak == pytest.approx(0.098, abs=0.0005)


@given(flops=amounts, bytes=amounts, peak=rates, bandwidth=rates)
def test_time_is_flops_over_attainable_and_lies_between_half_the_sum_and_the_sum(
    flops, bytes, peak, bandwidth
):
    seconds = time(flops, bytes, peak, bandwidth)
    total = flops / peak + bytes / bandwidth
    assert total / 2 <= seconds * (1 + 1e-12) and seconds <= total
    assert flops / attainable(flops / bytes, peak, bandwidth) == pytest.approx(seconds)


@given(peak=rates, bandwidth=rates)
def test_the_two_roofs_meet_at_the_ridge(peak, bandwidth):
    at = ridge(peak, bandwidth)
    assert attainable(at, peak, bandwidth) == pytest.approx(peak)
    assert attainable(at / 3, peak, bandwidth) == pytest.approx(peak / 3)
    assert attainable(at * 3, peak, bandwidth) == peak


def test_a_changed_number_type_moves_the_edge_either_way():
    edges = exercise("03-number-type").reference
    bandwidth = peak_and_bandwidth("h200-sxm", "fp32")[1]
    fp32, bf16 = (peak_and_bandwidth("h200-sxm", dtype)[0] for dtype in ("fp32", "bf16"))
    assert edges(bandwidth, fp32, 4, bf16, 2) == pytest.approx((83.6, 618.4), abs=0.1)
    for seed in SEEDS:
        moves = [
            b / a for a, b in (edges(*c.values()) for c in exercise("03-number-type").draw(seed))
        ]
        assert min(moves) < 0.6 and max(moves) > 2, "memory → compute and back, in every draw"


@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
def test_the_edge_is_where_rooflab_itself_changes_its_verdict(dtype):
    roof = rl.Roofline("h200-sxm", dtype)
    size = rl.dtype(dtype).bits // 8
    edge, _ = exercise("03-number-type").reference(roof.bandwidth, roof.peak, size, 1.0, 1)
    below, above = int(edge), int(edge) + 1
    assert roof.limit(rl.gemm(below, below, below, dtype)) == "memory"
    assert roof.limit(rl.gemm(above, above, above, dtype)) == "compute"


def test_a_gemm_worth_its_call_takes_as_long_as_the_call_and_a_smaller_one_less():
    found = exercise("03-worth-the-call")
    for case in (c for seed in SEEDS for c in found.draw(seed)):
        call, peak, bandwidth, size = case.values()
        n = found.reference(*case.values())
        seconds = [time(2 * k**3, 3 * k * k * size, peak, bandwidth) for k in (n - 1, n)]
        assert seconds[0] < call * (1 + 1e-9) and seconds[1] >= call * (1 - 1e-9)


def test_the_thumb_rules_hold_together_on_few_machines():
    holds = exercise("03-thumb-rules").reference
    assert holds(*peak_and_bandwidth("a100-sxm-80", "fp64")) == (True, True)
    assert holds(*peak_and_bandwidth("rtx-4090", "fp64")) == (False, True)
    assert holds(*peak_and_bandwidth("rtx-4090", "fp32")) == (True, False)
    for seed in SEEDS:
        seen = {holds(*c.values()) for c in exercise("03-thumb-rules").draw(seed)}
        assert len(seen) == 3


def test_four_kernels_have_exactly_one_pair_against_the_claim():
    for case in (c for seed in SEEDS for c in exercise("03-counterexample").draw(seed)):
        flops, nbytes, peak, bandwidth = case.values()
        seconds = [time(f, b, peak, bandwidth) for f, b in zip(flops, nbytes)]
        against = [
            (i, j)
            for i, j in itertools.permutations(range(4), 2)
            if flops[i] * nbytes[j] > flops[j] * nbytes[i] and seconds[i] > seconds[j]
        ]
        assert against == [exercise("03-counterexample").reference(*case.values())]
        rates = [f / s for f, s in zip(flops, seconds)]
        order = sorted(range(4), key=lambda k: flops[k] / nbytes[k])
        climbing = [rates[k] for k in order]
        assert all(a <= b * (1 + 1e-6) for a, b in itertools.pairwise(climbing)), (
            "FLOP/s never falls"
        )


def test_the_rows_of_the_catalogue_exercise_are_disputed_in_the_catalogue():
    def disputes(name):
        from rooflab.predict.catalogue import record

        return {v["value"] for d in record(name).get("disputed", ()) for v in d["values"]}

    assert 1979e12 in disputes("h100-sxm") and 383e12 in disputes("mi250x-gcd")
    assert 2250e12 in disputes("gb200") and 3.35e12 in disputes("l4")
    assert rl.machine("a100-sxm-80").peak("bf16") == 312e12
    assert rl.machine("h100-sxm").bandwidth() == 3.35e12 != rl.machine("h200-sxm").bandwidth()
    assert rl.machine("h100-sxm").peak("bf16") * 2 == pytest.approx(1979e12, rel=1e-3)
    assert rl.machine("mi250x-gcd").peak("bf16") * 2 == 383e12


def test_a_doubled_peak_costs_nothing_on_the_slope_and_a_factor_of_two_on_the_roof():
    for intensity in (1.0, 150.0, 295.0, 400.0, 591.0, 2000.0):
        claimed, bandwidth = 1978.8e12, 3.35e12
        times = [time(1e12 * intensity, 1e12, peak, bandwidth) for peak in (claimed / 2, claimed)]
        found = exercise("03-sparse-peak").reference(intensity, claimed, bandwidth)
        assert found == pytest.approx(times[0] / times[1]) and 1 <= found <= 2


WORTH = exercise("03-worth-the-call")
EXACT = [case for case in WORTH.fixed if case["call"] == 2.0**-20]


def test_two_products_take_exactly_as_long_as_their_call():
    """So that `<` and `<=` differ: by more than the tolerance, and without rounding.

    One takes so long to compute, the other to carry.
    """
    exact = []
    for call, peak, bandwidth, size in (case.values() for case in EXACT):
        n = WORTH.reference(call, peak, bandwidth, size)
        computing, carrying = 2 * n**3 / peak, 3 * n * n * size / bandwidth
        assert max(computing, carrying) == call > min(computing, carrying)
        assert (n + 1) / n > 1 + WORTH.tolerance
        exact.append((computing == call, carrying == call))
    assert exact == [(True, False), (False, True)]


def by_speed(call, peak, bandwidth, itemsize):
    """A loop whose time is FLOPs over the speed that the roof allows."""
    n = 1
    while 2 * n**3 / min(peak, 2 * n**3 / (3 * n * n * itemsize) * bandwidth) < call:
        n += 1
    return n


CUBE_ROOTS = [
    lambda x: x ** (1 / 3), lambda x: x**0.33333333333333, math.cbrt, np.cbrt,
    lambda x: math.exp(math.log(x) / 3), lambda x: 10 ** (math.log10(x) / 3),
]  # fmt: skip
SQUARE_ROOTS = [
    lambda c, b, s: math.sqrt(c * b / (3 * s)), lambda c, b, s: (c * b / 3 / s) ** 0.5,
    lambda c, b, s: math.sqrt(c / (3 * s / b)), lambda c, b, s: math.sqrt(c * b) / math.sqrt(3 * s),
    lambda c, b, s: math.exp(math.log(c * b / 3 / s) / 2),
]  # fmt: skip


def test_a_rounding_error_spoils_no_right_answer():
    """The products that take as long as their call are chosen so that any usual root will do."""
    for case, edge in zip(EXACT, (7, 8), strict=True):
        call, peak, bandwidth, size = case.values()
        assert WORTH.reference(*case.values()) == by_speed(*case.values()) == edge
        cubes = [root(x) for root in CUBE_ROOTS for x in (call * peak / 2, call / (2 / peak))]
        squares = [root(call, bandwidth, size) for root in SQUARE_ROOTS]
        assert {math.ceil(min(c, s)) for c in cubes for s in squares} == {edge}


def ridges_of(names):
    return [ridge(*peak_and_bandwidth(name, "fp16")) for name in names]


def test_the_ridge_fell_twice_among_neighbours_and_from_h100_to_b200():
    """295 → 206 from H100 to H200, 295 → 281 from H100 to B200; A100 201 → 153."""
    assert ridges_of(NVIDIA) == pytest.approx([139, 201, 153, 295, 206, 281, 312], abs=0.6)
    assert ridges_of(AMD) == pytest.approx([150, 110.5, 117, 246.6, 218, 315], abs=0.6)
    grew = exercise("03-ridge-grew").reference
    peaks, bandwidths = zip(*(peak_and_bandwidth(name, "fp16") for name in NVIDIA))
    fell, flips = grew(list(peaks), list(bandwidths), 256)
    assert fell == [False, True, False, True, False, False]
    assert flips == [False, False, True, True, True, False]  # H100, H200, B200
    skipped = [(peaks[k], bandwidths[k]) for k in (3, 5)]
    assert grew(*map(list, zip(*skipped)), 256)[0] == [True]


def test_the_verdict_on_256_rows_is_the_packages():
    product = rl.gemm(256, 4096, 4096, "fp16")
    assert product.intensity == pytest.approx(227.56, abs=0.01)
    limits = [rl.Roofline(name, "fp16").limit(product) for name in NVIDIA]
    assert limits == ["compute"] * 3 + ["memory", "compute", "memory", "memory"]


LOG_ROW = re.compile(
    r"# \| (\d) \| (.+?) \| (GEMM|AXPY) (\S+) \| (\S+) \| (\S+) (ms|µs) \| ([\d.]+) "
    r"(TFLOP/s|GB/s), (\d+) % .+ \|"
)
CARDS = {"H100 SXM": "h100-sxm", "RTX 4090": "rtx-4090", "A100 SXM 80 GB": "a100-sxm-80",
         "H200 SXM": "h200-sxm", "B200": "b200"}  # fmt: skip


def log_rows():
    text = (Path(__file__).parents[2] / "notebooks/source/03_roofline.py").read_text("utf-8")
    return LOG_ROW.findall(text)


def quick_verdict(card, name, size, dtype, number, unit, printed, share):
    """What is wrong with a row, worked out from the catalogue and the row alone."""
    m, seconds = rl.machine(CARDS[card]), float(number) * {"ms": 1e-3, "µs": 1e-6}[unit]
    if name == "GEMM":
        op = rl.gemm(*map(int, size.split("×")), dtype)
        rate, most = op.flops / seconds / 1e12, m.peak(dtype) / 1e12
    else:
        op = rl.axpy(int(size.replace(",", "")), dtype)
        rate, most = op.bytes / seconds / 1e9, m.bandwidth() / 1e9
    near = {"in order": 1, "GiB": 1e9 / 2**30, "multiply-adds": 0.5}
    said = [why for why, factor in near.items() if abs(rate * factor - float(printed)) <= 1]
    assert len(said) == 1, "each printed rate is one of the three"
    of = 1 if abs(float(printed) / most * 100 - float(share)) <= 1 else 2
    if of == 2:
        assert abs(float(printed) / most * 50 - float(share)) <= 1
        return "sparse peak"
    if rate > most:
        fits = name == "AXPY" and op.working_set <= m.capacities["l2"]
        faster = name == "GEMM" and any(m.peak(kind) / 1e12 > rate for kind in ("tf32", "bf16"))
        assert fits != faster, "one cause, and only one"
        return "warm cache" if fits else "other type"
    if said == ["in order"] and rate < 0.5 * most:
        return "cannot tell"
    return said[0]


def test_every_row_of_the_log_has_the_cause_that_the_exercise_wants():
    rows = log_rows()
    assert [int(row[0]) for row in rows] == list(range(1, 9))
    assert tuple(quick_verdict(*row[1:8], row[9]) for row in rows) == LOG


def test_two_rows_of_the_log_are_above_the_roof():
    above = {row[0] for row in log_rows() if float(row[9]) > 100}
    assert above == {"2", "3"}


def test_packing_lowers_the_intensity_and_the_time():
    """1365 → 982 FLOP/byte, 2.17 times as fast."""
    padded, packed = (rl.gemm(rows, 4096, 4096, "bf16") for rows in (4096, 1888))
    assert (padded.intensity, packed.intensity) == pytest.approx((1365.3, 982.3), abs=0.1)
    h100 = rl.Roofline("h100-sxm", "bf16")
    assert h100.time(padded) / h100.time(packed) == pytest.approx(2.17, abs=0.005)


def worth_by_roots(call, peak, bandwidth, itemsize):
    computing, carrying = call * peak / 2, call * bandwidth / 3 / itemsize
    return math.ceil(min(computing ** (1 / 3), carrying**0.5) - 1e-9)


def edges_by_bisection(bandwidth, peak_1, itemsize_1, peak_2, itemsize_2):
    def edge(peak, itemsize):
        return next(n for n in range(1, 20_000) if 2 * n / 3 / itemsize >= peak / bandwidth)

    return [edge(peak_1, itemsize_1), edge(peak_2, itemsize_2)]


def pair_by_sorting(flops, nbytes, peak, bandwidth):
    times = np.maximum(np.array(flops) / peak, np.array(nbytes) / bandwidth)
    order = np.argsort(np.array(flops) / np.array(nbytes))
    step = int(np.argmax(np.diff(times[order])))
    return np.int64(order[step + 1]), order[step]


def grew_with_numpy(peaks, bandwidths, m):
    ridges = np.array(peaks) / np.array(bandwidths)
    product = rl.gemm(m, 4096, 4096, "bf16")
    return np.diff(ridges) < 0, np.diff((product.intensity < ridges).astype(int)) != 0


OTHER_WAYS = {
    "03-time": lambda f, n, p, b: float(np.max([f / p, n / b])),
    "03-number-type": edges_by_bisection,
    "03-worth-the-call": worth_by_roots,
    "03-thumb-rules": lambda p, b: np.array([p >= 4 * b, p <= 8 * b]),
    "03-counterexample": pair_by_sorting,
    "03-ridge-grew": grew_with_numpy,
    "03-log": [
        "In_order",
        "WARM CACHE",
        "other-type",
        "gib",
        "in  order",
        "multiply adds",
        *LOG[6:],
    ],
    "03-catalogue": [" Sparse", "two_Dies", "other part", "other part", "right", "other part"],
    "03-sparse-peak": lambda i, c, b: max(1, min(2, i * b / (c / 2))),
}


def test_other_ways_to_the_right_answer_are_accepted():
    for id in OTHER_WAYS:
        for seed in SEEDS:
            seen = verdict(id, OTHER_WAYS[id], seed)
            assert seen.passed, seen


def test_flops_over_speed_is_told_about_the_copy():
    """Right but for the copy, which has no FLOPs: 0 ÷ 0."""
    told = verdict("03-time", lambda f, n, p, b: f / min(p, f / n * b), 0)
    assert "ZeroDivisionError" in told.reason and "longer of two times" in told.hint
    assert "A usual mistake, “FLOPs ÷ attainable”: a copy" in repr(told)
    assert verdict("03-time", lambda f, n, p, b: {}[f], 0).hint is None


def test_a_thumb_rule_is_judged_with_true_and_false():
    told = verdict("03-thumb-rules", lambda p, b: (p / b < 4, p / b > 8), 0)
    assert told.misconception == "the other way" and "number belongs" not in told.reason
    assert "True or False" in verdict("03-thumb-rules", lambda p, b: (p / b, 8), 0).reason
    with_numbers = verdict("03-thumb-rules", lambda p, b: (int(p >= 4 * b), int(p <= 8 * b)), 0)
    assert with_numbers.passed, "1 and 0 are True and False"
    told = verdict("03-thumb-rules", lambda p, b: (1, 1), 0)
    assert told.misconception == "a law of nature"
