"""03-predict: fair by rule, decided by the clock, each case with the allowance of its own spread."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rooflab.exercises.collect import collect
from rooflab.exercises.judge import judge
from rooflab.exercises.lesson03_recorded import MARGIN, PREDICT, WITHIN, model, timed
from rooflab.exercises.registry import exercise
from rooflab.measure.recording import recording

SEEDS = range(60)
FORMULAS = {m.name: m.wrong for m in PREDICT.misconceptions}


def verdict(answer, seed, found=PREDICT):
    cases = found.draw(seed)
    return judge(found, cases, collect(found.kind, cases, answer))


def test_the_lessons_model_passes_on_every_draw():
    for seed in SEEDS:
        seen = verdict(model, seed)
        assert seen.passed, seen


def test_the_right_answer_is_the_recorded_median():
    medians = {m.median_s for m in recording("epyc-2core-vm").select(cache="warm")}
    for seed in range(5):
        for case in PREDICT.draw(seed):
            assert PREDICT.reference(*case.values()) in medians


def test_every_case_allows_its_own_spread_and_the_same_margin():
    entries = list(timed().values())
    assert len(entries) >= 30 and len({e.allowed for e in entries}) > 10
    for entry in entries:
        spread = entry.allowed - MARGIN
        assert 0 <= spread < 0.25, f"{entry.case}: too noisy to be asked"
        assert PREDICT.allowed(entry.case) == entry.allowed
        off = abs(model(*entry.case.values()) / entry.seconds - 1)
        assert off <= WITHIN * entry.allowed, "asked where the model is not fair"


def test_a_draw_tries_every_side_of_the_model_on_more_than_one_machine():
    kinds = {id(e.case): e.kind for e in timed().values()}
    for seed in SEEDS:
        drawn = [kinds[id(case)] for case in PREDICT.draw(seed)]
        assert sorted(set(drawn)) == ["both", "cache", "call", "compute", "memory"]
        assert len(drawn) == 11
    assert len({e.case["peak"] for e in timed().values()}) >= 4, "two types, one core and two"


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
