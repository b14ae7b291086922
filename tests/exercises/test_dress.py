"""Right answers in unusual dress are right, wrong ones get the name of their mistake.

The tables are in ``dress``, one line a case: exercise, source of the answer, and for a wrong one
the misconception that must be named (WRONG) or words that must be said (TOLD). The source is an
expression, or statements that define ``answer``. Add a line when a learner wrote something new.
``rl.check`` judges each case, and so does the grader on cases of its own.
"""

from __future__ import annotations

import json
from collections import Counter
from itertools import islice, zip_longest

import pytest
from typer.testing import CliRunner

from rooflab.cli import app
from rooflab.exercises import ending
from rooflab.exercises.check import check
from rooflab.exercises.registry import exercise
from rooflab.grade import intake, launch, lesson_notebook, verdicts
from rooflab.grade.merge import merge
from tests.exercises.dress import (
    lesson00,
    lesson01,
    lesson02,
    lesson03,
    lesson04,
    lesson05,
    lesson06,
    lesson07,
    lesson08,
    lesson09,
)
from tests.grade.support import in_process
from tests.grade.support.notebooks import changed, put

TABLES = {
    "00": lesson00,
    "01": lesson01,
    "02": lesson02,
    "03": lesson03,
    "04": lesson04,
    "05": lesson05,
    "06": lesson06,
    "07": lesson07,
    "08": lesson08,
    "09": lesson09,
}
IMPORTS = """import math, statistics
import numpy as np
from collections import namedtuple
from fractions import Fraction
from functools import partial
"""


def cell(source: str) -> str:
    """The source of an answer cell that makes ``answer``."""
    statements = source.startswith(("def ", "async ", "class ", "import ", "from "))
    return IMPORTS + (source if statements else f"answer = {source}")


def made(source: str) -> object:
    scope: dict[str, object] = {"__name__": "__main__"}
    scope["product"] = abs  # something else with the name of an answer
    exec(cell(source), scope)
    return scope["answer"]


def rows(name: str) -> list:
    found = [row for table in TABLES.values() for row in getattr(table, name)]
    return [pytest.param(*row, id=f"{row[0]}: {' '.join(row[1].split())[-70:]}") for row in found]


FIRST = {row[0]: row[1] for table in TABLES.values() for row in reversed(table.RIGHT)}


@pytest.fixture(autouse=True)
def few_children(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """One right answer of each exercise runs in a child; a thousand forks would take minutes."""
    case = request.node.callspec.params
    if case.get("source") != FIRST.get(case.get("id"), ""):
        monkeypatch.setattr(ending, "possible", lambda: False)


@pytest.mark.parametrize(("id", "source"), rows("RIGHT"))
def test_a_right_answer_is_right_in_any_dress(id, source):
    verdict = check(id, made(source))
    assert verdict.passed, verdict


@pytest.mark.parametrize(("id", "source", "name"), rows("WRONG"))
def test_a_wrong_answer_gets_the_name_of_its_mistake(id, source, name):
    verdict = check(id, made(source))
    assert not verdict.passed and verdict.misconception == name and verdict.hint, verdict


@pytest.mark.parametrize(("id", "source", "words"), rows("TOLD"))
def test_what_cannot_be_judged_is_refused_kindly(id, source, words):
    verdict = check(id, made(source))
    assert not verdict.passed and words in f"{verdict!r}", verdict


@pytest.mark.parametrize("lesson", TABLES)
def test_every_exercise_has_its_cases(lesson):
    asked = {id for id in lesson_notebook.lesson(lesson).order if exercise(id).kind != "timing"}
    for name, least in (("RIGHT", 1), ("WRONG", 4)):
        ids = [row[0] for row in getattr(TABLES[lesson], name)]
        assert {id for id in asked if ids.count(id) < least} == set(), f"too few in {name}"


def submissions(lesson: str) -> list[dict[str, tuple]]:
    """Every case of the tables in as few notebooks as possible: exercise → case."""
    table = TABLES[lesson]
    listed: dict[str, list[tuple]] = {}
    for name in ("RIGHT", "WRONG", "TOLD"):
        for id, *case in getattr(table, name):
            listed.setdefault(id, []).append((name, *case))
    packed = zip_longest(*(enough(id, cases) for id, cases in listed.items()))
    return [{id: case for id, case in zip(listed, cases, strict=True) if case} for cases in packed]


def enough(id: str, cases: list[tuple]) -> list[tuple]:
    """All cases of an exercise; of golf two right answers, each mistake once, each refusal once.

    Golf takes the longest, and its judge is that of ``rl.check``, which judges all of them.
    """
    if exercise(id).kind != "golf":
        return cases
    wanted = Counter({("RIGHT",): 2})
    found = []
    for case in cases:
        kind, _, *more = case
        wanted.setdefault((kind, *more), 1)
        wanted[kind, *more] -= 1
        found += [case] if wanted[kind, *more] >= 0 else []
    return found


def named(lesson: str, id: str, source: str) -> str:
    return f"{cell(source)}\n{lesson_notebook.lesson(lesson).names[id]} = answer"


@pytest.mark.parametrize("lesson", TABLES)
def test_the_grader_says_the_same(lesson, tmp_path):
    """On cases of another seed, through everything but the sandbox."""
    wrong = []
    golf = [id for id in lesson_notebook.lesson(lesson).order if exercise(id).kind == "golf"]
    for number, cases in enumerate(submissions(lesson)):
        answers = dict.fromkeys(golf, "")  # where there is no case left, no long run of a solution
        answers |= {id: named(lesson, id, source) for id, (_, source, *_) in cases.items()}
        read = intake.read(put(tmp_path / f"{number}.ipynb", changed(answers, lesson)))
        # Golf's arrays of a seed are drawn once (conftest.py): a few seeds do, one after another.
        locked = merge(read, lesson_notebook.lesson(lesson), seed=77 + number // 10)
        found = verdicts.judge_outcome(
            locked, in_process.run(locked), lesson_notebook.lesson(lesson)
        )
        for id, (kind, _, *more) in cases.items():
            said = found[id]
            right = {
                "RIGHT": said.passed,
                "WRONG": not said.passed and [said.misconception] == more,
                "TOLD": not said.passed and all(text in repr(said) for text in more),
            }[kind]
            wrong += [] if right else [f"{answers[id]}\n  wanted {more}, got {said!r}"]
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.skipif(launch.missing() is not None, reason="no bubblewrap on this machine")
@pytest.mark.parametrize("lesson", ["00", "01"])
def test_rooflab_grade_says_the_same(lesson, tmp_path):
    """The first notebooks of the tables, as a teacher grades them: in the sandbox."""
    packed = list(islice(submissions(lesson), 3))
    for number, cases in enumerate(packed):
        answers = {id: named(lesson, id, case[1]) for id, case in cases.items()}
        put(tmp_path / "in" / f"{number}.ipynb", changed(answers, lesson))
    asked = ["grade", tmp_path / "in", "--out", tmp_path / "out", "--seed", 5]
    told = CliRunner().invoke(app, [*map(str, asked)])
    assert told.exit_code == 0, told.output
    rows = json.loads((tmp_path / "out" / "results.json").read_text("utf-8"))["submissions"]
    for row, cases in zip(rows, packed, strict=True):
        for id, (kind, _, *more) in cases.items():
            got = row["exercises"][id]
            assert (got["points"] == got["max"]) is (kind == "RIGHT"), (id, got)
            assert kind != "WRONG" or f"({more[0]}: " in got["reason"], (id, got)
