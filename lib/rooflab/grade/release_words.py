"""What a release says: the notes in its notebooks, and its README."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from rooflab.exercises import registry
from rooflab.exercises.course import Course
from rooflab.exercises.exercise import Exercise
from rooflab.grade import given
from rooflab.grade.limits import Limits

_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip


def day(due: date | None) -> str:
    """Return a due date in words, "1 December 2026", in every locale; "" without one."""
    return f"{due.day} {_MONTHS[due.month - 1]} {due.year}" if due else ""


def counted(points: int) -> str:
    """Return "1 point", "3 points"."""
    return f"{points} point{'' if points == 1 else 's'}"


def points_of(exercise: Exercise, course: Course) -> int:
    """Return what an exercise is worth in ``course``."""
    return course.points.get(exercise.id, exercise.points)


def total(number: str, course: Course) -> int:
    """Return the points of a lesson in ``course``."""
    return sum(points_of(exercise, course) for exercise in registry.lesson(number))


def worth(exercise: Exercise, course: Course) -> str:
    """Return the line above an answer cell."""
    points = points_of(exercise, course)
    told = counted(points) if points else "Voluntary, no points"
    return f"**{told}** · {exercise.title} · `{exercise.id}`"


def due_note(number: str, order: Sequence[str], course: Course) -> str:
    """Return the note below the title of lesson ``number``, its exercises in ``order``."""
    told = day(course.due.get(number))
    due = f"Due on {told}. " if told else ""
    rows = [
        f"| {registry.exercise(id).title} | `{id}` | {points_of(registry.exercise(id), course)} |"
        for id in order
    ]
    return "\n".join(
        [
            f"**{due}{counted(total(number, course)).capitalize()} in this lesson.** Write each "
            "answer into the cell below its question; keep the cell, because your answer is found "
            "by a mark in it. The last cell of the lesson says how you stand.",
            "",
            "| exercise | name | points |",
            "|---|---|---|",
            *rows,
        ]
    )


def for_students(course: Course) -> str:
    """Return the README of a course pack."""
    first = given_file(course.lessons[0])
    rows = [
        f"| [{given.lesson(number).title.removeprefix('Lesson ')}](notebooks/{given_file(number)}) "
        f"| {len(registry.lesson(number))} | {total(number, course)} "
        f"| {day(course.due.get(number)) or '–'} |"
        for number in course.lessons
    ]
    head = ["| lesson | exercises | points | due on |", "|---|---|---|---|"]
    return "\n".join([f"# {course.title}", "", *head, *rows, "", _readme(first)])


def _readme(first: str) -> str:
    return _README.format(first=first, cell=f"{Limits.cell:g}", whole=f"{Limits.wall:g}")


def given_file(number: str) -> str:
    """Return the file name of a lesson's notebook."""
    return sorted(given.folder().glob(f"{number}_*.ipynb"))[0].name


_README = """\
## Start

You need Python 3.11 or newer and about 1 GB of disk. In this folder:

```
python course.py lab
```

The first start installs everything into the folder `.venv` and takes a few minutes; then
JupyterLab opens. On Windows it is `py course.py lab`. In an environment of your own:
`pip install -r requirements.txt`, then `jupyter lab`.

## Answer

Every exercise has a cell with `...  # your code`. Write your answer there and run the cell below
it: it says whether you are right, and if not, often why. Keep the answer cells: copy no cell and
make none anew, or its mark is lost. `rl.progress` in the last cell counts your points.

Before you hand in, save, and let the file itself be checked, as the grader reads it:

```
.venv/bin/rooflab check notebooks/{first}
```

(on Windows `.venv\\Scripts\\rooflab`). Your teacher's grader uses other cases than this check,
so compute; a result that was copied from a check will not pass there.

There is a time limit, too. A cell of yours has at most {cell} seconds in the grader, and an answer has
at most {cell} for all of the cases. The whole notebook has {whole}, unless your teacher names another
time. What takes longer is stopped and has no points; your other answers keep theirs. Cells that
measure are not run and take no time. `rooflab check --timeout {cell}` stops a cell when the grader does.

## Hand in

The notebook file itself, one a lesson, in the way your teacher told you. The outputs in it do not
count, and neither do cells that measure; only answers do.
"""
