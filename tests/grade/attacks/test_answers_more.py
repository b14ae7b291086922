"""More attacks. Those that only lie need no kernel; the others share a few submissions."""

import json
import sys

import pytest

from rooflab.exercises.exercise import Exercise, Misconception
from rooflab.exercises.judge import judge
from rooflab.exercises.observe.collect import collect
from rooflab.grade import verdicts
from rooflab.grade.launch import read_outcome
from tests.grade.attacks import answers_more as attacks_more
from tests.grade.support.small import CASES, RIGHT, SOON, honest, left_over, locked, shared

MISTAKES = tuple(
    Misconception(name, wrong, "look again")
    for name, wrong in (("sum", lambda m, n: m + n), ("m", lambda m, n: m), ("n", lambda m, n: n))
)
PRODUCT = Exercise(
    "01-product", "Product", 1, "Return m·n.", "f1(m, n)", lambda m, n: m * n, MISTAKES
)
TOGETHER = 8  # attacks of one submission


@pytest.mark.filterwarnings("ignore:coroutine:RuntimeWarning")  # one of them is never awaited
@pytest.mark.parametrize("name", attacks_more.LIES)
def test_what_lies_is_not_believed(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "f1", None)  # one of them replaces it
    names: dict = {}
    exec(compile(f"import numpy as np\n{attacks_more.LIES[name]}", "cell", "exec"), names)
    cases = [dict(case) for case in CASES]
    seen = collect("function", cases, names["f1"])
    answer = json.dumps({"id": "01-product", "observations": seen})  # as it leaves the sandbox
    came = read_outcome(f'{{"killed": null}}\n{answer}'.encode(), ["01-product"])
    found = verdicts.tidy(judge(PRODUCT, CASES, came.observations["01-product"]))
    assert not found.passed and 5 < len(found.reason) <= verdicts.LONGEST
    assert found.reason.isprintable(), "one line without control marks"


SHARES = list(attacks_more.SHARES)


@pytest.mark.parametrize("first", range(0, len(SHARES), TOGETHER))
def test_the_answers_around_an_attack_still_count(runner, first):
    names = SHARES[first : first + TOGETHER]
    outcome = runner.run(shared(attacks_more.SHARES[name] for name in names), SOON)
    assert left_over(runner) == 0
    for number, name in enumerate(names):
        assert outcome.observations.get(f"01-e{2 * number + 1}") != RIGHT, name
        assert outcome.observations.get(f"01-e{2 * number + 2}") == RIGHT, (name, outcome)


@pytest.mark.parametrize("name", attacks_more.SPOILS)
def test_what_spoils_the_rest_keeps_what_was_before(runner, name):
    outcome = runner.run(locked(honest(0), attacks_more.SPOILS[name], honest(2)), SOON)
    assert left_over(runner) == 0
    assert outcome.observations["01-e0"] == RIGHT
    assert outcome.observations.get("01-e1") != RIGHT
    assert set(outcome.observations) | set(outcome.reasons) == {"01-e0", "01-e1", "01-e2"}
