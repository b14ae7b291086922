"""A course pack: the lessons that a teacher chose, for students, without the solutions.

A pack is the course in small: notebooks with points and a due note, the package that they need,
``course.py`` to start it, and ``course.json``, from which checks and grading read the points.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import nbformat

from rooflab.count.validation import unknown
from rooflab.exercises import registry
from rooflab.exercises.course import NAME, Course
from rooflab.grade import given, release_words
from rooflab.grade.release_notebook import noted

WHOLE = ("lib/rooflab", "assets/recordings")
SINGLE = ("course.py", "pyproject.toml", "LICENSE", "LICENSE-TEXT")
LISTS = "requirements*.txt"
_LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyc", ".ipynb_checkpoints")


def chosen(lessons: Sequence[str]) -> tuple[str, ...]:
    """Return the numbers of the lessons that were asked for, all that have exercises if none was.

    ValueError with those that exist for one that does not.
    """
    known = {path.name[:2]: path for path in sorted(given.folder().glob("[0-9][0-9]_*.ipynb"))}
    asked = {e.lesson for e in registry.exercises().values()}
    there = [number for number in known if number in asked]
    if not there:
        raise ValueError(f"there are no notebooks in {given.folder()}; run this in the course")
    for number in lessons:
        if number not in there:
            raise unknown("lessons", number, there)
    return tuple(number for number in there if not lessons or number in lessons)


def notebook(number: str, folder: Path | None = None) -> Path:
    """Return the file of lesson ``number`` in ``folder``, by default the learner's notebooks."""
    folder = folder or given.folder()
    found = sorted(folder.glob(f"{number}_*.ipynb"))
    if not found:
        raise ValueError(f"lesson {number} has no notebook in {folder}")
    return found[0]


def pack(course: Course, out: Path) -> None:
    """Write the course pack of ``course`` into the new or empty folder ``out``.

    It appears in one step, or not at all. ValueError where ``out`` holds something already.
    """

    def fill(folder: Path) -> None:
        root = given.folder().parent
        for name in WHOLE:
            shutil.copytree(_there(root / name), folder / name, ignore=_LEFT_OUT)
        for path in [*(_there(root / name) for name in SINGLE), *sorted(root.glob(LISTS))]:
            shutil.copyfile(path, folder / path.name)
        (folder / "notebooks").mkdir()
        for number in course.lessons:
            source = notebook(number)
            made = noted(nbformat.read(source, as_version=4), number, course)
            write_notebook(made, folder / "notebooks" / source.name)
        write_course(course, folder)
        write_text(folder / "README.md", release_words.for_students(course))

    in_one_step(out, fill)


def in_one_step(out: Path, fill: Callable[[Path], None]) -> None:
    """Let ``fill`` write into a folder that becomes ``out``; after an error nothing is left."""
    if out.is_symlink() or (out.exists() and (not out.is_dir() or any(out.iterdir()))):
        raise ValueError(f"--out={str(out)!r} is there already; name a new or an empty folder")
    out.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    try:
        fill(fresh)
        fresh.chmod(0o755)
        if out.exists():
            out.rmdir()
        fresh.rename(out)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise


def write_course(course: Course, folder: Path) -> None:
    """Write course.json with the points of every exercise in it, so that it stands alone."""
    text = json.dumps(complete(course).to_dict(), ensure_ascii=False, indent=1)
    write_text(folder / NAME, text + "\n")


def complete(course: Course) -> Course:
    """Return ``course`` with the points of each of its exercises written out, and no other's."""
    asked = [e for number in course.lessons for e in registry.lesson(number)]
    points = {e.id: course.points.get(e.id, e.points) for e in asked}
    return Course(course.title, course.lessons, points, course.due)


def write_notebook(made: nbformat.NotebookNode, path: Path) -> None:
    """Write a notebook with lines that end in LF on every system."""
    write_text(path, nbformat.writes(made) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 with lines that end in LF on every system."""
    path.write_text(text, encoding="utf-8", newline="\n")


def _there(path: Path) -> Path:
    if not path.exists():
        raise ValueError(f"{path} is missing; release from a whole clone of the course")
    return path
