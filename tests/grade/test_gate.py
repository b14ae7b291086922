"""Answers of golf and timing that could forge their trace do not count; plain ones do."""

import json
from pathlib import Path

import pytest

from rooflab.exercises.registry import exercises
from rooflab.grade import gate, launch, verdicts
from rooflab.grade.intake import CodeCell, Submission
from rooflab.grade.launch import missing
from rooflab.grade.lesson_notebook import lesson
from rooflab.grade.locked_notebook import Outcome
from rooflab.grade.merge import merge
from rooflab.labs.golf import solutions
from tests.grade.support.notebooks import REPOSITORY

FORGED = {
    "tracer": "import rooflab.labs.golf.score as s\ns.golf = None",
    "tracer by name": "from rooflab.exercises.observe import golf",
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
    "an array called np": "def raw(np):\n    return np.array",
    "np in a loop": "[np.array for np in (x, y)]",
    "np by walrus": "(np := x)",
    "np by pattern": "match x:\n    case np: pass",
    "np from elsewhere": "from statistics import mean as np",
    "attribute by name": "import functools\nfunctools.update_wrapper(box, x, assigned=('array',))",
    "positional pattern": "match x:\n    case P(raw): pass",
    "annotation": "import typing\ndef f(q: \"__import__('sys')\"): pass\ntyping.get_type_hints(f)",
    "dispatch": "from functools import singledispatch",
    "format": "'{0.array[5]}'.format(x)",
    "inner format": "'{:{0.array}}'.format(x)",
    "format at hand": "f = str.format",
    "rooms": "import rooflab as rl\nrl.grade.inside.write_to(box)",
    "rooms by name": "from rooflab import exercises",
    "bytecode": "import typing\ntyping.types.CodeType",
    "numpy's tests": "import numpy.ma.tests.test_core as t\nt.pickle.loads(b'')",
    "a module of one's own": "import numpy as np\nnp.savetxt('cmath.py', ['x'], fmt='%s')",
    "wide letters": "ｅｖａｌ('1')",
    "prompt": ">>> eval('1')",
    "magic that reads as Python": 'x = (f"}}"\n%time\n)\nexec(x)',
    "kernel by hand": (
        "def gemm_share(cp, a, b, c, peak):\n    cp.run('gemm', c, [a, b], None, True)"
    ),
    "long": "#" * 50_000,
    "magics without end": "%time 1\n" * 2_000,
}


@pytest.mark.parametrize("name", FORGED)
def test_what_could_forge_a_trace_is_named_with_its_line(name):
    assert gate.problem(FORGED[name]).startswith("line ")


def test_solutions_and_all_ways_to_play_pass():
    for file in (REPOSITORY / "notebooks" / "solutions").glob("*.ipynb"):
        for cell in json.loads(file.read_text("utf-8"))["cells"]:
            if cell["metadata"].get("rooflab"):
                assert gate.problem("".join(cell["source"])) is None
    assert gate.problem(Path(solutions.__file__).read_text("utf-8")) is None


@pytest.mark.parametrize(
    "source",
    [
        "import numpy as np\nfrom numpy.linalg import norm\nt = np.trace(np.array([[1]]))",
        "_ = [i for i in range(3)]\nimport rooflab as rl\nrl.golf(f, 1)",
        "from collections import deque\nfrom math import *",
        "x.T @ x.real; x[:, None] *= 2; x += 1",
        "print('{:.2f} {name}'.format(1.5, name=2), f'{x.size:,}')",
        'text = """\n%time 1\n!ls\n"""',
        "not python at all",
        "",
    ],
)
def test_plain_python_passes(source):
    assert gate.problem(source) is None


FORGER = """
import rooflab.exercises.observe.golf as g
honest = g.run
def forged(case, answer):
    seen = honest(case, lambda a, x, y: a * x + y)
    for trip in seen["trips"]: trip["moved"] = 0
    least = 3 * seen["size"]
    seen["trips"][0]["moved"], seen["bytes"] = least, least
    return seen
g.run = forged
golf_axpy = print"""


@pytest.mark.skipif(missing() is not None, reason="no bubblewrap")
def test_a_forged_trace_does_not_pass(runner, monkeypatch):
    found = lesson("02")
    cells = (CodeCell(FORGER, 1, "02-golf-axpy"),)
    locked = merge(Submission("f", "d", "02", "Mallory", cells), found, 1)
    monkeypatch.setattr(launch, "gated", lambda locked, outcome: outcome)
    fooled = verdicts.judge_outcome(locked, runner.run(locked), found)["02-golf-axpy"]
    assert fooled.passed, "without the gate it does; a forger that is never believed proves nothing"
    monkeypatch.undo()
    outcome = runner.run(locked)
    verdict = verdicts.judge_outcome(locked, outcome, found)["02-golf-axpy"]
    assert not verdict.passed
    assert "line 2 uses rooflab.exercises.observe.golf" in verdict.reason


SCRIBBLED = {  # the learner's own cell, and whether golf counts beside it
    "class": ("class Forger:\n    import sys\n    sys.modules.clear()", False),
    "default": ("def later(x=__builtins__): pass", False),
    "the answer itself": ("def golf_axpy(a, x, y):\n    return x.array", False),
    "called": ("import inspect\ndef helper(x):\n    return inspect.getattr_static(x, 'array')\n"
               "scale = 1", False),
    "not called": ("import os\nimport inspect\ndef draw(x):\n    return os.listdir()", True),
    "harmless": ("CHUNK = 4096\ndef piece(x, i):\n    return x[i : i + CHUNK]", True),
}  # fmt: skip


@pytest.mark.parametrize("name", SCRIBBLED)
def test_what_the_learner_wrote_around_the_answers_is_read_too(name):
    found = lesson("02")
    source, counts = SCRIBBLED[name]
    answer = "def golf_axpy(a, x, y):\n    return helper(x)" if name == "called" else "pass"
    cells = (CodeCell(source, 1), CodeCell(answer, 2, "02-golf-axpy"))
    locked = merge(Submission("f", "d", "02", "Mallory", cells), found, 1)
    seen = Outcome({"02-golf-axpy": [{}]})
    assert ("02-golf-axpy" in gate.gated(locked, seen).observations) is counts


IMPORTING = "def answer(cp, x, y, a):\n    {}\n"
REACHING = {  # in the answer to a timing exercise, which may import CuPy
    "outside a function": "import cupy",
    "in a class": "class Reach:\n    import cupy",
    "part": IMPORTING.format("import cupy.testing"),
    "part by name": IMPORTING.format("from cupy.cuda import compiler; import cupy.cuda.compiler"),
    "insides": IMPORTING.format("from cupy import gpu"),
    "insides of the module": IMPORTING.format("import cupy; cupy._parts"),
    "log": IMPORTING.format("import cupy; cupy.gpu.log.clear()"),
    "kernel by hand": IMPORTING.format("from cupy import run"),
    "ufunc by hand": IMPORTING.format("from cupy import ufunc"),
    "by the name of NumPy": IMPORTING.format("import cupy as np; np.array"),
    "by NumPy's name, from": IMPORTING.format("from cupy import cuda as np"),
    "arrays over any memory": IMPORTING.format("from cupy import ndarray as made"),
    "something else": IMPORTING.format("import ctypes"),
}


@pytest.mark.parametrize("name", REACHING)
def test_with_cupy_an_answer_reaches_no_further_than_with_its_argument(name):
    assert gate.problem(REACHING[name], "01-cuda-axpy").startswith("line ")


@pytest.mark.parametrize("exercise", [None, "02-golf-axpy", "01-product"])
def test_only_answers_to_timing_may_import_cupy(exercise):
    source = IMPORTING.format("import cupy.cublas")
    assert gate.problem(source, "01-cuda-axpy") is None
    assert gate.problem(source, exercise) == "line 2 uses cupy.cublas"


TIMES = """
def time_axpy(cp, x, y, a):
    import cupy.cublas
    from cupy.cuda import Event
    cupy.cublas.axpy(a, x, y)
    start, stop = Event(), Event()
    start.record()
    for _ in range(10):
        cupy.cublas.axpy(a, x, y)
    stop.record()
    stop.synchronize()
    return cupy.cuda.get_elapsed_time(start, stop) / 1e4
"""


@pytest.mark.skipif(missing() is not None, reason="no bubblewrap")
def test_an_answer_that_imports_cupy_counts(runner):
    found = lesson("01")
    cells = (CodeCell(TIMES, 1, "01-cuda-axpy"),)
    locked = merge(Submission("f", "d", "01", "Ada", cells), found, 1)
    verdict = verdicts.judge_outcome(locked, runner.run(locked), found)["01-cuda-axpy"]
    assert verdict.passed, verdict


def test_another_cell_that_imports_cupy_does_not():
    found = lesson("01")
    answer = "def time_axpy(cp, x, y, a):\n    return helper()"
    cells = (CodeCell(answer, 1, "01-cuda-axpy"), CodeCell("def helper():\n    import cupy", 2))
    locked = merge(Submission("f", "d", "01", "Mallory", cells), found, 1)
    reasons = gate.gated(locked, Outcome({"01-cuda-axpy": [{}]})).reasons
    assert "uses cupy in a cell of yours" in reasons["01-cuda-axpy"]


def test_only_golf_and_timing_are_gated():
    kinds = {e.kind for e in exercises().values() if e.kind in gate.TRACED}
    assert kinds == set(gate.TRACED)
