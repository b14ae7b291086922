"""nbgrader and otter-grader: their own environment, and lesson 00 as an assignment of theirs.

The environment is made in .cache/graders, apart from the course's. Both get the same six
exercises as ``rooflab grade``: the same answer cells, each checked on the cases of one seed, with
the right values written out in hidden tests.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from nbformat import NotebookNode, write
from nbformat.v4 import new_code_cell, new_notebook, new_raw_cell

from benchmarks.report import RESULTS
from rooflab.exercises.registry import exercise
from rooflab.grade import lesson_notebook
from tests.grade.support.notebooks import answer, solution
from tests.grade.support.pupils import nothing

LESSON = "00"
ORDER = lesson_notebook.lesson(LESSON).order
PACKAGES = ("nbgrader==0.9.6", "otter-grader==7.0.0", "ipykernel==7.4.0", "numpy>=2,<3")
ENVIRONMENT = RESULTS.parent.parent / ".cache" / "graders"
SETUP = "import numpy as np"
KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
CELL_SECONDS = 10  # as in rooflab's own limits
Answers = Mapping[str, str]  # exercise → source of the answer cell

SCORES = """
import json, sys
from nbgrader.api import Gradebook
found = {}
with Gradebook("sqlite:///" + sys.argv[1]) as book:
    for one in book.assignment_submissions("hw"):
        grades = [g for notebook in one.notebooks for g in notebook.grades]
        found[one.student.id] = {g.name: g.score for g in grades}
print(json.dumps(found))
"""
OTTER = """
import json, pathlib, sys
from otter.api import grade_submission
for file in sys.argv[2:]:
    try:
        found = grade_submission(file, sys.argv[1], quiet=True)
        marks = {name: found.get_score(name) for name in found.results}
    except Exception as error:
        marks = {"error": str(error)[:200]}
    pathlib.Path(file).with_suffix(".json").write_text(json.dumps(marks))
"""


def variables(python: Path) -> dict[str, str]:
    """The environment variables under which the graders find their own programs."""
    return {"PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}"}


def environment(where: Path = ENVIRONMENT) -> Path:
    """Return the Python of the graders' own environment, which is made if it is not there."""
    python = where / "bin" / "python"
    asked = where / "packages.txt"
    if not asked.exists() or asked.read_text("utf-8") != "\n".join(PACKAGES):
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(where)], check=True)
        pip = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        subprocess.run([*pip, *PACKAGES], check=True)
        asked.write_text("\n".join(PACKAGES), "utf-8")
    return python


def right() -> dict[str, str]:
    """The right answers of the lesson, from its solution."""
    notebook = solution(LESSON)
    return {id: "".join(answer(notebook, id)["source"]) for id in ORDER}


def open_answers() -> dict[str, str]:
    """The answer cells as a learner gets them."""
    notebook = nothing(LESSON).notebook
    return {id: "".join(answer(notebook, id)["source"]) for id in ORDER}


def tests(id: str, seed: int) -> str:
    """The hidden test of an exercise: its drawn cases, with the right values written out."""
    asked = exercise(id)
    cases = [list(case.values()) for case in asked.draw(seed)]
    wanted = [asked.reference(*case) for case in cases]
    return (
        f"for inputs, wanted in zip({cases!r}, {wanted!r}):\n"
        f"    assert np.allclose({asked.name}(*inputs), wanted, rtol={asked.tolerance}, atol=0)"
    )


class Nbgrader:
    """A course of nbgrader with one assignment, ``hw``."""

    def __init__(self, python: Path, course: Path, seed: int) -> None:
        self.course = course
        self._python, self._seed = str(python), seed
        self._variables = {**os.environ, **variables(python)}
        self._command = [str(python), "-m", "nbgrader"]
        _write(course / "source" / "hw" / "hw.ipynb", self._cells(right()))
        self._run("generate_assignment", "hw", "--create")

    def _cells(self, answers: Answers) -> list[NotebookNode]:
        cells = [new_code_cell(SETUP)]
        for id in ORDER:
            mark = {"schema_version": 3, "locked": False, "task": False}
            own = {**mark, "grade_id": id, "solution": True, "grade": False}
            test = {**mark, "grade_id": f"test-{id}", "solution": False, "grade": True,
                    "locked": True, "points": 1}  # fmt: skip
            hidden = f"### BEGIN HIDDEN TESTS\n{tests(id, self._seed)}\n### END HIDDEN TESTS"
            cells.append(new_code_cell(answers[id], metadata={"nbgrader": own}))
            cells.append(new_code_cell(hidden, metadata={"nbgrader": test}))
        return cells

    def hand_in(self, student: str, answers: Answers) -> None:
        """Put the released notebook with these answers where nbgrader collects them."""
        released = json.loads((self.course / "release" / "hw" / "hw.ipynb").read_text("utf-8"))
        _filled(released, answers, lambda m: (m.get("nbgrader") or {}).get("grade_id"))
        _text(self.course / "submitted" / student / "hw" / "hw.ipynb", released)

    def command(self) -> list[str]:
        """What grades everything that was handed in, also what it has graded before."""
        limit = f"--ExecutePreprocessor.timeout={CELL_SECONDS}"
        return [*self._command, "autograde", "hw", "--force", "--create", limit, *self._place()]

    def scores(self) -> dict[str, dict[str, float]]:
        """student → exercise → points."""
        ask = [self._python, "-c", SCORES, str(self.course / "gradebook.db")]
        found = json.loads(_said(ask, self._variables))
        return {
            student: {name.removeprefix("test-"): score for name, score in marks.items()}
            for student, marks in found.items()
        }

    def _place(self) -> list[str]:
        return [f"--course-dir={self.course}"]

    def _run(self, *words: str) -> None:
        command = [*self._command, *words, *self._place()]
        subprocess.run(command, check=True, capture_output=True, env=self._variables)


class Otter:
    """An assignment of otter-grader; submissions lie in ``folder``, and results beside them."""

    def __init__(self, python: Path, folder: Path, seed: int) -> None:
        self.folder = folder
        self._python = str(python)
        master = folder / "hw.ipynb"
        _write(master, self._cells(right(), seed))
        assign = [self._python, "-m", "otter", "assign", str(master), str(folder / "dist")]
        _said([*assign, "--no-pdfs", "--no-run-tests"], {**os.environ, **variables(python)})
        self._autograder = str(next((folder / "dist" / "autograder").glob("*autograder*.zip")))

    def _cells(self, answers: Answers, seed: int) -> list[NotebookNode]:
        head = "# ASSIGNMENT CONFIG\nexport_cell: false\ngenerate: true\n"
        cells = [new_raw_cell(head), new_code_cell(SETUP)]
        for id in ORDER:
            body = tests(id, seed)
            hidden = f'""" # BEGIN TEST CONFIG\nhidden: true\n""" # END TEST CONFIG\n{body}'
            cells += [
                new_raw_cell(f"# BEGIN QUESTION\nname: {_plain(id)}\npoints: 1"),
                new_raw_cell("# BEGIN SOLUTION"),
                new_code_cell(answers[id], metadata={"exercise": id}),
                new_raw_cell("# END SOLUTION"),
                new_raw_cell("# BEGIN TESTS"), new_code_cell(hidden), new_raw_cell("# END TESTS"),
                new_raw_cell("# END QUESTION"),
            ]  # fmt: skip
        return cells

    def hand_in(self, student: str, answers: Answers) -> Path:
        """Write a submission: the student's copy with these answers."""
        released = json.loads((self.folder / "dist" / "student" / "hw.ipynb").read_text("utf-8"))
        _filled(released, answers, lambda metadata: metadata.get("exercise"))
        return _text(self.folder / "in" / f"{student}.ipynb", released)

    def command(self, *students: str) -> list[str]:
        """What grades these submissions, one after the other in one process."""
        files = [str(self.folder / "in" / f"{student}.ipynb") for student in students]
        return [self._python, "-c", OTTER, self._autograder, *files]

    def scores(self) -> dict[str, dict[str, float]]:
        """student → exercise → points; those without a result are left out."""
        found = {}
        for file in (self.folder / "in").glob("*.json"):
            marks = json.loads(file.read_text("utf-8"))
            found[file.stem] = {id: marks[_plain(id)] for id in ORDER if _plain(id) in marks}
        return {student: marks for student, marks in found.items() if marks}


def _plain(id: str) -> str:
    return "q" + id.replace("-", "_")


def _filled(
    notebook: dict[str, Any], answers: Answers, asked: Callable[[dict[str, Any]], str | None]
) -> None:
    """Put the answers into a released notebook; ``asked``: metadata of a cell → exercise."""
    places = {asked(cell["metadata"]): cell for cell in notebook["cells"]}
    for id, source in answers.items():
        places[id]["source"] = source


def _said(command: list[str], variables: Mapping[str, str]) -> bytes:
    return subprocess.run(command, capture_output=True, check=True, env=variables).stdout


def _write(path: Path, cells: list[NotebookNode]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write(new_notebook(cells=cells, metadata=KERNEL), path)


def _text(path: Path, notebook: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook), "utf-8")
    return path
