"""The example call of each exercise: it shows the form of an answer and gives none away."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from rooflab.exercises.compare import same
from rooflab.exercises.exercise import Exercise
from rooflab.exercises.judge import judge
from rooflab.exercises.observe.plaindata import to_plain
from rooflab.exercises.registry import exercises

CALLED = [one for one in exercises().values() if one.kind in ("function", "arrays")]
LESSONS = sorted({one.lesson for one in CALLED})


def faults(one: Exercise) -> Iterator[str]:
    """What is wrong with an example."""
    if not one.example:
        yield "none: give the inputs of one call"
        return
    value = to_plain(one.reference(*one.example))
    call = json.dumps(to_plain(list(one.example)))
    drawn = (list(case.values()) for seed in range(200) for case in one.draw(seed))
    if any(json.dumps(inputs) == call for inputs in drawn):
        yield "a case that is drawn"
    sizes = [x for x in one.example if isinstance(x, (int, float)) and not isinstance(x, bool)]
    if len({*sizes}) < len(sizes):
        yield "equal sizes hide a slip"
    wrong = [to_plain(mistake.wrong(*one.example)) for mistake in one.misconceptions]
    if not any(same(value, each, one.tolerance) for each in wrong):
        yield "it convicts every slip"
    if judge(one, one.draw(0), [{"value": value}] * len(one.draw(0))).passed:
        yield "its value passes for every case"


@pytest.mark.parametrize("lesson", LESSONS)
def test_an_example_is_a_call_that_no_draw_has_and_that_does_not_convict_everybody(lesson):
    assert [(e.id, list(faults(e))) for e in CALLED if e.lesson == lesson and [*faults(e)]] == []


@pytest.mark.parametrize("lesson", LESSONS)
def test_fixed_cases_visit_the_edges_of_each_domain(lesson):
    missed = [
        (one.id, name, edge)
        for one in CALLED
        if one.lesson == lesson
        for name, domain in one.domain.items()
        for values in [[case[name] for case in one.fixed if name in case]]
        for edge in domain.edges
        if edge not in [len(value) if isinstance(value, list) else value for value in values]
    ]
    assert missed == []
