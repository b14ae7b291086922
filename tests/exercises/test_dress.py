"""Right answers in unusual dress are right, wrong ones get the name of their mistake.

The tables are in ``dress``, one line a case: exercise, source of the answer, and for a wrong one
the misconception that must be named (WRONG) or words that must be said (TOLD). The source is an
expression, or statements that define ``answer``. Add a line when a learner wrote something new.
``rl.check`` judges each case, and so does the grader on cases of its own.
"""

from __future__ import annotations

import pytest

from rooflab.exercises.check import check
from tests.exercises.dress import lesson00, lesson01, lesson03, lesson04, lesson05

TABLES = {"00": lesson00, "01": lesson01, "03": lesson03, "04": lesson04, "05": lesson05}
IMPORTS = """import math, statistics
import numpy as np
from collections import namedtuple
from fractions import Fraction
from functools import partial
"""


def cell(source: str) -> str:
    """The source of an answer cell that makes ``answer``."""
    statements = source.startswith(("def ", "class ", "import ", "from "))
    return IMPORTS + (source if statements else f"answer = {source}")


def made(source: str, id: str) -> object:
    scope: dict[str, object] = {"__name__": "__main__"}
    scope["product"] = abs  # something else with the name of an answer
    exec(cell(source), scope)
    return scope["answer"]


def rows(name: str) -> list:
    found = [row for table in TABLES.values() for row in getattr(table, name)]
    return [pytest.param(*row, id=f"{row[0]}: {' '.join(row[1].split())[-70:]}") for row in found]


@pytest.mark.parametrize(("id", "source"), rows("RIGHT"))
def test_a_right_answer_is_right_in_any_dress(id, source):
    verdict = check(id, made(source, id))
    assert verdict.passed, verdict


@pytest.mark.parametrize(("id", "source", "name"), rows("WRONG"))
def test_a_wrong_answer_gets_the_name_of_its_mistake(id, source, name):
    verdict = check(id, made(source, id))
    assert not verdict.passed and verdict.misconception == name and verdict.hint, verdict


@pytest.mark.parametrize(("id", "source", "words"), rows("TOLD"))
def test_what_cannot_be_judged_is_refused_kindly(id, source, words):
    verdict = check(id, made(source, id))
    assert not verdict.passed and words in f"{verdict!r}", verdict
