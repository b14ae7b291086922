"""An honest hand-in gets its points in whatever dress, or ``rl.check`` said beforehand why not."""

from __future__ import annotations

import contextlib
import importlib
import linecache
import sys
import types

import pytest

import rooflab as rl
from rooflab.exercises import ending
from rooflab.exercises.registry import exercises
from rooflab.grade import lesson_notebook, verdicts
from rooflab.grade.inside.limits import Limits
from tests.grade.support.notebooks import answer, changed, merged, solution
from tests.grade.support.small import one_long_case
from tests.grade.support.unusual import (
    FULL,
    OLDER,
    ON,
    WHOLE,
    between,
    check_of,
    checked,
    copied,
    instead,
    notebooks,
    under,
)
from tests.support.golf_arrays import drawn_once

check_module = importlib.import_module("rooflab.exercises.check")


@pytest.fixture(scope="module", autouse=True)
def golf_arrays():
    """The judge's arrays are drawn once."""
    with drawn_once():
        yield


def graded(runner, notebook, tmp_path, *limits):
    locked = merged(tmp_path, notebook, 42)
    lesson = lesson_notebook.lesson(locked.lesson)
    return verdicts.judge_outcome(locked, runner.run(locked, *limits), lesson)


def lost(found):
    return {id: one.reason for id, one in found.items() if not one.passed}


@pytest.mark.parametrize(("lesson", "row", "notebook"), [*notebooks()])
def test_full_points_of_many_in_one_notebook(lesson, row, notebook, runner, tmp_path, monkeypatch):
    one_long_case(monkeypatch)
    limits = Limits(cell=1 if "three nested loops" in row.values() else 10)
    found = graded(runner, notebook, tmp_path, limits)
    assert [*found] == [*lesson_notebook.lesson(lesson).order]
    assert {id: (row.get(id), reason) for id, reason in lost(found).items()} == {}


def test_full_points_of_a_notebook_changed_as_a_whole(runner, tmp_path, monkeypatch):
    faults = {}
    for name, (lesson, change) in WHOLE.items():
        with monkeypatch.context() as patch:
            if name != FULL:
                one_long_case(patch)
            change(notebook := solution(lesson))
            found = graded(runner, notebook, tmp_path)
        if [*found] != [*lesson_notebook.lesson(lesson).order] or lost(found):
            faults[name] = lost(found)
    assert faults == {}


def cell(source: str, names: dict | None = None) -> dict:
    """Run a cell as Jupyter does: its text can be had, and no file of that name exists."""
    name = f"/nowhere/{abs(hash(source))}.py"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    names = {"rl": rl} if names is None else names
    exec(compile(source, name, "exec"), names)
    return names


OF_THE_LIBRARY = """
def product(m, n, k, itemsize, accumulate=False):
    dtype = {8: 'fp64', 4: 'fp32', 2: 'fp16', 1: 'fp8_e4m3'}[itemsize]
    op = rl.gemm(m, n, k, dtype, accumulate=accumulate)
    return op.flops, op.bytes, op.intensity"""
FREE = """
import os, subprocess, threading, timeit
lock = threading.Lock()
def product(m, n, k, itemsize, accumulate=False):
    with lock:
        moved = (m * k + k * n + (1 + accumulate) * m * n) * itemsize
        return getattr(os, 'getpid')() and 2 * m * n * k, moved, 2 * m * n * k / moved"""


REFUSED = {
    "01-product": OF_THE_LIBRARY,
    "01-claim-1365": "op = rl.gemm(4096, 4096, 4096, 'fp16')\nclaim = op.intensity, 2",
    "01-name": "The answer, and a test of it:\ndef name(): ...",
}


@pytest.fixture(scope="module")
def refused(runner, tmp_path_factory):
    """What the grader says of each answer of REFUSED."""
    found = graded(runner, changed(REFUSED), tmp_path_factory.mktemp("refused"))
    return {id: found[id].reason for id in REFUSED if not found[id].passed}


def test_what_is_locked_is_said_before_in_the_same_words_and_nothing_else(refused):
    said = rl.check("01-product", cell(OF_THE_LIBRARY)["product"])
    assert said.passed and said.note.startswith("Handed in, it would get no points: "), said
    told = said.note.removeprefix("Handed in, it would get no points: ").rstrip(".")
    assert told in refused["01-product"], (told, refused)
    said = rl.check("01-product", cell(FREE)["product"])
    assert said.passed and said.note is None


def test_what_the_grader_had_to_guess_leaves_a_remark(tmp_path):
    told = {
        "renamed": "your answer is called wert_schätzung",
        "typed into a new cell": "found by the name fill",
        "all marks dropped": "found by the cell's id",
        "a value in the check": "written into its check",
        "the stub left, a new cell": "its own cell is not answered",
        "a method checked by its path": "written into its check",
        "a copy with an older try": "the last one counts, or a right one that was checked",
    }
    for name, words in told.items():
        exercise, change = {**WHOLE, **ON}[name]
        change(notebook := solution(exercise[:2]))
        flags = merged(tmp_path, notebook).flags
        assert any(words in flag for flag in flags), (name, flags)
    shell = "def product(*sizes):\n    files = !ls\n    return 0, 1, 0"
    flags = merged(tmp_path, changed({"01-product": shell})).flags
    assert "01-product: line 2 runs another program: where it is graded there is no network" in (
        " ".join(flags)
    )


def test_a_wrong_answer_stays_wrong_in_any_dress(runner, tmp_path):
    notebook = solution()
    wrong = {
        "01-speed-limit": copied("01-speed-limit", OLDER, check=True),
        "01-product": between("01-product", "def product(*sizes):\n    return 0, 1, 0"),
        "01-name": under("01-name", "import doctest"),
        "01-claims": checked("01-claims", 'rl.check("01-claims", ("right",) * 6)'),
    }
    for id, change in wrong.items():
        name = lesson_notebook.lesson("01").names[id]
        stub = id in ("01-product", "01-claims")
        value = exercises()[id].kind == "value"
        source = f"def {name}(*inputs):\n    {'...' if stub else 'return 3'}"
        instead(id, f"{name} = ..." if value else source)(notebook)
        change(notebook)
    found = graded(runner, notebook, tmp_path)
    assert [id for id, one in found.items() if not one.passed] == [
        id for id in lesson_notebook.lesson("01").order if id in wrong
    ]


def test_a_module_that_the_course_does_not_install_is_told_of(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "not_pandas", types.ModuleType("not_pandas"))
    source = "import not_pandas\ndef time(k, n, itemsize, peak, bandwidth):\n    not_pandas\n"
    source += "    return max(2 * n * itemsize / bandwidth, 2 * n * k / peak)"
    told = "it needs not_pandas, which the course does not install"
    said = rl.check("00-time", cell(source)["time"])
    assert said.passed and told in said.note
    flags = merged(tmp_path, changed({"00-time": source}, "00")).flags
    assert [flag.partition(": ")[0] for flag in flags if told in flag] == ["00-time"]


@pytest.fixture
def shell(monkeypatch):
    """A function: the cells that were run, as IPython keeps them; the last one is running."""

    def with_cells(*cells):
        shell = types.SimpleNamespace(
            history_manager=types.SimpleNamespace(input_hist_parsed=["", *cells])
        )
        monkeypatch.setattr(check_module, "_shell", lambda: shell)

    return with_cells


def test_a_value_from_the_library_is_said_too(shell, refused):
    shell(REFUSED["01-claim-1365"], 'rl.check("01-claim-1365", claim)')
    told = "derive this yourself: rooflab.gemm is locked in this exercise"
    said = rl.check("01-claim-1365", (682 + 2 / 3, 2))
    assert said.passed and told in said.note
    assert told in refused["01-claim-1365"]
    own = "x = rl.gemm(8, 8, 8).flops\nclaim = 682.7, 2\nprint(rl.gemm(8, 8, 8), x)\n"
    for one_cell in ("claim = product(4096, 4096, 4096, 4)[2], 2\n", own):
        shell(one_cell + 'rl.check("01-claim-1365", claim)')
        assert rl.check("01-claim-1365", (682 + 2 / 3, 2)).note is None


def test_a_right_answer_beside_ones_own_comparison_is_not_told_to_derive_it(runner, tmp_path):
    compared, check = (
        "print(product(2, 3, 4, 4), rl.gemm(2, 3, 4))",
        'rl.check("01-product", product)',
    )
    for text in (f"{check}\n{compared}", f"{compared}\n{check}"):
        notebook = changed({"01-product": FREE})
        del notebook["cells"][check_of(notebook, "01-product")]
        under("01-product", text)(notebook)
        mark = graded(runner, notebook, tmp_path)["01-product"]
        assert mark.passed and mark.note == verdicts.LOCKED
        assert "derive" not in f"{mark.reason} {mark.note}"


def test_a_cell_that_is_no_python_is_told_so_and_not_to_derive_its_answer(refused):
    told = "there is no name: its answer cell raised SyntaxError"
    assert refused["01-name"].startswith(told)


def test_a_wrong_answer_is_not_told_of_the_grader():
    wrong = cell("import os\ndef squares(x):\n    os.getpid()\n    return x")["squares"]
    verdict = rl.check("02-golf-squares", wrong)
    assert not verdict.passed and "Handed in" not in str(verdict)


def test_nothing_is_said_of_a_solution(monkeypatch):
    monkeypatch.setattr(ending, "possible", lambda: False)  # no process for each check
    faults = []
    for lesson in sorted({each.lesson for each in exercises().values()}):
        asked, solved = lesson_notebook.lesson(lesson), solution(lesson)
        names: dict = {"__name__": "__main__"}
        for exercise in asked.exercises:
            id = exercise.id
            for source in asked.given.get(id, ()):
                with contextlib.suppress(NameError):  # what was measured is not here either
                    cell(source, names)
            cell("".join(answer(solved, id)["source"]), names)
            if not exercise.derives:
                continue
            verdict = rl.check(id, names[asked.names[id]])
            if not verdict.passed or verdict.note and "Handed in" in verdict.note:
                faults.append(verdict)
    assert not faults
