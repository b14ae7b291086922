"""What stands in an export for nbgrader besides its notebooks."""

from __future__ import annotations

from rooflab.exercises.course import Course
from rooflab.grade.release_words import counted, day, given_file, total

LF = "\n"
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
    names = {number: given_file(number).removesuffix(".ipynb") for number in course.lessons}
    rows = [
        f"| `{name}` | {counted(total(number, course))} | {day(course.due.get(number)) or '–'} |"
        for number, name in names.items()
    ]
    dates = [
        f'nbgrader db assignment add {names[number]} --duedate "{due.isoformat()} 23:59"'
        for number, due in sorted(course.due.items())
    ]
    told = (
        f"\nIts database learns the due dates so:\n\n```\n{LF.join(dates)}\n```\n" if dates else ""
    )
    return _README.format(
        title=course.title, rows=LF.join(rows), first=names[course.lessons[0]], dates=told
    )


_README = """\
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
