"""What students are given: a course pack, or the lessons for nbgrader."""

from __future__ import annotations

import ast
import hashlib
import json
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from rooflab.count.si import several
from rooflab.count.validation import unknown
from rooflab.exercises import registry
from rooflab.exercises.course import NAME, Course
from rooflab.exercises.exercise import Exercise
from rooflab.grade import lesson_notebook
from rooflab.grade.inside.limits import Limits
from rooflab.grade.lesson_notebook import CHECKED
from rooflab.grade.notebook_code import parsed

_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip


def day(due: date | None) -> str:
    """Return a due date in words, "1 December 2026", in every locale; "" without one."""
    return f"{due.day} {_MONTHS[due.month - 1]} {due.year}" if due else ""


def points_of(exercise: Exercise, course: Course) -> int:
    """Return what an exercise is worth in ``course``."""
    return course.points.get(exercise.id, exercise.points)


def total(number: str, course: Course) -> int:
    """Return the points of a lesson in ``course``."""
    return sum(points_of(exercise, course) for exercise in registry.lesson(number))


def worth(exercise: Exercise, course: Course) -> str:
    """Return the line above an answer cell."""
    points = points_of(exercise, course)
    told = several(points, "point") if points else "Voluntary, no points"
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
            f"**{due}{several(total(number, course), 'point')} in this lesson.** Write each "
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
    first, cell, whole = notebook(course.lessons[0]).name, f"{Limits.cell:g}", f"{Limits.wall:g}"
    rows = [
        f"| [{lesson_notebook.lesson(number).title.removeprefix('Lesson ')}]"
        f"(notebooks/{notebook(number).name}) "
        f"| {len(registry.lesson(number))} | {total(number, course)} "
        f"| {day(course.due.get(number)) or '–'} |"
        for number in course.lessons
    ]
    readme = _README.format(first=first, cell=cell, whole=whole)
    head = ["| lesson | exercises | points | due on |", "|---|---|---|---|"]
    return "\n".join([f"# {course.title}", "", *head, *rows, "", readme])


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

There is a time limit, too. A cell of yours may compute at most {cell} seconds in the grader, and an
answer at most {cell} in all of the cases; that others use the machine costs you nothing. The whole
notebook has {whole}, unless your teacher names another time. What takes longer is stopped and has
no points; your other answers keep theirs. Cells that measure are not run and take no time.
`rooflab check --timeout {cell}` stops a cell about when the grader does.

## Hand in

The notebook file itself, one a lesson, in the way your teacher told you. The outputs in it do not
count, and neither do cells that measure; only answers do.
"""

# What these cells show depends on the points, or on the person.
OWN = re.compile(r"rl\.(check|progress|my_guesses)\(")


def noted(learner: NotebookNode, number: str, course: Course) -> NotebookNode:
    """Return a copy of lesson ``number`` with notes of its due date and points.

    The first note stands below the title, one line above each answer cell. Nothing else changes,
    but the outputs that hold points or guesses are cleared, and an answer cell cannot be deleted.
    """
    made = nbformat.from_dict(learner)
    made.cells = list(_cells(learner, number, course))
    return made


def _cells(learner: NotebookNode, number: str, course: Course) -> Iterator[NotebookNode]:
    told: set[str] = set()
    order = lesson_notebook.lesson(number).order
    for place, cell in enumerate(learner.cells):
        exercise = exercise_of(cell)
        if exercise and exercise not in told:
            told.add(exercise)
            words = worth(registry.exercise(exercise), course)
            tags = [tag for tag in cell.metadata.get("tags", ()) if tag in ("core", "deep")]
            yield _note(words, f"points-{exercise}", tags)
        copy = cleared(cell) if OWN.search(cell.source) else nbformat.from_dict(cell)
        if exercise:
            copy.metadata["deletable"] = False  # a new cell in its place would have lost its mark
        yield copy
        if place == 0:
            yield _note(due_note(number, order, course), f"due-{number}", ["core"])


def exercise_of(cell: NotebookNode) -> str | None:
    """Return the exercise that a cell answers, None if it answers none."""
    if cell.cell_type != "code":
        return None
    return cell.metadata.get("rooflab", {}).get("exercise")


def cleared(cell: NotebookNode) -> NotebookNode:
    """Return a copy of a cell as if it had never run."""
    cell = nbformat.from_dict(cell)
    if cell.cell_type == "code":
        cell.outputs, cell.execution_count = [], None
    return cell


def _note(text: str, identity: str, tags: list[str]) -> NotebookNode:
    return nbformat.v4.new_markdown_cell(text, id=identity, metadata={"tags": tags})


# A course pack: the lessons that a teacher chose, for students, without the solutions.
#
# A pack is the course in small: notebooks with points and a due note, the package that they need,
# ``course.py`` to start it, and ``course.json``, from which checks and grading read the points.


WHOLE = ("lib/rooflab", "assets/recordings")
SINGLE = ("course.py", "pyproject.toml", "setup.py", "LICENSE", "LICENSE-TEXT")
LISTS = "requirements*.txt"
_LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyc", ".ipynb_checkpoints")


def chosen(lessons: Sequence[str]) -> tuple[str, ...]:
    """Return the numbers of the ``lessons`` asked for; without any, of all that have exercises.

    Raises ValueError for a lesson that does not exist; the message lists those that do.
    """
    folder = lesson_notebook.folder()
    notebooks = {path.name[:2] for path in folder.glob("[0-9][0-9]_*.ipynb")}
    there = sorted(notebooks & {each.lesson for each in registry.exercises().values()})
    if not there:
        raise ValueError(f"there are no notebooks in {folder}; run this in the course")
    for number in lessons:
        if number not in there:
            raise unknown("lessons", number, there)
    return tuple(number for number in there if not lessons or number in lessons)


def notebook(number: str, folder: Path | None = None) -> Path:
    """Return the file of lesson ``number`` in ``folder``, by default the learner's notebooks."""
    folder = folder or lesson_notebook.folder()
    found = sorted(folder.glob(f"{number}_*.ipynb"))
    if not found:
        raise ValueError(f"lesson {number} has no notebook in {folder}")
    return found[0]


def pack(course: Course, out: Path) -> None:
    """Write the course pack of ``course`` into the new or empty folder ``out``.

    It appears in one step, or not at all. ValueError where ``out`` holds something already.
    """

    def fill(folder: Path) -> None:
        root = lesson_notebook.folder().parent
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
        write_text(folder / "README.md", for_students(course))

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
    asked = [e for number in course.lessons for e in registry.lesson(number)]
    whole = replace(course, points={e.id: points_of(e, course) for e in asked})
    text = json.dumps(whole.to_dict(), ensure_ascii=False, indent=1)
    write_text(folder / NAME, text + "\n")


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


CONFIG = '''\
"""nbgrader's settings for the rooflab lessons; `nbgrader` reads them in this folder."""

c = get_config()  # noqa: F821
c.CourseDirectory.course_id = "rooflab"
# The learner's own line, `...  # your code`, stands in the cell already.
c.ClearSolutions.code_stub = {"python": ""}
# Lessons measure; on a busy server one cell may take minutes.
c.Execute.timeout = 600
'''


def for_teachers(course: Course) -> str:
    """Return the README of the export."""
    names = {number: notebook(number).stem for number in course.lessons}
    rows = [
        f"| `{name}` | {several(total(number, course), 'point')} "
        f"| {day(course.due.get(number)) or '–'} |"
        for number, name in names.items()
    ]
    dates = [
        f'nbgrader db assignment add {names[number]} --duedate "{due.isoformat()} 23:59"'
        for number, due in sorted(course.due.items())
    ]
    lines = ["", "Its database learns the due dates so:", "", "```", *dates, "```", ""]
    told = "\n".join(lines) if dates else ""
    return _NBGRADER_README.format(
        title=course.title, rows="\n".join(rows), first=names[course.lessons[0]], dates=told
    )


_NBGRADER_README = """\
# {title}, for nbgrader

Keep this folder to yourself: `source/` holds the solutions and the seed of the hidden cases.

| assignment | | due on |
|---|---|---|
{rows}

The package `rooflab` must be installed where students and where nbgrader run notebooks
(`pip install -r requirements.txt` in a pack that `rooflab release` made: a clone of the course
would show students the solutions).

```
nbgrader generate_assignment {first}
nbgrader release_assignment {first}     # or hand out the folder release/ yourself
nbgrader collect {first}                # or put submitted/STUDENT/{first}/ there yourself
nbgrader autograde {first}
nbgrader generate_feedback {first}
```

{dates}
**Before you trust the points.** nbgrader runs what students wrote in the same process as the test,
with your rights, and executes the whole notebook, also the cells that measure. Whoever wants to can
pass without an answer. The answer cells keep rooflab's own marks, so that you can use nbgrader to
hand out and collect, and mark in rooflab's sandbox, with these points:

```
rooflab grade submitted --points course.json --out grades
```
"""

# The lessons for nbgrader: source notebooks with its metadata, schema version 3.
#
# To nbgrader an answer cell is a solution, and its check cell is an autograder test worth the
# points. The visible test is ``rl.check``; a hidden one draws other cases. Solutions stand between
# marks, and nbgrader removes them when it makes the students' version.


SCHEMA = 3
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
TEST = """\
checked = {call}
display(checked)
assert checked, checked.reason
### BEGIN HIDDEN TESTS
from rooflab.exercises.hidden_cases import hidden

hidden("{id}", {name}, "{seed}")
### END HIDDEN TESTS"""


def export(course: Course, out: Path, seed: int) -> None:
    """Write nbgrader's course folder for ``course`` into the new or empty folder ``out``.

    ``seed`` draws the hidden cases; it stands in the source notebooks, never in the students'.
    """

    def fill(folder: Path) -> None:
        for number in course.lessons:
            learner = notebook(number)
            solved = notebook(number, lesson_notebook.folder() / "solutions")
            made = source(*(nbformat.read(p, as_version=4) for p in (learner, solved)),
                          number, course, seed)  # fmt: skip
            (folder / "source" / learner.stem).mkdir(parents=True)
            write_notebook(made, folder / "source" / learner.stem / learner.name)
            write_course(course, folder / "source" / learner.stem)  # travels along; checks read it
        write_course(course, folder)
        write_text(folder / "nbgrader_config.py", CONFIG)
        write_text(folder / "README.md", for_teachers(course))

    in_one_step(out, fill)


def source(
    learner: NotebookNode, solved: NotebookNode, number: str, course: Course, seed: int
) -> NotebookNode:
    """Return nbgrader's source notebook of a lesson, from the learner's and the solution copy."""
    solutions = {exercise_of(c): c.source for c in solved.cells if exercise_of(c)}
    made = noted(learner, number, course)
    made.cells = [_cell(cleared(cell), solutions, course, seed) for cell in made.cells]
    return made


def _cell(
    cell: NotebookNode, solutions: dict[str | None, str], course: Course, seed: int
) -> NotebookNode:
    exercise = exercise_of(cell)
    asked = CHECKED.match(cell.source) if cell.cell_type == "code" else None
    if exercise:
        cell.source = marked(cell.source, solutions[exercise])
        _mark(cell, exercise, solution=True)
    elif asked:
        id, name = asked.groups()
        secret = hashlib.sha256(f"rooflab release {seed} {id}".encode()).hexdigest()[:16]
        cell.source = TEST.format(call=asked[0], id=id, name=name, seed=secret)
        points = points_of(registry.exercise(id), course)
        _mark(cell, f"check-{id}", grade=True, locked=True, points=points)
    elif cell.cell_type == "code" and _imports(cell.source):
        _mark(cell, f"given-{cell.id}", locked=True)
    return cell


def _mark(cell: NotebookNode, grade_id: str, **flags: bool | int) -> None:
    flat = {"grade": False, "locked": False, "solution": False, "task": False}
    told = {"schema_version": SCHEMA, "grade_id": grade_id, **flat, **flags}
    cell.metadata["nbgrader"] = told


def marked(learner: str, solved: str) -> str:
    """Return the learner's cell with the solution below it, between nbgrader's marks.

    Without the solution it is the learner's cell again; with it, the later definition counts.
    """
    return "\n".join((learner, BEGIN, solved, END))


def _imports(source: str) -> bool:
    tree = parsed(source)
    return tree is not None and bool(tree.body) and all(
        isinstance(node, (ast.Import, ast.ImportFrom)) for node in tree.body
    )  # fmt: skip
