"""README.md: its example prints what stands below it, and its table asks what the lessons ask."""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import nbformat
from PIL import Image


def test_the_example_prints_what_stands_below_it(repository: Path) -> None:
    text = (repository / "README.md").read_text("utf-8")
    code, shown = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", text, re.S).groups()
    with redirect_stdout(StringIO()) as printed:
        exec(code, {})
    assert printed.getvalue() == shown


def test_the_table_asks_what_the_lessons_ask(repository: Path) -> None:
    readme = (repository / "README.md").read_text("utf-8")
    lessons = sorted((repository / "notebooks").glob("[0-9][0-9]_*.ipynb"))
    for lesson in lessons:
        first = nbformat.read(lesson, as_version=4).cells[0].source
        question = " ".join(re.search(r"^\*\*(.+?)\*\*$", first, re.M | re.S)[1].split())
        assert f"(notebooks/{lesson.name}) | {question} |" in readme
        assert (repository / f"assets/figures/lessons/{lesson.name[:2]}.svg").exists()
    assert readme.count("(notebooks/") == len(lessons) + 1


def test_the_moving_picture_moves_and_is_light(repository: Path) -> None:
    path = repository / "assets/figures/guess.gif"
    with Image.open(path) as picture:
        assert picture.n_frames > 10
    assert path.stat().st_size < 1e6
