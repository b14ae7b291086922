"""Forged traces in the real sandbox: what is computed once more outside is not right."""

from __future__ import annotations

import time

import pytest

from rooflab.grade import verdicts
from rooflab.grade.intake import CodeCell, Submission
from rooflab.grade.judge_process import judging
from rooflab.grade.launch import missing
from rooflab.grade.lesson_notebook import lesson
from rooflab.grade.merge import merge
from tests.grade.attacks.forgeries import GOLF, SCHEDULE, SQUARES, TIMING

HONEST = "import numpy as np\ndef squares(x):\n    return float(np.dot(x, x))"
TABLES = {
    "02-golf-axpy": GOLF,
    "02-golf-squares": SQUARES,
    "01-cuda-axpy": TIMING,
    "08-vectorise": SCHEDULE,
}
ALL = [(id, name) for id, table in TABLES.items() for name in table]
SECONDS = 100


@pytest.fixture(scope="module")
def apart():
    with judging() as judge:
        yield judge


def graded(runner, apart, number, *cells):
    found = lesson(number)
    made = tuple(CodeCell(source, n, id) for n, (source, id) in enumerate(cells, 1))
    locked = merge(Submission("f", "d", number, "Mallory", made), found, 1)
    return verdicts.judge_outcome(locked, runner.run(locked), found, apart)


@pytest.mark.skipif(missing() is not None, reason="no sandbox")
@pytest.mark.parametrize(("id", "name"), ALL, ids=lambda part: str(part))
def test_what_is_forged_gets_no_points(runner, apart, id, name):
    begin = time.monotonic()
    verdict = graded(runner, apart, id[:2], (TABLES[id][name], id))[id]
    assert not verdict.passed, verdict
    assert time.monotonic() - begin < SECONDS


@pytest.mark.skipif(missing() is not None, reason="no sandbox")
def test_the_honest_answer_passes_beside_them(runner, apart):
    for name in ("all the memory", "another NumPy"):
        found = graded(
            runner, apart, "02", (HONEST, "02-golf-squares"), (GOLF[name], "02-golf-axpy")
        )
        assert found["02-golf-squares"].passed, found["02-golf-squares"]
        assert not found["02-golf-axpy"].passed


@pytest.mark.skipif(missing() is not None, reason="no sandbox")
def test_an_honest_schedule_passes_beside_a_forged_one(runner, apart):
    honest = "def slanted(nest):\n    return nest.skew('x', 't', 2).tile({'t': 8, 'x': 64})"
    forged = SCHEDULE["a log without end"]
    found = graded(runner, apart, "08", (honest, "08-stencil-tiles"), (forged, "08-vectorise"))
    assert found["08-stencil-tiles"].passed, found["08-stencil-tiles"]
    assert not found["08-vectorise"].passed
