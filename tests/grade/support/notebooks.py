"""Submissions for tests, made from the committed solutions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rooflab.grade import intake, lesson_notebook
from rooflab.grade.locked_notebook import Locked
from rooflab.grade.merge import merge

REPOSITORY = Path(__file__).resolve().parents[3]

# The usual mistake in 01-product: a multiply-add counted as one FLOP.
HALF = """def product(m, n, k, itemsize, accumulate=False):
    moved = (m * k + k * n + (1 + accumulate) * m * n) * itemsize
    return m * n * k, moved, m * n * k / moved"""


def solution(lesson: str = "01") -> dict[str, Any]:
    """The solution notebook of a lesson as JSON data, without outputs."""
    return without_outputs(next((REPOSITORY / "notebooks" / "solutions").glob(f"{lesson}_*.ipynb")))


def without_outputs(file: Path) -> dict[str, Any]:
    """A notebook of the course as JSON data, without outputs."""
    notebook = json.loads(file.read_text("utf-8"))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = []
    return notebook


def answer(notebook: dict[str, Any], exercise: str) -> dict[str, Any]:
    """The answer cell of an exercise."""
    return next(
        cell
        for cell in notebook["cells"]
        if cell["metadata"].get("rooflab", {}).get("exercise") == exercise
    )


def changed(answers: Mapping[str, str], lesson: str = "01") -> dict[str, Any]:
    """The solution with the answer cells of ``answers`` (exercise → source) replaced."""
    notebook = solution(lesson)
    for exercise, source in answers.items():
        answer(notebook, exercise)["source"] = source
    return notebook


def code(source: str, **metadata: object) -> dict[str, Any]:
    """A code cell."""
    return {"cell_type": "code", "source": source, "metadata": metadata, "outputs": [],
            "execution_count": None, "id": "x"}  # fmt: skip


def put(path: Path, notebook: object) -> Path:
    """Write ``notebook`` as JSON; lone surrogates are written as escapes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook), encoding="utf-8")
    return path


def merged(folder: Path, notebook: object, seed: int | None = 1) -> Locked:
    """Hand ``notebook`` in, and return the locked notebook that is made of it."""
    read = intake.read(put(folder / "x.ipynb", notebook))
    assert isinstance(read, intake.Submission), read
    return merge(read, lesson_notebook.lesson(read.lesson), seed)
