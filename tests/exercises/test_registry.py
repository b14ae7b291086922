"""Every exercise: the truth passes, every misconception is rejected and named.

This is the mutation test of the course: the misconceptions are the mutants.
"""

from __future__ import annotations

import json
import re
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import rooflab as rl
from rooflab.exercises.compare import same
from rooflab.exercises.course import Course
from rooflab.exercises.exercise import COMPARED, Exercise, Misconception
from rooflab.exercises.judge import judge
from rooflab.exercises.observe.collect import collect
from rooflab.exercises.observe.plaindata import to_plain
from rooflab.exercises.registry import exercise, exercises, lesson
from tests.exercises.support.quick_verdict import quick_verdict

FUNCTIONS = ("function", "arrays")
EVERY = list(exercises().values())
QUICK = [e for e in EVERY if e.kind in COMPARED]
SEEDS = [0, 1]
UNFIXED = {"03-predict"}  # its cases are frozen recordings, every one of them


def in_full(found: Exercise, cases, answer):
    return judge(found, cases, collect(found.kind, cases, answer))


def verdict_on(found: Exercise, answer, seed, by=in_full):
    return by(found, found.draw(seed), answer() if found.kind == "value" else answer)


def seeds(found: Exercise):
    """One where fixed cases separate the mistakes anyway, or where an answer takes long."""
    return SEEDS[:1] if found.fixed or found not in QUICK else SEEDS


def separating(found: Exercise) -> list:
    """The cases that have to tell all mistakes apart: the fixed ones alone."""
    return found.draw(0) if found.kind == "value" or found.id in UNFIXED else [*found.fixed]


def names(found):
    return found.id


@pytest.mark.parametrize("found", EVERY, ids=names)
def test_the_right_answer_passes_and_each_misconception_is_named_by_its_own_hint(here, found):
    faults = []
    for seed in seeds(found):
        verdict = verdict_on(found, found.reference, seed)
        assert verdict.passed and verdict.points == verdict.max == found.points, verdict
        assert verdict.misconception is None and verdict.hint is None, verdict
        for mistake in found.misconceptions:
            for wrong in (mistake.wrong, *mistake.variants):
                verdict = verdict_on(found, wrong, seed, quick_verdict)
                told = (verdict.passed, verdict.points, verdict.misconception, verdict.hint)
                if told != (False, 0, mistake.name, mistake.hint):
                    faults.append((mistake.name, seed, verdict))
    assert not faults, faults


@pytest.mark.parametrize("lesson", sorted({e.lesson for e in EVERY}))
def test_the_cases_separate_the_truth_and_all_misconceptions_pairwise(lesson):
    faults = []
    for found in (e for e in QUICK if e.lesson == lesson):
        cases = separating(found)
        answers = {"truth": found.reference, **{m.name: m.wrong for m in found.misconceptions}}
        rows = {k: [to_plain(f(*c.values())) for c in cases] for k, f in answers.items()}
        for one, other in combinations(rows, 2):
            if all(same(a, b, found.tolerance) for a, b in zip(rows[one], rows[other])):
                faults.append((found.id, one, other))
    assert not faults, f"these coincide: {faults}"


def test_cases_are_plain_and_repeatable():
    for found in EVERY:
        first, again = found.draw(7), found.draw(7)
        assert first == again == [to_plain(dict(case)) for case in first], found.id
        assert json.loads(json.dumps(first)) == first, found.id
        if found.kind in FUNCTIONS:
            varied = {json.dumps(found.draw(s)) for s in range(5)}
            assert len(varied) > 1, f"every seed of {found.id} draws the same: it could be a table"


def numbers_in(value):
    if isinstance(value, list):
        return [number for one in value for number in numbers_in(one)]
    return [] if isinstance(value, str) else [value]


@pytest.mark.parametrize("lesson", sorted({e.lesson for e in EVERY}))
def test_a_verdict_never_tells_the_right_value(lesson):
    faults = []
    for found in (e for e in EVERY if e.kind in FUNCTIONS and e.lesson == lesson):
        for mistake in found.misconceptions:
            verdict = verdict_on(found, mistake.wrong, 0)
            inputs = verdict.case.values()
            right = numbers_in(to_plain(found.reference(*inputs)))
            wrong = mistake.wrong(*inputs)  # None where it has no answer
            mine = [] if wrong is None else numbers_in(to_plain(wrong))
            asked = [n for i in inputs for n in (numbers_in(i) if isinstance(i, list) else [i])]
            given = [*mine, *(-number for number in mine), *asked]
            said = re.findall(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?", repr(verdict))
            # A small number occurs in any sentence.
            unknown = [value for value in right if value > 20 and value not in given]
            shown = {text for value in unknown for text in (f"{value:.6g}", str(value))}
            faults += [(found.id, verdict)] if shown & {*said} else []
    assert not faults, faults


def test_ids_points_and_lessons():
    assert len(lesson("00")) >= 4 and len(lesson(1)) >= 8
    assert {e.id for e in lesson("01")} >= {"01-cuda-axpy", "01-cuda-gemv", "01-cuda-gemm"}
    assert all(len(e.misconceptions) >= 3 and e.points >= 1 for e in EVERY)
    assert [e.mine for e in EVERY if e.mine] == ["product", "time", "layer", "decode"]


def test_an_unknown_id_comes_with_suggestions():
    with pytest.raises(ValueError, match="did you mean '01-product'"):
        exercise("01-produce")
    with pytest.raises(ValueError, match="lesson=77"):
        lesson(77)


def test_a_retired_exercise_is_known_and_costs_nothing():
    said = repr(rl.check("09-count", lambda extents: 1))
    assert said.startswith("○ 09-count: not asked any more: ")
    assert Course(points={"09-count": 2, "09-beam": 1}).points["09-beam"] == 1


def test_a_malformed_exercise_is_refused():
    three = tuple(Misconception(n, lambda: 2, "") for n in "abc")
    good = {
        "id": "01-a", "title": "", "points": 1, "question": "", "signature": "f()",
        "reference": lambda: 1, "misconceptions": three,
    }  # fmt: skip
    Exercise(**good)
    for change, why in (
        ({"id": "flops"}, "id='flops'"),
        ({"kind": "essay"}, "kind='essay'"),
        ({"points": 0}, "points=0"),
        ({"misconceptions": ()}, "3 or more"),
    ):
        with pytest.raises(ValueError, match=why):
            Exercise(**{**good, **change})


def test_facts_behind_the_answers():
    """Published figures: SGEMM N/6 and N/8 (β ≠ 0), SAXPY 1/6, and 1365 at two bytes."""
    product = exercise("01-product").reference
    assert product(4096, 4096, 4096, 4)[2] == pytest.approx(682.67, rel=1e-5)
    assert product(4096, 4096, 4096, 2)[2] == pytest.approx(1365.33, rel=1e-5)
    assert product(4096, 4096, 4096, 4, True)[2] == pytest.approx(512)
    assert product(8192, 128, 8192, 2)[2] == pytest.approx(124.1, abs=0.05)
    assert exercise("01-three-intensities").reference(4096)[0] == pytest.approx(1 / 3)
    limit = exercise("01-speed-limit").reference
    assert limit(66.9e12, 4.8e12, 4) == pytest.approx(84, abs=0.5)
    assert limit(989.5e12, 4.8e12, 2) == pytest.approx(618, abs=1)


def test_for_large_n_small_terms_do_not_matter():
    for answer in (lambda n: (1 / 3, 1, n / 3), lambda n: (0.33, n / (n + 2), round(n / 3))):
        for seed in range(11):
            assert verdict_on(exercise("01-three-intensities"), answer, seed).passed


def test_of_the_large_n_one_tells_that_a_third_was_cut_to_a_whole_number():
    found = exercise("01-three-intensities")
    right = found.reference(1025)[2]
    assert same(right, 1025 / 3, 1e-12) and not same(right, 1025 // 3, found.tolerance)


def test_whose_lunch_is_longer():
    """An RTX 4090 (82.6 TFLOP/s, 1008 GB/s) passes an A100 (19.5, 2039) at 77.4 multiply-adds."""
    overtakes = exercise("00-lunch").reference
    assert overtakes(82.6e12, 1.008e12, 19.5e12, 2.039e12, 4) == pytest.approx(77.4, abs=0.05)
    assert overtakes(19.5e12, 2.039e12, 82.6e12, 1.008e12, 4) == pytest.approx(77.4, abs=0.05)
    assert overtakes(10e12, 1e12, 20e12, 2e12, 4) == 0


@given(*[st.floats(1e12, 1e14)] * 2, *[st.floats(1e11, 1e13)] * 2)
def test_where_the_lunches_cross_the_times_are_equal(peak_a, peak_b, bandwidth_a, bandwidth_b):
    """A little to the left the faster memory wins, a little to the right the higher peak."""
    assume(abs(peak_a / peak_b - 1) > 0.01 < abs(bandwidth_a / bandwidth_b - 1))
    time, cross = exercise("00-time").reference, exercise("00-lunch").reference
    k = cross(peak_a, bandwidth_a, peak_b, bandwidth_b, 4)
    slow, fast = sorted([(bandwidth_a, peak_a), (bandwidth_b, peak_b)])
    ahead = [
        time(at, 1, 4, slow[1], slow[0]) < time(at, 1, 4, fast[1], fast[0])
        for at in ((0.999 * k, 1.001 * k) if k else (1e-3, 1e9))
    ]
    assert ahead == ([False, True] if k else [False, False])


def test_the_verdicts_on_the_six_sentences_follow_from_the_ledger():
    """A to F of lesson 01: each from a count, so that a change of the ledger is noticed here."""
    assert rl.gemv(64, 64).bytes < rl.gemv(64, 64, accumulate=True).bytes  # A: y is not read
    one, many = rl.gemm(1, 512, 64), rl.gemm(512, 512, 64)  # B: Q of one row, Q of many
    assert one.intensity < 0.51 < 20 < many.intensity
    uses = {"a": 3, "b": 2, "c": 5}  # C: m, n, k = 2, 3, 5; each index triple touches one of each
    assert {name: 30 // size for name, size in {"a": 10, "b": 15, "c": 6}.items()} == uses
    assert rl.axpy(64).intensity == pytest.approx(1 / 6)  # D: 0.083 is half of that
    eight = rl.gemm(8192, 8192, 8192).intensity / rl.gemm(1024, 1024, 1024).intensity
    assert eight == pytest.approx(8)  # E
    drawn = np.random.default_rng(0).normal(size=2).dtype  # F: fp64, so 341 and not 683
    assert rl.gemm(4096, 4096, 4096, str(drawn)).intensity == pytest.approx(341.3, abs=0.1)
    assert exercise("01-claims").reference() == (
        "wrong", "sometimes", "sometimes", "wrong", "right", "wrong",
    )  # fmt: skip
