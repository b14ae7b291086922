"""The mistake that a verdict names shows in the part of the answer that the verdict speaks of."""

from __future__ import annotations

import itertools

import pytest

from rooflab.exercises.compare import parts, same
from rooflab.exercises.exercise import COMPARED, Exercise, Misconception
from rooflab.exercises.judge import judge
from rooflab.exercises.kinds.compared import _SLIPS
from rooflab.exercises.observe.collect import collect
from rooflab.exercises.observe.plaindata import to_plain
from rooflab.exercises.registry import exercise, exercises

SEVERAL = [e for e in exercises().values() if e.kind in COMPARED and len(e.returns) > 1]
SLIPS = {name: shows for shows, name, _ in _SLIPS}


def mixed(first, second):
    """An answer with the first part of one wrong answer and all other parts of another."""

    def answer(*inputs):
        mine, more = to_plain(first(*inputs)), to_plain(second(*inputs))
        return [*mine[:1], *more[1:]]

    return answer


def wrongs(found, cases):
    """The wrong answers that have a value for each case."""
    every = [wrong for m in found.misconceptions for wrong in (m.wrong, *m.variants)]
    return [one for one in every if all(one(*case.values()) is not None for case in cases)]


def told(found, answer, cases):
    given = answer() if found.kind == "value" else answer
    return judge(found, cases, collect(found.kind, cases, given))


def columns(found, function, cases):
    """(right, given, tolerance) of each case, for every part of what ``function`` gives."""
    rows = [
        [(*pair, found.allowed(case)) for pair in pairs]
        for case in cases
        if (pairs := parts(to_plain(found.reference(*case.values())),
                           to_plain(function(*case.values()))))
    ]  # fmt: skip
    return [*zip(*rows, strict=True)] if len(rows) == len(cases) else None


def explains(wrong, found, answer, cases, at):
    """Whether ``wrong`` changes the part ``at``, and gives what the answer does there."""
    theirs, mine = columns(found, wrong, cases), columns(found, answer, cases)
    if theirs is None or mine is None or all(same(*each) for each in theirs[at]):
        return False
    pairs = zip(theirs[at], mine[at], strict=True)
    return all(same(wrong, given, found.tolerance) for (_, wrong, _), (_, given, _) in pairs)


def assert_one_part(found, answer, cases):
    """Compare the part named in the verdict with those that the named mistake changes."""
    verdict = told(found, answer, cases)
    speaks = [
        at
        for at, label in enumerate(found.returns)
        if verdict.reason.startswith((f"the {label} of `{found.name}(", f"{label}: your answer"))
    ]
    if verdict.passed or not speaks or verdict.misconception in (None, "another order"):
        return 0
    (at,) = speaks
    mine = columns(found, answer, cases)
    case = next(number for number, each in enumerate(cases) if dict(each) == verdict.case)
    assert mine is None or not same(*mine[at][case]), verdict
    named = next((m for m in found.misconceptions if m.name == verdict.misconception), None)
    if named is None:
        assert verdict.misconception not in SLIPS or SLIPS[verdict.misconception](mine[at]), verdict
    else:
        ways = (named.wrong, *named.variants)
        assert any(explains(wrong, found, answer, cases, at) for wrong in ways), verdict
    return 1


@pytest.mark.parametrize("lesson", sorted({e.lesson for e in SEVERAL}))
def test_the_verdict_and_the_hint_speak_of_one_part(lesson):
    for found in (e for e in SEVERAL if e.lesson == lesson):
        cases = found.draw(0)
        listed = wrongs(found, cases)
        pairs = [(a, b) for a, b in itertools.product(listed, listed) if a is not b]
        chosen = pairs[:: max(1, len(pairs) // 25)]
        seen = sum(assert_one_part(found, mixed(*pair), cases) for pair in chosen)
        assert seen > len(chosen) // 8, f"{found.id}: too few have a named mistake"


def test_the_hint_of_a_later_part_moves_the_verdict_there():
    """The peak is wrong in a way of its own, and the bandwidth in a known one."""
    witnesses = exercise("01-witnesses")
    believed = next(m for m in witnesses.misconceptions if m.name == "everybody believed")
    cases = witnesses.draw(0)

    def answer(*inputs):
        return (7.25, *believed.wrong(*inputs)[1:])

    verdict = told(witnesses, answer, cases)
    assert verdict.misconception == "everybody believed"
    assert verdict.reason.startswith("the bandwidth of `witnesses(")


@pytest.mark.parametrize(("id", "kind"), [("01-name", "word"), ("01-speed-limit", "number")])
def test_what_stands_in_brackets_is_wanted_alone(id, kind):
    found = exercise(id)
    verdict = told(found, lambda *inputs: [found.reference(*inputs)], found.draw(0))
    assert (
        verdict.misconception == "a list of one" and f"the {kind} alone is wanted" in verdict.hint
    )
    alone = told(found, lambda *inputs: {"it": found.reference(*inputs)}, found.draw(0))
    assert alone.passed
    several = told(found, lambda *inputs: {"it": 1, "other": 2}, found.draw(0))
    assert not several.passed


def test_of_a_list_the_verdict_says_which_place_is_wrong():
    found = Exercise(
        "01-powers", "", 1, "", "powers(n)", lambda n: [1, n, n * n],
        tuple(Misconception(name, lambda n: [0], "") for name in "abc"),
    )  # fmt: skip
    verdict = judge(found, [{"n": 3}], [{"value": [1, 3, 6]}])
    assert verdict.reason == "at [2] `powers(n=3)` gave 6: that is not right"
    assert verdict._repr_html_().count("not right") == 1
