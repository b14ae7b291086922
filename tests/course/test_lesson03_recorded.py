"""03-predict: fair by rule, decided by the clock, each case allowed its own spread."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from rooflab.course.lesson03.exercises import (
    KINDS,
    PREDICT,
    model,
    recorded,
    timed,
    timed_elsewhere,
)
from rooflab.course.timed_cases import MARGIN, WITHIN
from rooflab.exercises.judge import judge
from rooflab.exercises.observe.collect import collect
from rooflab.exercises.registry import exercise

SEEDS = range(60)
FORMULAS = {m.name: m.wrong for m in PREDICT.misconceptions}


def verdict(answer, seed, found=PREDICT):
    cases = found.draw(seed)
    return judge(found, cases, collect(found.kind, cases, answer))


def test_the_lessons_model_passes_on_every_draw():
    for seed in SEEDS:
        seen = verdict(model, seed)
        assert seen.passed, seen


def test_the_right_answer_is_what_the_clock_said():
    clocks = {entry.seconds for entry in (*recorded(), *timed_elsewhere())}
    for seed in range(5):
        for case in PREDICT.draw(seed):
            assert PREDICT.reference(*case.values()) in clocks


def test_every_case_allows_its_own_spread_and_the_same_margin():
    assert len(timed()) == len(recorded()) + len(timed_elsewhere()), "told apart by their inputs"
    assert len(recorded()) >= 30 and len({e.allowed for e in recorded()}) > 10
    for entry in timed().values():
        spread = entry.allowed - MARGIN
        assert 0 <= spread < 0.25, f"{entry.case}: too noisy to be asked"
        assert PREDICT.allowed(entry.case) == entry.allowed
        off = abs(model(*entry.case.values()) / entry.seconds - 1)
        assert off <= WITHIN * entry.allowed, "asked where the model is not fair"
        assert entry.fair


def test_a_draw_tries_every_side_of_the_model_on_at_least_five_machines():
    known = {id(e.case): e for e in timed().values()}
    for seed in SEEDS:
        drawn = [known[id(case)] for case in PREDICT.draw(seed)]
        assert len(drawn) == len({*map(id, drawn)}) == 15
        assert len({e.machine for e in drawn}) >= 5
        kinds = Counter(e.kind for e in drawn)
        assert sorted(kinds) == sorted(KINDS) and min(kinds.values()) >= 2
    assert len({e.machine for e in timed().values()}) >= 10, "eight of the catalogue, one and two"


@pytest.mark.parametrize("name", FORMULAS)
def test_each_wrong_formula_is_beyond_what_is_allowed_on_every_draw(name):
    for seed in SEEDS:
        assert not verdict(FORMULAS[name], seed).passed, seed


@pytest.mark.parametrize("factor", [0.9, 1.0, 1.1])
def test_a_better_model_passes_as_well(factor):
    """Predictions a tenth beside the clock are right, whichever way they were made."""
    for seed in range(20):
        seen = verdict(lambda *inputs: factor * PREDICT.reference(*inputs), seed)
        assert seen.passed, seen


@pytest.mark.parametrize("factor", [0.5, 1.5])
def test_beside_the_clock_by_half_fails(factor):
    assert not verdict(lambda *inputs: factor * PREDICT.reference(*inputs), 0).passed


def test_what_is_allowed_is_read_case_by_case():
    """Without its margin, the same exercise wants the median itself."""
    strict = replace(PREDICT, margin=None)
    assert not verdict(model, 0, strict).passed
    assert strict.allowed({}) == strict.tolerance
    assert exercise("03-time").allowed({"flops": 1}) == exercise("03-time").tolerance


def test_a_failed_prediction_does_not_tell_the_measured_time():
    seen = verdict(FORMULAS["everything comes from memory"], 0)
    right = {f"{e.seconds:.6g}" for e in timed().values()}
    assert not any(value in repr(seen) for value in right)
    assert seen.misconception == "everything comes from memory"


def test_the_bound_alone_is_named_as_what_it_is():
    seen = verdict(lambda f, n, p, b, capacity, call: max(f / p, n / b[-1]), 0)
    assert seen.misconception == "the roof alone"
