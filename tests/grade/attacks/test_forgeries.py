"""Forged traces in the real sandbox: what is computed once more outside is not right."""

from __future__ import annotations

import pytest

from rooflab.grade import judge_process, verdicts
from rooflab.grade.intake import CodeCell, Submission
from rooflab.grade.judge_process import judging
from rooflab.grade.lesson_notebook import lesson
from rooflab.grade.merge import merge
from tests.grade.attacks.forgeries import GOLF, SCHEDULE, SQUARES, TIMING
from tests.grade.support.small import one_long_case

TABLES = {
    "02-golf-axpy": GOLF,
    "02-golf-squares": SQUARES,
    "01-cuda-axpy": TIMING,
    "08-vectorise": SCHEDULE,
}
HONEST = {  # an answer that must pass beside forged ones
    "02-golf-axpy": (
        "02-golf-squares", "import numpy as np\ndef squares(x):\n    return float(np.dot(x, x))"
    ),
    "08-vectorise": (
        "08-stencil-tiles",
        "def slanted(nest):\n    return nest.skew('x', 't', 2).tile({'t': 8, 'x': 64})",
    ),
}  # fmt: skip
BESIDE = {"all the memory", "a log without end"}  # the attacks beside which it stands


SERVE = "; serve("
SOONER = "; import rooflab.exercises.kinds.golf as g; g.AGAIN = g.replace(g.AGAIN, seconds=0.5)"


@pytest.fixture(scope="module")
def apart():
    """A judge that waits for half a second, not for ten, where a program has no end."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judge_process, "_RUN", judge_process._RUN.replace(SERVE, SOONER + SERVE))
        with judging() as judge:
            yield judge


@pytest.mark.parametrize("id", TABLES)
def test_what_is_forged_gets_no_points_and_costs_no_other_answer(runner, apart, id, monkeypatch):
    one_long_case(monkeypatch)
    found, faults = lesson(id[:2]), []
    for name, source in TABLES[id].items():
        cells = [(source, id)]
        if name in BESIDE:
            other, answer = HONEST[id]
            cells.insert(0, (answer, other))
        made = tuple(CodeCell(text, n, each) for n, (text, each) in enumerate(cells, 1))
        locked = merge(Submission("f", "d", id[:2], "Mallory", made), found, 1)
        came = verdicts.judge_outcome(locked, runner.run(locked), found, apart)
        if came[id].passed or (name in BESIDE and not came[HONEST[id][0]].passed):
            faults.append((name, came[id], came.get(HONEST.get(id, (id,))[0])))
    assert not faults
