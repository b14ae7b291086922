"""Hostile and broken answers, in real kernels in the real sandbox, between honest ones."""

import json
import socket
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from rooflab.exercises.exercise import Exercise, Misconception
from rooflab.exercises.judge import judge
from rooflab.exercises.observe.collect import collect
from rooflab.grade import verdicts
from rooflab.grade.launch import read_outcome
from rooflab.grade.locked_notebook import ENDED, Outcome
from tests.grade.attacks import answers as attacks
from tests.grade.attacks import answers_more as attacks_more
from tests.grade.attacks import probes
from tests.grade.support import small
from tests.grade.support.small import CASES, RIGHT, honest, left_over, locked, shared

SOON = replace(small.SOON, wall=6, cell=0.3)  # by the clock a cell has two seconds
FOR_A_PACK = replace(SOON, wall=60, cpu=40)
PACKS = (attacks.ENDS_THE_KERNEL, attacks.MAY_END_THE_KERNEL, attacks.COSTS_ONE_EXERCISE,
         attacks_more.SHARES)  # fmt: skip


@pytest.fixture(scope="module")
def outcomes(runner):
    """What came of the packs and of the others; they run together, since most of them wait."""
    jobs = {str([*table]): (shared(table.values()), FOR_A_PACK) for table in PACKS}
    for name, source in {**attacks_more.SPOILS, **probes.TAMPERS}.items():
        jobs[name] = locked(honest(0), source, honest(2)), SOON
    with ThreadPoolExecutor(6) as pool:
        found = dict(zip(jobs, pool.map(lambda job: runner.run(*job), jobs.values()), strict=True))
    assert left_over(runner) == 0
    for name, (made, _) in jobs.items():
        assert sorted([*found[name].observations, *found[name].reasons]) == sorted(made.cases)
        assert found[name].observations["01-e0"] == RIGHT, "the earlier answer keeps its verdict"
    return found


def packed(outcomes: Mapping[str, Outcome], table: Mapping[str, str]):
    """Of a pack: its outcome; name, id of the attack, id of the honest answer behind it."""
    rows = [(n, f"01-e{2 * k + 1}", f"01-e{2 * k + 2}") for k, n in enumerate(table)]
    outcome = outcomes[str([*table])]
    assert not [name for name, own, _ in rows if outcome.observations.get(own) == RIGHT]
    return outcome, rows


def test_a_dead_kernel_costs_the_exercise_that_ended_it_and_no_other(outcomes):
    outcome, rows = packed(outcomes, attacks.ENDS_THE_KERNEL)
    faults = [
        (name, outcome.reasons.get(own), behind)
        for name, own, behind in rows
        if not outcome.reasons.get(own, "").startswith(ENDED.format(""))
        or outcome.observations.get(behind) != RIGHT
    ]
    assert not faults and outcome.stopped is None


def test_whether_the_kernel_survives_or_not(outcomes):
    outcome, rows = packed(outcomes, attacks.MAY_END_THE_KERNEL)
    assert all(outcome.observations.get(behind) in (None, RIGHT) for *_, behind in rows)


def test_later_answers_of_a_kernel_that_lives_still_count(outcomes):
    for table in (attacks.COSTS_ONE_EXERCISE, attacks_more.SHARES):
        outcome, rows = packed(outcomes, table)
        assert not [name for name, _, end in rows if outcome.observations.get(end) != RIGHT]
        assert outcome.stopped is None


def test_tampering_and_spoiling_make_nothing_right(outcomes):
    for name in (*attacks_more.SPOILS, *probes.TAMPERS):
        assert outcomes[name].observations.get("01-e1") != RIGHT, name
        later = outcomes[name].observations.get("01-e2")
        assert later in (None, RIGHT) or not any(
            seen.get("value") == right["value"] and len(seen) == 1
            for seen, right in zip(later, RIGHT, strict=False)
        ), name


def test_there_is_nothing_to_reach(runner):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        given = f"import numpy as np\nHERE, PORT = {__file__!r}, {listener.getsockname()[1]}"
        found = runner.run(shared(probes.PROBES.values(), given=given), FOR_A_PACK)
    assert left_over(runner) == 0
    outcome, rows = packed({str([*probes.PROBES]): found}, probes.PROBES)
    nothing = [{"value": []}] * 2
    reached = {name: outcome.observations.get(own) for name, own, _ in rows}
    assert not {name: seen for name, seen in reached.items() if seen != nothing}


def test_what_an_answer_cell_prints_holds_no_hidden_case(runner):
    looks = [
        f"{honest(number)}\n{source}" for number, source in enumerate(probes.LOOKS_BACK.values(), 1)
    ]
    outcome = runner.run(locked(honest(0), *looks))
    assert list(outcome.observations.values()) == [RIGHT] * (1 + len(looks))
    for number in range(1, 1 + len(looks)):
        assert (told := outcome.printed[f"01-e{number}"])
        assert not [case for case in CASES if str(case)[1:-1] in told]


MISTAKES = tuple(
    Misconception(name, wrong, "look again")
    for name, wrong in (("sum", lambda m, n: m + n), ("m", lambda m, n: m), ("n", lambda m, n: n))
)
PRODUCT = Exercise(
    "01-product", "Product", 1, "Return m·n.", "f1(m, n)", lambda m, n: m * n, MISTAKES
)


@pytest.mark.filterwarnings("ignore:coroutine:RuntimeWarning")  # one of them is never awaited
def test_what_lies_is_not_believed(monkeypatch):
    monkeypatch.setitem(sys.modules, "f1", None)  # one of them replaces it
    cases = [dict(case) for case in CASES]
    for name, source in attacks_more.LIES.items():
        names: dict = {}
        exec(compile(f"import numpy as np\n{source}", "cell", "exec"), names)
        seen = collect("function", cases, names["f1"])
        answer = json.dumps({"id": "01-product", "observations": seen})  # as it leaves the sandbox
        came = read_outcome(f'{{"killed": null}}\n{answer}'.encode(), ["01-product"])
        found = verdicts.tidy(judge(PRODUCT, CASES, came.observations["01-product"]))
        assert not found.passed and 5 < len(found.reason) <= verdicts.LONGEST, name
        assert found.reason.isprintable(), f"{name}: one line without control marks"
