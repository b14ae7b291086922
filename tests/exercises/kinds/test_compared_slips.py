"""Slips that any numeric answer may have: another unit, or a number that was rounded."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooflab.exercises.compare import only_rounded, other_unit, same_factor, upside_down
from rooflab.exercises.exercise import COMPARED
from rooflab.exercises.judge import judge
from rooflab.exercises.observe.collect import collect
from rooflab.exercises.observe.plaindata import to_plain
from rooflab.exercises.registry import exercise, exercises

NUMERIC = [e for e in exercises().values() if e.kind in COMPARED]
FACTORS = [10.0**power for power in (-12, -9, -6, -3, 3, 6, 9, 12)]
FINE = [1.024**power for power in (-4, -3, -2, -1, 1, 2, 3, 4)]


def verdict(found, answer, seed=0):
    cases = found.draw(seed)
    given = answer() if found.kind == "value" else answer
    return judge(found, cases, collect(found.kind, cases, given))


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def scaled(found, factor):
    """The right answer with every number in it multiplied by ``factor``."""

    def answer(*inputs):
        right = to_plain(found.reference(*inputs))
        if isinstance(right, list):
            return [factor * each if is_number(each) else each for each in right]
        return factor * right if is_number(right) else right

    return answer


def has_numbers(found):
    rows = [to_plain(found.reference(*case.values())) for case in found.draw(0)]
    return any(is_number(x) for row in rows for x in (row if isinstance(row, list) else [row]))


@pytest.mark.parametrize("factor", FACTORS)
def test_a_power_of_a_thousand_is_a_unit_in_every_numeric_exercise(factor):
    faults = []
    for found in filter(has_numbers, NUMERIC):
        told = verdict(found, scaled(found, factor))
        unit = told.misconception == "another unit" and "check the unit" in (told.hint or "")
        known = told.misconception in {m.name for m in found.misconceptions} and told.hint
        faults += [told] if told.passed or not (unit or known) else []
    assert not faults, faults


@pytest.mark.parametrize("id", ["05-decode", "03-time", "04-knee", "00-time", "02-claim-warm"])
def test_a_gib_for_a_gb_is_a_unit_too(id):
    for factor in FINE:
        told = verdict(exercise(id), scaled(exercise(id), factor))
        assert not told.passed and told.misconception in ("another unit", "GiB"), factor


@pytest.mark.parametrize("id", ["02-lines", "04-knee", "05-decode"])
def test_an_itemsize_too_many_or_too_few_is_named(id):
    found = exercise(id)
    for power in (1, -1, 2, -2):
        cases = found.draw(0)
        right = [found.reference(*case.values()) for case in cases]
        given = [r * float(case["itemsize"]) ** power for r, case in zip(right, cases)]
        told = judge(found, cases, [{"value": value} for value in given])
        assert not told.passed and told.misconception == "itemsize", (power, told)


def test_other_factors_are_no_unit():
    """1.024 is none in an exercise whose tolerance is wider than that."""
    for factor in (1.1, 2, 10, 100, 5000, 1.024):
        pairs = [(7.0, 7.0 * factor, 0.03), (11.0, 11.0 * factor, 0.03)]
        assert not other_unit(pairs), factor


def test_the_unit_is_the_same_in_every_case():
    assert other_unit([(3.0, 3000.0, 1e-9), (5, 5000, 1e-9), (0, 0, 1e-9)])
    assert not other_unit([(3.0, 3000.0, 1e-9), (5.0, 5.0, 1e-9)])
    assert not other_unit([(3.0, 3000.0, 1e-9), (0, 5000, 1e-9)])
    assert not other_unit([(3.0, "3000", 1e-9)]) and not other_unit([(0, 0, 1e-9)])
    assert not other_unit([(3.0, math.nan, 1e-9)]) and not other_unit([(True, 1000, 1e-9)])
    assert other_unit([(10**400, 10**403, 1e-9)])


def test_two_cases_tell_an_answer_upside_down_and_three_a_factor():
    cases = [(right, 1 / right, 1e-9) for right in (4.0, 10.0)]
    assert upside_down(cases) and not upside_down(cases[:1])
    assert not upside_down([*cases, (5.0, 5.0, 1e-9)])
    cases = [(right, 3 * right, 1e-9) for right in (4.0, 10.0, 7.0)]
    assert same_factor(cases) and not same_factor(cases[:2])
    assert not same_factor([(4.0, 12.0, 1e-9)] * 3), "of one number any factor is one"


@given(st.floats(10, 1e12), st.booleans())
def test_up_or_down_it_is_rounded(right, up):
    whole = math.ceil(right) if up else math.floor(right)
    if abs(whole - right) > 1e-6 * right:
        assert only_rounded([(right, whole, 1e-9), (0, 0, 1e-9)])
    assert not only_rounded([(right, whole + 2, 1e-9)])
    assert not only_rounded([(right, right + 0.25 + 1e-6 * right, 1e-15)]) or right > 1e5


def test_small_numbers_and_whole_ones_were_not_rounded():
    assert not only_rounded([(1.5, 2, 1e-9)]) and not only_rounded([(12, 13, 1e-9)])
    assert not only_rounded([(412.6, "413", 1e-9)]) and not only_rounded([(412.6, 412.6, 1e-9)])


@pytest.mark.parametrize("id", ["04-knee", "05-claim-always"])
def test_a_rounded_batch_is_refused_with_the_reason(id):
    found = exercise(id)
    for way in (math.ceil, math.floor, round):
        for seed in (0, 5):
            told = verdict(found, lambda *case, way=way: way(found.reference(*case)), seed)
            assert not told.passed and told.misconception == "rounded", told
            assert "need not be whole" in told.hint
