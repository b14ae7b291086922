"""Hostile and broken answers, each in a real kernel in the real sandbox, between honest ones."""

import socket
import time
from dataclasses import replace
from functools import cache

import pytest

from rooflab.grade.locked_notebook import ENDED
from tests.grade.attacks import answers as attacks
from tests.grade.attacks import probes
from tests.grade.support.small import CASES, RIGHT, SOON, honest, left_over, locked, shared

SLOWEST = SOON.wall + 12  # seconds; a run that takes longer hangs


def attacked(runner, source, **changes):
    """Run the attack between two honest answers; check what holds for every attack."""
    begin = time.monotonic()
    outcome = runner.run(locked(honest(0), source, honest(2), **changes), SOON)
    assert time.monotonic() - begin < SLOWEST
    assert left_over(runner) == 0
    assert outcome.observations["01-e0"] == RIGHT, "the earlier answer keeps its verdict"
    assert outcome.observations.get("01-e1") != RIGHT
    assert set(outcome.observations) | set(outcome.reasons) == {"01-e0", "01-e1", "01-e2"}
    assert not set(outcome.observations) & set(outcome.reasons)
    return outcome


@pytest.mark.parametrize("name", attacks.ENDS_THE_KERNEL)
def test_a_dead_kernel_costs_the_exercise_that_ended_it_and_no_other(runner, name):
    outcome = attacked(runner, attacks.ENDS_THE_KERNEL[name])
    assert outcome.reasons["01-e1"].startswith(ENDED.format(""))
    assert outcome.observations.get("01-e2") == RIGHT, outcome
    assert outcome.stopped is None


@pytest.mark.parametrize("name", attacks.MAY_END_THE_KERNEL)
def test_whether_the_kernel_survives_or_not(runner, name):
    outcome = attacked(runner, attacks.MAY_END_THE_KERNEL[name])
    assert outcome.observations.get("01-e2") in (None, RIGHT)


PACKS = [tuple(attacks.COSTS_ONE_EXERCISE)[first::5] for first in range(5)]  # the slow ones apart
PACK = {name: pack for pack in PACKS for name in pack}
FOR_A_PACK = replace(SOON, wall=20, cpu=20)


@pytest.fixture(scope="module")
def packed(runner):
    """A function: the attacks of a pack → what came of them in one submission, run once."""

    @cache
    def run(pack):
        begin = time.monotonic()
        made = shared(attacks.COSTS_ONE_EXERCISE[name] for name in pack)
        outcome = runner.run(made, FOR_A_PACK)
        assert time.monotonic() - begin < FOR_A_PACK.wall + 12
        assert left_over(runner) == 0
        assert not set(outcome.observations) & set(outcome.reasons)
        assert set(outcome.observations) | set(outcome.reasons) == set(made.cases)
        return outcome

    return run


@pytest.mark.parametrize("name", PACK)
def test_later_answers_of_a_kernel_that_lives_still_count(packed, name):
    outcome, number = packed(PACK[name]), 2 * PACK[name].index(name) + 1
    before, own, behind = (f"01-e{n}" for n in (number - 1, number, number + 1))
    assert outcome.observations.get(before) == RIGHT, "the earlier answer keeps its verdict"
    assert outcome.observations.get(own) != RIGHT
    assert outcome.observations.get(behind) == RIGHT, outcome
    assert outcome.stopped is None


@pytest.mark.parametrize("name", probes.TAMPERS)
def test_tampering_makes_nothing_right(runner, name):
    outcome = attacked(runner, probes.TAMPERS[name])
    assert outcome.observations.get("01-e2") in (None, RIGHT) or not any(
        seen.get("value") == right["value"] and len(seen) == 1
        for seen, right in zip(outcome.observations["01-e2"], RIGHT, strict=False)
    )


@pytest.mark.parametrize("name", probes.PROBES)
def test_there_is_nothing_to_reach(runner, name):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        here = str(__file__)
        given = f"import numpy as np\nHERE, PORT = {here!r}, {listener.getsockname()[1]}"
        outcome = attacked(runner, probes.PROBES[name], given=given)
    assert outcome.observations["01-e1"] == [{"value": []}] * 2


@pytest.mark.parametrize("name", probes.LOOKS_BACK)
def test_what_an_answer_cell_prints_holds_no_hidden_case(runner, name):
    looks = [f"{honest(number)}\n{probes.LOOKS_BACK[name]}" for number in (1, 2)]
    outcome = runner.run(locked(honest(0), *looks))
    assert list(outcome.observations.values()) == [RIGHT] * 3
    for id in ("01-e1", "01-e2"):
        assert outcome.printed[id]
        assert not [case for case in CASES if str(case)[1:-1] in outcome.printed[id]]
        assert "_report(" not in outcome.printed[id]


@pytest.mark.parametrize(
    "source",
    [
        "print = json = None\nimport builtins\nbuiltins.print = None",
        "import sys, io\nsys.stdout = io.StringIO()",
        "import sys\nsys.stdout = sys.stderr = sys.__stdout__ = None",
        "_report = check = collect = None",
    ],
    ids=["print", "stdout", "no streams", "names"],
)
def test_what_a_learner_replaced_does_not_spoil_a_right_answer(runner, source):
    outcome = runner.run(locked(f"{source}\n{honest(0)}", honest(1)), SOON)
    assert list(outcome.observations.values()) == [RIGHT, RIGHT]


def test_a_sentence_on_what_was_measured_is_no_answer_and_the_learner_is_told(runner):
    inside = "import rooflab as rl\ndef f1(m, n):\n    return rl.conclude('01-ratio', m, n)"
    after = f"import rooflab as rl\n{honest(2)}\nrl.conclude('01-ratio', 1, 2)"
    outcome = runner.run(locked(honest(0), inside, after), SOON)
    assert [list(seen) for seen in outcome.observations["01-e1"]] == [["error"]] * 2
    assert "outside the answer" in outcome.observations["01-e1"][0]["error"]
    assert outcome.observations["01-e0"] == outcome.observations["01-e2"] == RIGHT
