"""Lesson 05: other right answers are accepted, stumbles are named, the lesson fits its checks."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from rooflab.exercises.check import check
from rooflab.exercises.collect import collect
from rooflab.exercises.judge import judge
from rooflab.exercises.registry import exercise, lesson
from tools.lesson import read_lesson

SEEDS = [0, *range(300, 325)]
SOURCE = Path(__file__).parents[2] / "notebooks" / "source" / "05_decode.py"


def verdict(id, given_answer, seed):
    found = exercise(id)
    cases = found.draw(seed)
    return judge(found, cases, collect(found.kind, cases, given_answer))


def step_by_step(parameters, itemsize, kv, batch, context, peak, bandwidth):
    ridge = peak / bandwidth
    products = parameters / bandwidth * itemsize
    if 2 * batch / itemsize > ridge:
        products = 2 * parameters * batch / peak
    seconds = products + sum(context * kv / bandwidth for _ in range(batch))
    return Fraction(batch) / Fraction(seconds)


def by_search(batches, one_gemv, gemm):
    return np.array(batches)[np.argmax(np.array(gemm) < np.array(batches) * one_gemv)]


def by_inverse(parameters, kv, context, peak, bandwidth):
    for_each = parameters * 2 / peak - kv * context / bandwidth
    return max(0.0, parameters * 2 / bandwidth / for_each) if for_each else 0


OTHER_WAYS = {
    "05-bound": lambda n, b, w: 8 * Fraction(w) / (Fraction(n) * b),
    "05-kv-bytes": lambda n, h, g, d, s: sum(s * d * g for _ in range(n) for _ in "kv"),
    "05-takeover": lambda w, k, c: w / c / k,
    "05-decode": step_by_step,
    "05-switch": by_search,
    "05-attention": lambda h, g, s, b, c: (4 * b * c * h) / (2 * b * c * g * s),
    "05-fewer-bits": lambda n, b, g, z, k, m, c: (16 + 8 * k * m * c / n)
    / (b + 8 * z / g + 8 * k * m * c / n),
    "05-experts": lambda e, k, b: e - e * math.prod([(e - k) / e] * b),
    "05-claim-batch": lambda n, k, b, c, p, w: b
    * (2 * n + k * c) / w / (max(2 * n * b / p, 2 * n / w) + b * c * k / w),
    "05-claim-always": by_inverse,
    "05-claim-flash": lambda t, d, s: np.array([4 * s * t * (t + d), 4 * s * t * d]),
}  # fmt: skip


@pytest.mark.parametrize("id", OTHER_WAYS)
def test_other_ways_to_the_right_answer_are_accepted(id):
    for seed in SEEDS:
        seen = verdict(id, OTHER_WAYS[id], seed)
        assert seen.passed, seen


def test_a_check_asks_for_as_many_lines_as_the_lesson_does():
    cells = [c for c in read_lesson(SOURCE).learner.cells if "answer" in c.metadata.tags]
    for cell in cells:
        (lines,) = re.findall(r"your code: (\d+) line", cell.source)
        assert exercise(cell.metadata.rooflab.exercise).lines == int(lines), cell.source


def test_every_way_was_tried_and_mine_has_decode():
    assert {e.id for e in lesson("05")} == set(OTHER_WAYS) and len(OTHER_WAYS) >= 7
    assert [e.name for e in lesson(5) if e.mine] == ["decode"]


@pytest.mark.parametrize(
    ("id", "given_answer", "named"),
    [
        ("05-bound", lambda n, b, w: w / 1.073741824 / (n * b / 8), "GiB"),
        ("05-decode", lambda n, s, k, b, c, p, w: b * w / (n * s + b * c * k), "always memory"),
        ("05-decode", lambda n, s, k, b, c, p, w: b / max(2 * n * b / p, n * s / w), "no cache"),
        ("05-claim-batch", lambda n, k, b, c, p, w: b, "the claim"),
        ("05-claim-always", lambda n, k, c, p, w: 0, "the claim"),
        ("05-claim-flash", lambda t, d, s: (4 * s * t * (t + d), s * (3 * t * d + 2 * t * t)),
         "the claim"),
    ],
)  # fmt: skip
def test_a_learner_who_stumbles_is_told_on_what(id, given_answer, named):
    seen = check(id, given_answer)
    assert not seen.passed and seen.misconception == named
