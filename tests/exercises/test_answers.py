"""Right answers in unusual dress are right, wrong ones get the name of their mistake.

Every exercise's right answer is put into the dresses of ``dresses``. What learners wrote else
stands in ``tests/course/answers``, as an expression, or statements that define ``answer``: RIGHT
are other ways to the right numbers, WRONG are mistakes that no exercise has, that come two at a
time, or that are written in a way of their own (name → answer), TOLD is what cannot be judged
(words that must be said → answer), PASSED_ONCE (exercise, answer) is wrong on some input that the
question allows: add a row when a wrong answer passed.
"""

from __future__ import annotations

import importlib
import json

import pytest
from typer.testing import CliRunner

from rooflab.cli import app
from rooflab.exercises.check import PUBLIC_SEED, check
from rooflab.exercises.exercise import COMPARED
from rooflab.exercises.judge import judge
from rooflab.exercises.observe.collect import collect
from rooflab.exercises.registry import exercise, exercises
from rooflab.grade import launch, lesson_notebook, verdicts
from tests.exercises.dresses import FUNCTIONS, PARTS, RESULTS, dressed
from tests.exercises.support.quick_verdict import quick_verdict
from tests.grade.support import in_process
from tests.grade.support.notebooks import changed, merged, put
from tests.support.cells import run_cell

LESSONS = sorted({one.lesson for one in exercises().values()})
TABLES = {n: importlib.import_module(f"tests.course.answers.lesson{n}") for n in LESSONS}
IMPORTS = """import math, statistics
import numpy as np
from collections import namedtuple
from fractions import Fraction
"""


def cell(source: str) -> str:
    """The source of an answer cell that makes ``answer``."""
    statements = source.startswith(("def ", "async ", "class ", "import ", "from "))
    return IMPORTS + (source if statements else f"answer = {source}")


def made(source: str) -> object:
    scope: dict[str, object] = {"__name__": "__main__"}
    run_cell(cell(source), scope)
    return scope["answer"]


def rows(lesson: str):
    """(exercise, source, its name and what is wanted of the verdict) of all that is written down.

    Wanted is ("RIGHT", ""), ("WRONG", name of the mistake) or ("TOLD", words).
    """
    table = TABLES[lesson]
    yield from ((id, one, ("RIGHT", "")) for id, several in table.RIGHT.items() for one in several)
    for kind in ("WRONG", "TOLD"):
        for id, named in getattr(table, kind).items():
            yield from ((id, one, (kind, said)) for said, one in named.items())


def agrees(verdict, wanted: tuple[str, str]) -> bool:
    kind, said = wanted
    if kind == "RIGHT":
        return verdict.passed
    named = verdict.misconception == said and bool(verdict.hint)
    return not verdict.passed and (named if kind == "WRONG" else said in f"{verdict!r}")


@pytest.mark.parametrize("dress", [*RESULTS, *PARTS, *FUNCTIONS])
def test_a_right_answer_is_right_in_any_dress(dress):
    faults, worn = [], 0
    for found in exercises().values():
        answer = dressed(found, dress) if found.kind in COMPARED else None
        if answer is not None:
            cases, worn = found.draw(3), worn + 1
            seen = collect(found.kind, cases, answer() if found.kind == "value" else answer)
            verdict = judge(found, cases, seen)
            faults += [] if verdict.passed else [verdict]
    assert not faults and worn > 20, faults


@pytest.mark.parametrize("lesson", TABLES)
def test_what_learners_write_gets_its_verdict(here, lesson):
    faults = []
    for id, source, wanted in rows(lesson):
        verdict = check(id, made(source))
        faults += [] if agrees(verdict, wanted) else [(source, wanted, verdict)]
    assert not faults, faults


@pytest.mark.parametrize("lesson", TABLES)
def test_no_wrong_answer_that_passed_once_passes(lesson):
    """Neither in ``rl.check`` nor on the cases of two hidden seeds."""
    faults = []
    for id, source in TABLES[lesson].PASSED_ONCE:
        asked = exercise(id)
        for seed in (PUBLIC_SEED, "hidden", 7):
            cases = asked.draw(seed)[::-1]  # where much is wrong, the fixed ones tell
            verdict = quick_verdict(asked, cases, made(source))
            faults += [(id, seed, source)] if verdict.passed else []
    assert not faults, faults


def mixed(lesson: str) -> dict[str, tuple[str, tuple[str, str]]]:
    """Of every second exercise a right answer, of the others a wrong one: exercise → case."""
    found: dict[str, tuple[str, tuple[str, str]]] = {}
    for number, id in enumerate(lesson_notebook.lesson(lesson).order):
        of_id = [(source, wanted) for one, source, wanted in rows(lesson) if one == id]
        of_id.sort(key=lambda case: (case[1][0] == "RIGHT") is bool(number % 2))
        found |= {id: of_id[0]} if of_id else {}
    return found


def named(lesson: str, id: str, source: str) -> str:
    return f"{cell(source)}\n{lesson_notebook.lesson(lesson).names[id]} = answer"


@pytest.mark.parametrize("lesson", TABLES)
def test_the_grader_and_a_check_say_the_same(here, lesson, tmp_path):
    """The grader on cases of another seed, through everything but the sandbox."""
    known, cases = lesson_notebook.lesson(lesson), mixed(lesson)
    golf = [id for id in known.order if exercise(id).kind == "golf"]
    answers = dict.fromkeys(golf[2:], "")  # no long runs of a solution
    answers |= {id: named(lesson, id, cases[id][0]) for id in cases if id not in golf[2:]}
    locked = merged(tmp_path, changed(answers, lesson), seed=77)
    verdict = verdicts.judge_outcome(locked, in_process.run(locked), known)
    faults = []
    for id in cases.keys() - golf[2:]:
        source, wanted = cases[id]
        there, here = verdict[id], check(id, made(source))
        alike = (there.passed, there.misconception) == (here.passed, here.misconception)
        faults += [] if alike and agrees(there, wanted) else [(source, wanted, there, here)]
    assert not faults and len(cases) >= 3, faults


@pytest.mark.skipif(launch.missing() is not None, reason="no bubblewrap on this machine")
def test_rooflab_grade_says_the_same(tmp_path):
    """As a teacher grades it: in the sandbox."""
    cases = mixed("01")
    answers = {id: named("01", id, source) for id, (source, _) in cases.items()}
    put(tmp_path / "in" / "one.ipynb", changed(answers, "01"))
    asked = ["grade", tmp_path / "in", "--out", tmp_path / "out", "--seed", 5]
    told = CliRunner().invoke(app, [*map(str, asked)])
    assert told.exit_code == 0, told.output
    (row,) = json.loads((tmp_path / "out" / "results.json").read_text("utf-8"))["submissions"]
    for id, (_, (kind, said)) in cases.items():
        got = row["exercises"][id]
        assert (got["points"] == got["max"]) is (kind == "RIGHT"), (id, got)
        assert kind != "WRONG" or f"({said}: " in got["reason"], (id, got)
