"""Lesson 05: other right answers are accepted, stumbles are named, the lesson fits its checks."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from rooflab.exercises.check import check
from rooflab.exercises.judge import judge
from rooflab.exercises.observe.collect import collect
from rooflab.exercises.registry import exercise

SEEDS = [0, *range(300, 325)]


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


def position_by_position(blocks, head, kv, context, peak, bandwidth):
    flops = [2 * blocks + kv * place for place in range(1, context + 1)]
    again, weights = sum(flops) + 2 * head, 2 * (blocks + head)
    quick = max((flops[-1] + 2 * head) / peak, (weights + kv * context) / bandwidth)
    slow = max(again / peak, weights / bandwidth)
    return np.array([1 / quick, (flops[-1] + 2 * head) / quick, 1 / slow, again / slow])


def by_trying(parameters, kv, context, promised, memory, peak, bandwidth):
    def quick(batch):
        products = max(2 * parameters * batch / peak, 2 * parameters / bandwidth)
        return products + batch * kv * context / bandwidth <= 1 / promised

    held = kept = 0
    while 2 * parameters + (held + 1) * kv * context <= memory:
        held += 1
    while quick(kept + 1):
        kept += 1
    return [held, kept, " Memory" if held < kept else "PROMISE"]


OTHER_WAYS = {
    "05-gauges": position_by_position,
    "05-fill": by_trying,
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


def test_other_ways_to_the_right_answer_are_accepted():
    for id in OTHER_WAYS:
        for seed in SEEDS:
            seen = verdict(id, OTHER_WAYS[id], seed)
            assert seen.passed, seen


def strictly(parameters, itemsize, kv, batch, context, peak, bandwidth):
    carried = parameters * itemsize + kv * batch * context
    return batch / max(2 * parameters * batch / peak, carried / bandwidth)


def fill_strictly(parameters, kv, context, promised, memory, peak, bandwidth):
    each = kv * context / bandwidth
    quick = (1 / promised - 2 * parameters / bandwidth) / each, peak / (2 * parameters * promised)
    held, kept = (max(0, int(most)) for most in ((memory - 2 * parameters) / (kv * context),
                                                 min(quick)))  # fmt: skip
    return held, kept, "memory" if held < kept else "promise"


STRICT = {
    "05-decode": strictly,
    "05-claim-batch": lambda n, k, b, c, p, w: (
        strictly(n, 2, k, b, c, p, w) / strictly(n, 2, k, 1, c, p, w)
    ),
    "05-fill": fill_strictly,
}


@pytest.mark.parametrize("id", STRICT)
def test_the_stricter_bound_is_right_too_and_is_called_what_it_is(id):
    for seed in SEEDS:
        seen = verdict(id, STRICT[id], seed)
        assert seen.passed and seen.points == seen.max, seen
        assert "the stricter bound" in seen.reason and seen.misconception is None
        assert "stricter" not in verdict(id, OTHER_WAYS[id], seed).reason


@pytest.mark.parametrize("id", STRICT)
def test_the_stricter_bound_is_never_below_the_time_without_overlap(id):
    found = exercise(id)
    (_, strict), apart = found.also[0], False
    for case in (case for seed in SEEDS for case in found.draw(seed)):
        stricter, plain = strict(*case.values()), found.reference(*case.values())
        if id == "05-fill":
            assert stricter[0] == plain[0] and stricter[1] >= plain[1]
        elif id == "05-decode":
            assert stricter >= plain * (1 - 1e-12)
        apart = apart or stricter != plain
    assert apart, "the two differ in no case"


@pytest.mark.parametrize("id", STRICT)
def test_no_misconception_passes_for_the_stricter_bound(id):
    found = exercise(id)
    for mistake in found.misconceptions:
        for seed in SEEDS[:6]:
            assert not verdict(id, mistake.wrong, seed).passed, (mistake.name, seed)


def test_an_answer_out_of_both_bounds_is_wrong():
    def sometimes(parameters, itemsize, kv, batch, context, peak, bandwidth):
        computing = 2 * batch / itemsize > peak / bandwidth
        either = strictly if computing else step_by_step
        return either(parameters, itemsize, kv, batch, context, peak, bandwidth)

    def mixed(*case):
        return (strictly if case[3] > 300 else step_by_step)(*case)

    assert check("05-decode", sometimes).passed, "where memory limits both say the same"
    assert not check("05-decode", mixed).passed
