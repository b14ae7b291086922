"""Facts behind lesson 02: bytes of programs, of types, of lines, and published claims."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooflab.count import axpy, pool2d
from rooflab.exercises.check import check
from rooflab.exercises.collect import collect
from rooflab.exercises.judge import judge
from rooflab.exercises.lesson02_claims import smallest, warm_axpy
from rooflab.exercises.lesson02_deep import lines_touched
from rooflab.exercises.questions import question
from rooflab.exercises.registry import exercise, lesson
from rooflab.predict.catalogue import machine

SEEDS = [0, *range(40, 60)]


def other_lines(address, count, stride, itemsize, line):
    first, seen = None, 0
    for i in range(count):
        at = (address + i * stride * itemsize) // line
        seen, first = seen + (at != first), at
    return seen * line


OTHER_WAYS = {
    "02-numpy-bytes": lambda n, s: [(2 + 3) * n * s, axpy(n, {8: "fp64", 4: "fp32", 2: "fp16",
                                                               1: "fp8_e4m3"}[s]).bytes],
    "02-narrower": lambda t, i, old, new: (t / (old / new), Fraction(old, new) * Fraction(i)),
    "02-balance": lambda f, b, p, w: [b / f, 1 / (p / w), " Memory" if f / b < p / w else "COMPUTE"],
    "02-claim-gigabytes": lambda g, w: (g * 1024**3, g * 1.073741824e9 / w),
    "02-claim-warm": lambda n, s, t, w, c: (
        24 * n * s / 8 / t, 3 * n * s / t / w,
        min((size, name) for name, size in [*c.items(), ("dram", math.inf)] if size >= 2 * n * s)[1],
    ),
    "02-write-allocate": lambda r, f, w, s: s * r + s * w + 2 * s * f,
    "02-pooling": lambda h, w, c, k, d: (
        (k * k - 1) * c * math.ceil((h - k + 1) / d) * math.ceil((w - k + 1) / d),
        4 * c * (h * w + math.ceil((h - k + 1) / d) * math.ceil((w - k + 1) / d)),
    ),
    "02-lines": other_lines,
}  # fmt: skip


@pytest.mark.parametrize("id", OTHER_WAYS)
def test_other_right_ways_are_accepted(id):
    found = exercise(id)
    for seed in SEEDS:
        cases = found.draw(seed)
        verdict = judge(found, cases, collect(found.kind, cases, OTHER_WAYS[id]))
        assert verdict.passed, verdict


def test_every_written_exercise_has_another_way():
    assert {e.id for e in lesson("02") if e.kind != "golf"} == set(OTHER_WAYS)
    assert len(lesson("02")) >= 12 and sum(e.kind == "golf" for e in lesson("02")) == 5


def test_published_bytes():
    """C000-16: 40 and 24 bytes in fp64; 56 with write-allocate of two new arrays."""
    assert exercise("02-numpy-bytes").reference(1, 8) == (40, 24)
    crossing = exercise("02-write-allocate").reference
    assert crossing(3, 2, 0, 8) == 56 and crossing(2, 0, 1, 8) == 24
    assert crossing(3, 1, 1, 8) == 48  # one line: the sum is written over the products


def test_published_balances():
    """C003-10: an A100 with 2.0 TB/s and 19.5 TFLOP/s has about 0.10 B/F; a vector add asks 12."""
    asked, offered, limit = exercise("02-balance").reference(1, 12, 19.5e12, 2.0e12)
    assert (asked, limit) == (12, "memory") and offered == pytest.approx(0.1026, abs=1e-4)
    m = machine("a100-sxm-80")
    assert m.bandwidth() / m.peak("fp32") == pytest.approx(0.1046, abs=1e-4)


def test_published_pooling():
    """Ledger 003, section 15: FLOP and bytes of three max-pools in fp32."""
    pooling = exercise("02-pooling").reference
    assert pooling(57, 57, 64, 2, 1) == (602_112, 1_634_560)
    assert pooling(58, 58, 64, 3, 1) == (1_605_632, 1_664_000)
    assert pooling(56, 56, 64, 2, 2) == (150_528, 1_003_520)
    assert pool2d(1, 57, 57, 64, 2, stride=1).intensity == pytest.approx(0.368, abs=5e-4)


def test_the_claims_of_the_court():
    """880 “GB/s” are GiB/s: 944.9 GB/s, 93.7 % of 1008; 32 MB stay in 72 MB of L2, 96 do not."""
    rate, share = exercise("02-claim-gigabytes").reference(880, 1008e9)
    assert share == pytest.approx(0.9374, abs=1e-4) and rate == pytest.approx(944.9e9, rel=1e-4)
    for seed in SEEDS:
        for case in exercise("02-claim-gigabytes").draw(seed):
            assert case["printed"] * 2**30 / case["bandwidth"] < 0.945, "no DRAM gives more"
    gpu = {"l2": 72 * 2**20}
    assert warm_axpy(4_000_000, 4, 48e6 / 2.9e12, 1.008e12, gpu)[1:] == (
        pytest.approx(2.877, abs=1e-3), "l2",
    )  # fmt: skip
    assert smallest(96_000_000, gpu) == "dram"


def test_every_level_is_on_trial():
    for seed in SEEDS:
        cases = exercise("02-claim-warm").draw(seed)
        levels = [warm_axpy(*case.values())[2] for case in cases]
        assert {"l1", "l2", "l3", "dram"} <= set(levels)
        assert all((c["bandwidth"] < 3 * c["n"] * c["itemsize"] / c["seconds"]) == (level != "dram")
                   for c, level in zip(cases, levels, strict=True))  # fmt: skip


@given(
    st.integers(0, 10**6), st.integers(1, 300), st.integers(1, 100), st.sampled_from((1, 2, 4, 8)),
    st.sampled_from((32, 64, 128)),
)  # fmt: skip
def test_lines_lie_between_what_is_used_and_a_line_each(block, count, stride, itemsize, line):
    touched = lines_touched(block * itemsize, count, stride, itemsize, line)
    assert math.ceil(count * itemsize / line) <= touched <= count
    assert lines_touched(block * itemsize + line, count, stride, itemsize, line) == touched


@given(st.floats(1e-6, 10), st.floats(0.01, 100), st.sampled_from((1, 2, 4, 8)))
def test_a_type_changed_and_changed_back_changes_nothing(seconds, intensity, itemsize):
    narrower = exercise("02-narrower").reference
    there = narrower(seconds, intensity, itemsize, 2)
    assert narrower(*there, 2, itemsize) == pytest.approx((seconds, intensity))
    assert there[0] * there[1] == pytest.approx(seconds * intensity)  # the FLOPs stay


def test_wrong_24_for_the_expression_is_named():
    verdict = check("02-numpy-bytes", lambda n, s: (3 * n * s, 3 * n * s))
    assert verdict.misconception == "that is BLAS"
    assert "finishes and stores a*x first" in verdict.hint


@pytest.mark.parametrize("id", ["02-expression", "02-out", "02-chunked", "02-warm"])
def test_the_questions_have_room_on_both_sides(id):
    asked = question(id)
    assert asked.low < 1 < 5 < asked.high and asked.text.endswith("?")
