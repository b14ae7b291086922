"""Every committed notebook, learner's and solution, runs top to bottom under nbval.

The learner's runs as on a machine without a GPU, the solution as on one whose GPU works: there
the strict fake of CuPy is the GPU. What that run has left is looked at in
tests/browser/test_lessons.py.
"""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest

from rooflab.exercises.registry import lesson
from tests.support.nbval_run import run, run_once
from tools.lesson import read_lesson

REPOSITORY = Path(__file__).resolve().parents[2]
NOTEBOOKS = REPOSITORY / "notebooks"
FOUND = [*sorted(NOTEBOOKS.glob("*.ipynb")), *sorted((NOTEBOOKS / "solutions").glob("*.ipynb"))]


@pytest.mark.notebook
@pytest.mark.parametrize("notebook", FOUND, ids=lambda p: p.relative_to(NOTEBOOKS).as_posix())
def test_notebook_runs_and_shows_what_it_claims(
    notebook: Path, tmp_path: Path, shared: Path
) -> None:
    if notebook.parent.name == "solutions":
        ran = run_once(notebook, shared, gpu=True)
    else:
        ran = run(notebook, tmp_path)
    assert ran.status == 0, ran.output[-6000:]
    code = [c for c in nbformat.read(notebook, 4).cells if c.cell_type == "code"]
    skipped = [c for c in code if "nbval-skip" in c.metadata.get("tags", [])]
    (passed,) = re.findall(r"(\d+) passed", ran.output)
    assert int(passed) == len(code) - len(skipped)


def test_there_are_notebooks_to_run() -> None:
    assert {path.parent.name for path in FOUND} == {"notebooks", "solutions"}


@pytest.mark.parametrize(
    "source", sorted((NOTEBOOKS / "source").glob("*.py")), ids=lambda p: p.stem
)
def test_a_lesson_asks_exactly_the_exercises_of_the_registry(source: Path) -> None:
    cells = read_lesson(source).learner.cells
    asked = {c.metadata.rooflab.exercise for c in cells if "answer" in c.metadata.tags}
    assert asked == {exercise.id for exercise in lesson(source.name[:2])}


def test_a_wrong_claim_is_caught(tmp_path: Path) -> None:
    cell = nbformat.v4.new_code_cell("print(1 + 1)", metadata={"tags": ["nbval-check-output"]})
    cell.outputs = [nbformat.v4.new_output("stream", text="3\n")]
    notebook = nbformat.v4.new_notebook(cells=[cell])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    (tmp_path / "from").mkdir()
    nbformat.write(notebook, tmp_path / "from" / "wrong.ipynb")
    ran = run(tmp_path / "from" / "wrong.ipynb", tmp_path)
    assert ran.status == 1 and "1 failed" in ran.output
    with pytest.raises(AssertionError, match="1 failed"):
        ran.notebook()
