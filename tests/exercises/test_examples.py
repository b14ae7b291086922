"""The example call of each exercise: it shows the form of an answer and gives none away."""

from __future__ import annotations

import json

import pytest

from rooflab.exercises.compare import same
from rooflab.exercises.exercise import Exercise
from rooflab.exercises.judge import judge
from rooflab.exercises.observe.plaindata import to_plain
from rooflab.exercises.registry import exercises

DRAWS = 200
CALLED = [one for one in exercises().values() if one.kind in ("function", "arrays")]


def names(one: Exercise) -> str:
    return one.id


@pytest.mark.parametrize("one", CALLED, ids=names)
def test_its_example_is_a_call_that_no_draw_has_and_that_convicts_not_everybody(one):
    assert one.example, "give the inputs of one call"
    value = to_plain(one.reference(*one.example))
    call = json.dumps(to_plain(list(one.example)))
    drawn = (list(case.values()) for seed in range(DRAWS) for case in one.draw(seed))
    assert all(json.dumps(inputs) != call for inputs in drawn)
    free = [x for name, x in zip(one.inputs, one.example) if name not in one.domain
            or not isinstance(x, bool)]  # fmt: skip
    sizes = [x for x in free if isinstance(x, (int, float))]
    assert len({*sizes}) == len(sizes), "equal sizes hide a slip"
    wrong = [to_plain(mistake.wrong(*one.example)) for mistake in one.misconceptions]
    assert any(same(value, each, one.tolerance) for each in wrong), "it convicts every slip"
    cases = one.draw(0)
    assert not judge(one, cases, [{"value": value}] * len(cases)).passed


@pytest.mark.parametrize("one", [e for e in CALLED if e.domain], ids=names)
def test_its_fixed_cases_visit_the_edges_of_its_domain(one):
    faults = []
    for name, domain in one.domain.items():
        seen = frozenset().union(*(domain.visited(c[name]) for c in one.fixed if name in c))
        faults += [(name, edge) for edge in domain.edges if edge not in seen]
    assert not faults
