"""Facts behind lesson 02: bytes of programs, of types, of lines, and published claims."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooflab.count import axpy, elementwise, gemv, pool2d
from rooflab.course.lesson02.exercises import smallest
from rooflab.exercises.check import check
from rooflab.exercises.guesses import question
from rooflab.exercises.judge import judge
from rooflab.exercises.observe.collect import collect
from rooflab.exercises.registry import exercise
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
    "02-balance": lambda f, b, p, w: [
        b / f, 1 / (p / w), " Memory" if f / b < p / w else "COMPUTE"
    ],
    "02-claim-bias": lambda m, n, s: (sum(n for _ in range(m)), s * (m * n + n + m * n),
                                      Fraction(1, 2) / s),
    "02-claim-warm": lambda n, s, t, w, c: (
        24 * n * s / 8 / t, 3 * n * s / t / w,
        min((size, name) for name, size in [*c.items(), ("dram", math.inf)]
            if size >= 2 * n * s)[1],
    ),
    "02-pooling": lambda h, w, c, k, d: (
        (k * k - 1) * c * math.ceil((h - k + 1) / d) * math.ceil((w - k + 1) / d),
        4 * c * (h * w + math.ceil((h - k + 1) / d) * math.ceil((w - k + 1) / d)),
    ),
    "02-lines": other_lines,
}  # fmt: skip


def test_other_right_ways_are_accepted():
    for id in OTHER_WAYS:
        found = exercise(id)
        for seed in SEEDS:
            cases = found.draw(seed)
            verdict = judge(found, cases, collect(found.kind, cases, OTHER_WAYS[id]))
            assert verdict.passed, verdict


def test_the_formulas_are_those_of_the_ledger():
    for itemsize, dtype in {8: "fp64", 4: "fp32", 2: "fp16", 1: "fp8_e4m3"}.items():
        for m, n in ((1, 1), (3, 512), (4096, 40)):
            vectors = exercise("02-numpy-bytes").reference(n, itemsize)
            assert vectors[1] == axpy(n, dtype).bytes
            added = elementwise("add", (m, n), dtype, inputs={"x": (m, n), "b": (n,)})
            bias = exercise("02-claim-bias").reference(m, n, itemsize)
            assert bias[:2] == (added.flops, added.bytes)
    for h, w, c, k, stride in ((1, 1, 2, 1, 1), (57, 31, 16, 3, 2), (9, 12, 5, 3, 3)):
        pool = pool2d(1, h, w, c, k, "fp32", stride=stride)
        found = exercise("02-pooling").reference(h, w, c, k, stride)
        assert found == (pool.flops, pool.bytes)


def test_published_bytes():
    """40 and 24 bytes in fp64."""
    assert exercise("02-numpy-bytes").reference(1, 8) == (40, 24)


def test_a_bias_add_is_neither_axpy_nor_a_vector_add():
    """Bias add: s(2MN + N) bytes for MN FLOP, 0.12498 FLOP/byte at 4096² in fp32."""
    flops, nbytes, limit = exercise("02-claim-bias").reference(4096, 4096, 4)
    assert (flops, nbytes, limit) == (4096**2, 4 * (2 * 4096**2 + 4096), 1 / 8)
    assert flops / nbytes == pytest.approx(0.12498, abs=5e-6)
    assert limit not in (axpy(4096).intensity, axpy(4096).intensity / 2)


@given(st.integers(1, 5000), st.integers(1, 5000), st.sampled_from((1, 2, 4, 8)))
def test_the_intensity_of_a_bias_add_rises_with_the_rows_alone(m, n, itemsize):
    bias = exercise("02-claim-bias").reference
    flops, nbytes, limit = bias(m, n, itemsize)
    assert flops / nbytes < limit
    assert flops / nbytes == pytest.approx(m / ((2 * m + 1) * itemsize)), "whatever n is"


def test_published_balances():
    """An A100 with 2.0 TB/s and 19.5 TFLOP/s has about 0.10 B/F; a vector add asks 12."""
    asked, offered, limit = exercise("02-balance").reference(1, 12, 19.5e12, 2.0e12)
    assert (asked, limit) == (12, "memory") and offered == pytest.approx(0.1026, abs=1e-4)
    m = machine("a100-sxm-80")
    assert m.bandwidth() / m.peak("fp32") == pytest.approx(0.1046, abs=1e-4)


def test_published_pooling():
    """Three max-pools in fp32, by hand: comparisons of a window, 4 bytes a number in and out."""
    pooling = exercise("02-pooling").reference
    assert pooling(57, 57, 64, 2, 1) == (602_112, 1_634_560)
    assert pooling(58, 58, 64, 3, 1) == (1_605_632, 1_664_000)
    assert pooling(56, 56, 64, 2, 2) == (150_528, 1_003_520)
    assert pool2d(1, 57, 57, 64, 2, stride=1).intensity == pytest.approx(0.368, abs=5e-4)


def test_the_sizes_of_the_court_fit_the_cards_cache():
    """67.1 MB and 8 MB in 72 MB of L2; 32 MB of vectors stay there too, 96 do not."""
    l2 = machine("rtx-4090").capacities["l2"]
    assert l2 == 72 * 2**20 > gemv(4096, 4096).working_set > 67e6
    assert axpy(10**6).working_set == 8_000_000
    gpu, witness = {"l2": l2}, exercise("02-claim-warm").reference
    assert witness(4_000_000, 4, 48e6 / 2.9e12, 1.008e12, gpu)[1:] == (
        pytest.approx(2.877, abs=1e-3), "l2",
    )  # fmt: skip
    assert smallest(96_000_000, gpu) == "dram"


def test_every_level_is_on_trial():
    for seed in SEEDS:
        found = exercise("02-claim-warm")
        cases = found.draw(seed)
        levels = [found.reference(*case.values())[2] for case in cases]
        assert {"l1", "l2", "l3", "dram"} <= set(levels)
        faster = [c["bandwidth"] < 3 * c["n"] * c["itemsize"] / c["seconds"] for c in cases]
        slow = [level for level, above in zip(levels, faster, strict=True) if not above]
        assert sorted(slow) == ["dram", "dram", "l2", "l3"], "the memory, and slow loops on caches"


@given(
    st.integers(0, 10**6), st.integers(1, 300), st.integers(1, 100), st.sampled_from((1, 2, 4, 8)),
    st.sampled_from((32, 64, 128)),
)  # fmt: skip
def test_lines_lie_between_what_is_used_and_a_line_each(block, count, stride, itemsize, line):
    travelling = exercise("02-lines").reference
    moved = travelling(block * itemsize, count, stride, itemsize, line)
    assert count * itemsize <= moved <= count * line and moved % line == 0
    assert travelling(block * itemsize + line, count, stride, itemsize, line) == moved


def test_wrong_24_for_the_expression_is_named():
    verdict = check("02-numpy-bytes", lambda n, s: (3 * n * s, 3 * n * s))
    assert verdict.misconception == "that is BLAS"
    assert "finishes and stores a*x first" in verdict.hint


def test_the_questions_have_room_on_both_sides():
    for id in ("02-expression", "02-out", "02-chunked", "02-warm"):
        asked = question(id)
        assert asked.low < 1 < 5 < asked.high and asked.text.endswith("?")


def _farthest(n, itemsize, seconds, bandwidth, caches):
    rate, level = 3 * n * itemsize / seconds, "dram"
    for name, size in caches.items():
        if 2 * n * itemsize <= size:
            level = name
    return rate, rate / bandwidth, level


SLIPS = [
    ("02-claim-warm", _farthest, "the largest that fits"),
    ("02-lines", lambda a, n, d, s, line: ((a + (n - 1) * d * s) // line - a // line + 1) * line,
     "from the first line to the last"),
    ("02-lines", lambda a, n, d, s, line: len({(a + i * d) // line for i in range(n)}) * line,
     "stride in bytes"),
    ("02-pooling", lambda h, w, c, k, s: ((k * k - 1) * (h // s) * (w // s) * c,
                                          4 * (h * w * c + (h // s) * (w // s) * c)),
     "the whole image in windows"),
    ("02-pooling", lambda h, w, c, k, s: exercise("02-pooling").reference(h, w, 1, k, s),
     "channels forgotten"),
    ("02-balance", lambda f, b, p, w: (b / f, p / w, "memory" if b / f > w / p else "compute"),
     "the ridge for the machine"),
    ("02-balance", lambda f, b, p, w: (w / p, b / f, "memory" if b / f > w / p else "compute"),
     "program and machine swapped"),
    ("02-balance", lambda f, b, p, w: (b / f, w / p,
                                       "memory-bound" if b / f > w / p else "compute-bound"),
     "another word"),
]  # fmt: skip


def test_slips_of_readers_are_named():
    for id, slip, name in SLIPS:
        assert check(id, slip).misconception == name
