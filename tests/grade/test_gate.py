"""Answers of golf and timing that could forge their trace do not count; plain ones do."""

import json
from pathlib import Path

import pytest

from rooflab.exercises.registry import exercises
from rooflab.golf import hole_variants
from rooflab.grade import gate, run, verdicts
from rooflab.grade.given import lesson
from rooflab.grade.intake import CodeCell, Submission
from rooflab.grade.merge import merge
from rooflab.grade.sandbox import missing
from tests.grade.notebooks import REPOSITORY

FORGED = {
    "tracer": "import rooflab.golf.score as s\ns.golf = None",
    "tracer by name": "from rooflab.exercises import golfing",
    "raw array": "def golf_axpy(a, x, y):\n    y.array[:] += a * x.array\n    return y",
    "raw array by name": "getattr(x, 'arr' + 'ay')",
    "pattern": "match x:\n    case object(array=raw): pass",
    "class": "type(x).__getattribute__(x, 'array')",
    "frame": "try: 1 / 0\nexcept Exception as e: e.__traceback__",
    "generator": "(i for i in ()).gi_frame.f_back",
    "modules": "import sys",
    "modules in modules": "import statistics\nstatistics.sys.modules",
    "numpy's functions": "import numpy as np\nnp.add = np.subtract",
    "loop variable": "for np.add in [None]: pass",
    "builtins": "__builtins__",
    "eval": "eval('1')",
    "pickle": "import numpy as np\nnp.load('x.npy', allow_pickle=True)",
    "magic": "%run -i x.py",
    "shell": "files = !ls",
    "cell magic": "%%python\nprint(1)",
    "alias": "import statistics as np\nnp.trace",
    "stand-in": "def time_axpy(cp, x, y, a):\n    cp.gpu.log.clear()",
    "check": "_report = print",
    "relative": "from . import x",
}


@pytest.mark.parametrize("name", FORGED)
def test_what_could_forge_a_trace_is_named_with_its_line(name):
    assert gate.problem(FORGED[name]).startswith("line ")


def test_solutions_and_all_ways_to_play_pass():
    for file in (REPOSITORY / "notebooks" / "solutions").glob("*.ipynb"):
        for cell in json.loads(file.read_text("utf-8"))["cells"]:
            if cell["metadata"].get("rooflab"):
                assert gate.problem("".join(cell["source"])) is None
    assert gate.problem(Path(hole_variants.__file__).read_text("utf-8")) is None


@pytest.mark.parametrize(
    "source",
    [
        "import numpy as np\nfrom numpy.linalg import norm\nt = np.trace(np.array([[1]]))",
        "_ = [i for i in range(3)]\nimport rooflab as rl\nrl.golf(f, 1)",
        "from collections import deque\nfrom math import *",
        "x.T @ x.real; x[:, None] *= 2; x += 1",
        "not python at all",
        "",
    ],
)
def test_plain_python_passes(source):
    assert gate.problem(source) is None


FORGER = """
import rooflab.exercises.golfing as g
honest = g.run
def forged(case, answer):
    seen = honest(case, lambda a, x, y: a * x + y)
    for trip in seen["trips"]: trip["bytes"] = 0
    least = 3 * seen["size"]
    seen["trips"][0]["bytes"], seen["bytes"] = least, least
    return seen
g.run = forged
golf_axpy = print"""


@pytest.mark.skipif(missing() is not None, reason="no bubblewrap")
def test_a_forged_trace_does_not_pass(shop, monkeypatch):
    found = lesson("02")
    cells = (CodeCell(FORGER, 1, "02-golf-axpy"),)
    locked = merge(Submission("f", "d", "02", "Mallory", cells), found, 1)
    monkeypatch.setattr(run, "gated", lambda locked, outcome: outcome)
    fooled = verdicts.judge(locked, shop.run(locked), found)["02-golf-axpy"]
    assert fooled.passed, "without the gate it does; a forger that is never believed proves nothing"
    monkeypatch.undo()
    outcome = shop.run(locked)
    verdict = verdicts.judge(locked, outcome, found)["02-golf-axpy"]
    assert not verdict.passed
    assert "line 2 uses rooflab.exercises.golfing" in verdict.reason


def test_only_golf_and_timing_are_gated():
    kinds = {e.kind for e in exercises().values() if e.kind in gate.TRACED}
    assert kinds == set(gate.TRACED)
