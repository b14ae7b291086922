"""Every committed notebook, learner's and solution, runs top to bottom under nbval.

The learner's runs as on a machine without a GPU, the solution as on one whose GPU works: there
the strict fake of CuPy is the GPU. Cells tagged nbval-check-output must show what they show in the
file; the others must only run (timings differ). A notebook is copied away first, so that what it
writes stays out of the tree.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from rooflab.exercises.registry import lesson
from tools.execute import lesson_environment
from tools.lesson import read_lesson

REPOSITORY = Path(__file__).resolve().parents[2]
NOTEBOOKS = REPOSITORY / "notebooks"
FOUND = [*sorted(NOTEBOOKS.glob("*.ipynb")), *sorted((NOTEBOOKS / "solutions").glob("*.ipynb"))]
SECONDS = 300
FAKE_GPU = REPOSITORY / "tests" / "strict_cupy"


def nbval(notebook: Path, folder: Path, *, gpu: bool = False) -> tuple[int, str]:
    """Run one notebook with nbval in `folder`; return pytest's exit status and output."""
    copy = Path(shutil.copy(notebook, folder))
    with lesson_environment() as environment:
        # This pytest is a worker of another one; the inner one must not think the same of itself.
        clean = {k: v for k, v in environment.items() if not k.startswith("PYTEST_")}
        clean |= {"PYTHONPATH": str(REPOSITORY), "ROOFLAB_QUICK": "1", "ROOFLAB_BACKEND": "cpu"}
        clean["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # nbval alone is used
        if gpu:
            clean["PYTHONPATH"] += os.pathsep + str(FAKE_GPU)
            clean["ROOFLAB_BACKEND"] = "auto"
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "--nbval-lax", "--nbval-current-env", copy.name]
            + [
                "-p",
                "tests.notebooks.ports",
                "-p",
                "nbval.plugin",
                "--rootdir=.",
                "-p",
                "no:cacheprovider",
                f"--nbval-cell-timeout={SECONDS}",
            ],
            capture_output=True,
            text=True,
            cwd=folder,
            env=clean,
        )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.notebook
@pytest.mark.parametrize("notebook", FOUND, ids=lambda p: p.relative_to(NOTEBOOKS).as_posix())
def test_notebook_runs_and_shows_what_it_claims(notebook: Path, tmp_path: Path) -> None:
    status, output = nbval(notebook, tmp_path, gpu=notebook.parent.name == "solutions")
    assert status == 0, output[-6000:]
    code = [c for c in nbformat.read(notebook, 4).cells if c.cell_type == "code"]
    skipped = [c for c in code if "nbval-skip" in c.metadata.get("tags", [])]
    (passed,) = re.findall(r"(\d+) passed", output)
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
    status, output = nbval(tmp_path / "from" / "wrong.ipynb", tmp_path)
    assert status == 1 and "1 failed" in output
