"""Wrong answers that once passed, or that a reader thought of: none of them is right.

The tables are in ``wrong_answers``: ROWS of an exercise's id and the source of an answer, an
expression or statements that define ``answer``. Add a row when a wrong answer passed.
"""

from __future__ import annotations

from pathlib import Path
from runpy import run_path

import pytest

from rooflab.exercises.check import PUBLIC_SEED
from rooflab.exercises.registry import exercise
from tests.exercises.support.quick_verdict import quick_verdict
from tests.exercises.test_dress import made

TABLES = sorted(Path(__file__).with_name("wrong_answers").glob("lesson*.py"))


@pytest.mark.parametrize("table", TABLES, ids=lambda path: path.stem)
def test_no_wrong_answer_passes(table):
    """Neither in ``rl.check`` nor on the cases of two hidden seeds."""
    faults = []
    for id, source in run_path(str(table))["ROWS"]:
        asked = exercise(id)
        for seed in (PUBLIC_SEED, "hidden", 7):
            cases = asked.draw(seed)[::-1]  # where much is wrong, the fixed ones tell
            verdict = quick_verdict(asked, cases, made(source))
            faults += [(id, seed, source)] if verdict.passed else []
    assert not faults, faults
