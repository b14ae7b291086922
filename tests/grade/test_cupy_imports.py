"""Answers of timing that import CuPy count, wherever they do it."""

import pytest

from rooflab.grade import verdicts
from rooflab.grade.intake import CodeCell, Submission
from rooflab.grade.launch import missing
from rooflab.grade.lesson_notebook import lesson
from rooflab.grade.merge import merge
from tests.exercises.support.timing_ways import PRELUDE, RIGHT

TIMES = PRELUDE + RIGHT["01-cuda-axpy", "import cupy"] + "\ntime_axpy = answer\n"


@pytest.mark.skipif(missing() is not None, reason="no bubblewrap")
def test_an_answer_that_imports_cupy_counts(runner):
    found = lesson("01")
    cells = (CodeCell(TIMES, 1, "01-cuda-axpy"),)
    locked = merge(Submission("f", "d", "01", "Ada", cells), found, 1)
    verdict = verdicts.judge_outcome(locked, runner.run(locked), found)["01-cuda-axpy"]
    assert verdict.passed, verdict


HELPED = """
def on_the_gpu():
    import cupy
    return cupy.cuda

def time_axpy(cp, x, y, a):
    cuda = on_the_gpu()
    cp.cublas.axpy(a, x, y)
    start, stop = cuda.Event(), cuda.Event()
    start.record()
    for _ in range(10):
        cp.cublas.axpy(a, x, y)
    stop.record()
    stop.synchronize()
    return cuda.get_elapsed_time(start, stop) / 1e4
"""


@pytest.mark.skipif(missing() is not None, reason="no bubblewrap")
def test_so_does_one_whose_helper_does_in_a_cell_full_of_other_things(runner):
    found = lesson("01")
    around = CodeCell("import os, sys, inspect\nclass Scribble:\n    path = os.getcwd()\n", 1)
    locked = merge(
        Submission("f", "d", "01", "Ada", (around, CodeCell(HELPED, 2, "01-cuda-axpy"))), found, 1
    )
    verdict = verdicts.judge_outcome(locked, runner.run(locked), found)["01-cuda-axpy"]
    assert verdict.passed, verdict
