"""An honest hand-in gets its points in whatever dress, or ``rl.check`` said beforehand why not."""

from __future__ import annotations

import contextlib
import importlib
import linecache
import sys
import types

import pytest

import rooflab as rl
from rooflab.exercises.exercise import Exercise
from rooflab.exercises.registry import exercises
from rooflab.grade import intake, lesson_notebook, verdicts
from rooflab.grade.merge import merge
from tests.grade.support.notebooks import answer, changed, put, solution
from tests.grade.support.unusual import (
    CASES,
    HOLES,
    SAID,
    between,
    check_of,
    checked,
    instead,
    under,
)
from tests.grade.support.unusual_more import OLDER, ON, WHOLE, copied, notebooks
from tests.support.golf_arrays import drawn_once

check_module = importlib.import_module("rooflab.exercises.check")
WITH_ALL_CASES = "all answers in the first's cell"  # the one notebook that plays golf as it is


@pytest.fixture(scope="module", autouse=True)
def golf_arrays():
    """The judge's arrays are drawn once."""
    with drawn_once():
        yield


@pytest.fixture(autouse=True)
def one_case_of_golf(request, monkeypatch):
    """Golf is played on the first of its three cases: not the numbers are unusual here."""
    if WITH_ALL_CASES in request.node.name:
        return
    drawn = Exercise.draw

    def draw(self, seed=0):
        return drawn(self, seed)[: 1 if self.kind == "golf" else None]

    monkeypatch.setattr(Exercise, "draw", draw)


def graded(runner, notebook, tmp_path, seed=42):
    read = intake.read(put(tmp_path / "x.ipynb", notebook))
    assert isinstance(read, intake.Submission), read
    lesson = lesson_notebook.lesson(read.lesson)
    return verdicts.judge_outcome(
        locked := merge(read, lesson, seed), runner.run(locked), lesson
    ), locked


@pytest.mark.parametrize("name", CASES)
def test_full_points(name, runner, tmp_path):
    lesson, change = CASES[name]
    notebook = solution(lesson)
    change(notebook)
    found, _ = graded(runner, notebook, tmp_path)
    assert list(found) == list(lesson_notebook.lesson(lesson).order)
    empty = {*HOLES[1:]} if name.startswith("golf by") else set()
    assert {id: one.reason for id, one in found.items() if not one.passed and id not in empty} == {}


@pytest.mark.parametrize(("lesson", "row", "notebook"), [*notebooks()])
def test_full_points_of_many_in_one_notebook(lesson, row, notebook, runner, tmp_path):
    found, _ = graded(runner, notebook, tmp_path)
    lost = {id: (row.get(id), one.reason) for id, one in found.items() if not one.passed}
    assert lost == {}


@pytest.mark.parametrize("name", WHOLE)
def test_full_points_of_a_notebook_changed_as_a_whole(name, runner, tmp_path):
    lesson, change = WHOLE[name]
    change(notebook := solution(lesson))
    found, _ = graded(runner, notebook, tmp_path)
    assert {id: one.reason for id, one in found.items() if not one.passed} == {}


def cell(source: str, names: dict | None = None) -> dict:
    """Run a cell as Jupyter does: its text can be had, and no file of that name exists."""
    name = f"/nowhere/{abs(hash(source))}.py"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    names = {"rl": rl} if names is None else names
    exec(compile(source, name, "exec"), names)
    return names


@pytest.mark.parametrize("name", SAID)
def test_what_is_refused_is_said_before_in_the_same_words(name, runner, tmp_path):
    id, source = SAID[name]
    said = rl.check(id, cell(source)[lesson_notebook.lesson(id[:2]).names[id]])
    assert said.passed and said.note.startswith("Handed in, it would get no points: "), said
    found, _ = graded(runner, changed({id: source}, id[:2]), tmp_path)
    assert not found[id].passed
    told = said.note.removeprefix("Handed in, it would get no points: ").rstrip(".")
    assert told in found[id].reason, (told, found[id].reason)


def test_every_fallback_leaves_a_remark(tmp_path):
    told = {
        "renamed": "your answer is called predicted_time",
        "typed into a new cell": "found by the name product",
        "all marks dropped": "found by the cell's id",
        "a value in the check": "written into its check",
        "the stub left, a new cell": "its own cell is not answered",
        "a method checked by its path": "written into its check",
    }
    for name, words in told.items():
        exercise, change = {**CASES, **ON}[name]
        change(notebook := solution(exercise[:2]))
        read = intake.read(put(tmp_path / "x.ipynb", notebook))
        flags = merge(read, lesson_notebook.lesson(exercise[:2]), 1).flags
        assert any(words in flag for flag in flags), (name, flags)


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
    found, _ = graded(runner, notebook, tmp_path)
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
    read = intake.read(put(tmp_path / "x.ipynb", changed({"00-time": source}, "00")))
    flags = merge(read, lesson_notebook.lesson("00"), 1).flags
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


def test_a_value_from_the_library_is_said_too(shell, runner, tmp_path):
    source = "op = rl.gemm(4096, 4096, 4096, 'fp16')\nclaim = op.intensity, 2"
    shell(source, 'rl.check("01-claim-1365", claim)')
    told = "derive this yourself: rooflab.gemm is locked in this exercise"
    said = rl.check("01-claim-1365", (682 + 2 / 3, 2))
    assert said.passed and told in said.note
    found, _ = graded(runner, changed({"01-claim-1365": source}), tmp_path)
    assert told in found["01-claim-1365"].reason
    own = "x = rl.gemm(8, 8, 8).flops\nclaim = 682.7, 2\nprint(rl.gemm(8, 8, 8), x)\n"
    for one_cell in ("claim = product(4096, 4096, 4096, 4)[2], 2\n", own):
        shell(one_cell + 'rl.check("01-claim-1365", claim)')
        assert rl.check("01-claim-1365", (682 + 2 / 3, 2)).note is None


COMPARED = "print(product(2, 3, 4, 4), rl.gemm(2, 3, 4))"
ITS_CHECK = 'rl.check("01-product", product)'


@pytest.mark.parametrize(
    "text", [f"{ITS_CHECK}\n{COMPARED}", f"{COMPARED}\n{ITS_CHECK}"], ids=["below", "above"]
)
def test_a_right_answer_beside_ones_own_comparison_is_not_told_to_derive_it(text, runner, tmp_path):
    notebook = solution()
    del notebook["cells"][check_of(notebook, "01-product")]
    under("01-product", text)(notebook)
    mark = graded(runner, notebook, tmp_path)[0]["01-product"]
    assert mark.passed and mark.note == verdicts.LOCKED
    assert "derive" not in f"{mark.reason} {mark.note}"


def test_a_cell_that_is_no_python_is_told_so_and_not_to_derive_its_answer(runner, tmp_path):
    notebook = solution()
    instead("01-product", "The answer, and a test of it:\ndef product(): ...")(notebook)
    reason = graded(runner, notebook, tmp_path)[0]["01-product"].reason
    assert reason.startswith("there is no product: its answer cell raised SyntaxError")


def test_a_wrong_answer_is_not_told_of_the_grader():
    wrong = cell("import os\ndef squares(x):\n    os.getpid()\n    return x")["squares"]
    verdict = rl.check("02-golf-squares", wrong)
    assert not verdict.passed and "Handed in" not in str(verdict)


@pytest.mark.parametrize("lesson", sorted({each.lesson for each in exercises().values()}))
def test_nothing_is_said_of_a_solution(lesson):
    asked = lesson_notebook.lesson(lesson)
    names: dict = {"__name__": "__main__"}
    for id in asked.order:
        for source in asked.given.get(id, ()):
            with contextlib.suppress(NameError):  # what was measured is not here, as in the grade
                cell(source, names)
        cell("".join(answer(solution(lesson), id)["source"]), names)
        verdict = rl.check(id, names[asked.names[id]])
        assert verdict.passed and "Handed in" not in str(verdict.note), verdict
