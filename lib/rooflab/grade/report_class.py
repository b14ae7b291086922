"""The class page: who has how many points, what was hard, and which mistakes are usual."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import mean, median

from rooflab.exercises.registry import exercise
from rooflab.grade import charts, given, report_student
from rooflab.grade.charts import Hard
from rooflab.grade.names import page_name
from rooflab.grade.page import box, name, page, table, text
from rooflab.grade.results import Results, Row
from rooflab.measure.atomic import replace_file

NAME = "index.html"
PAGES = "students"


def write(results: Results, folder: Path, notice: str = "") -> None:
    """Write index.html and one page a file into ``folder``, each in one step."""
    (folder / PAGES).mkdir(parents=True, exist_ok=True)
    for student, row in zip(results.students, results.rows, strict=True):
        written = report_student.html(student, row, notice)
        replace_file(folder / PAGES / page_name(student, row.file), written)
    replace_file(folder / NAME, html(results, notice))


def html(results: Results, notice: str = "") -> str:
    """Return the class page."""
    lessons = sorted({row.lesson for row in results.rows if row.lesson})
    refused = sum(not row.verdicts for row in results.rows)
    count = f"{len(results.rows)} file{'' if len(results.rows) == 1 else 's'}"
    told = f"{count}, {refused} of them could not be graded" if refused else count
    parts = [_lesson(results, number) for number in lessons]
    return page(
        "Grades of the class",
        f'<header>\n<h1>Grades of the class</h1>\n<p class="who">{text(told)} · cases drawn with '
        f"seed {results.seed}</p>\n{_contents(lessons)}\n</header>\n<main>\n"
        f"{box(notice)}\n{box(*_doubles(results))}\n"
        f"{''.join(parts)}\n<h2 id='everyone'>Everyone</h2>\n{_everyone(results)}\n</main>\n"
        f"<footer>{_links()}</footer>",
    )


def hard(rows: Sequence[Row]) -> list[Hard]:
    """Return how each exercise of ``rows`` (one lesson's) went, the hardest first."""
    found = []
    for id in dict.fromkeys(id for row in rows for id in row.verdicts):
        verdicts = [row.verdicts[id] for row in rows if id in row.verdicts]
        right = sum(v.passed for v in verdicts)
        still = sum(v.unanswered for v in verdicts)
        mistakes = Counter(v.misconception for v in verdicts if v.misconception)
        usual = min(mistakes.items(), key=lambda item: (-item[1], item[0]), default=None)
        said = f"{usual[0]} ({usual[1]})" if usual else ""
        wrong = len(verdicts) - right - still
        found.append(Hard(id, exercise(id).title, right, wrong, still, said))
    return sorted(found, key=lambda one: one.share)


def _contents(lessons: Sequence[str]) -> str:
    """Links to the parts of the page, where there are several lessons to leaf through."""
    if len(lessons) < 2:
        return ""
    links = [f'<a href="#lesson-{number}">lesson {number}</a>' for number in lessons]
    links.append('<a href="#everyone">everyone</a>')
    return f"<nav>{' · '.join(links)}</nav>"


def _lesson(results: Results, number: str) -> str:
    rows = [row for row in results.rows if row.lesson == number and row.verdicts]
    points, most = [row.points for row in rows], max(row.max for row in rows)
    told = (
        f"{len(rows)} graded: mean {mean(points):.1f}, median {median(points):g} of {most} points"
    )
    went = hard(rows)
    lines = [
        [f"{text(one.title)} <span class='id'>{text(one.id)}</span>",
         *map(str, (one.right, one.wrong, one.open)), text(one.mistake or "–")]
        for one in went
    ]  # fmt: skip
    columns = ["exercise", "right", "not right", "not answered", "most usual mistake"]
    return (
        f"<section>\n<h2 id='lesson-{number}'>{text(given.lesson(number).title)}</h2>\n"
        f"<p>{text(told)}</p>\n"
        f"{charts.histogram(points, most)}\n<h3>Hardest first</h3>\n{charts.hardest(went)}\n"
        f"{table(columns, lines, numbers=(1, 2, 3))}\n</section>\n"
    )


def _everyone(results: Results) -> str:
    lines = []
    shared = _shared([row.file for row in results.rows])
    for student, row in zip(results.students, results.rows, strict=True):
        link = f'<a href="{PAGES}/{page_name(student, row.file)}">{name(student)}</a>'
        points = f"{row.points} of {row.max}" if row.verdicts else "0"
        said = "; ".join([row.error, *row.remarks] if row.error else row.remarks)
        lines.append([link, text(row.lesson or "–"), points, text(said), name(row.file[shared:])])
    return table(["student", "lesson", "points", "remarks", "file"], lines, numbers=(2,))


def _shared(files: Sequence[str]) -> int:
    """Number of characters of the folders that all ``files`` have in common."""
    folders = [file.split("/")[:-1] for file in files]
    common = next(
        (n for n, parts in enumerate(zip(*folders)) if len(set(parts)) > 1),
        min(map(len, folders), default=0),
    )
    return sum(len(part) + 1 for part in folders[0][:common]) if folders else 0


def _doubles(results: Results) -> list[str]:
    """Say which names stand over several files of one lesson; nothing is added up for them."""
    pairs = zip(results.students, results.rows, strict=True)
    counts = Counter((student, row.lesson) for student, row in pairs if row.lesson)
    return [
        f"{student} handed in {count} files of lesson {lesson}; each has its own row."
        for (student, lesson), count in counts.items()
        if count > 1
    ]


def _links() -> str:
    return (
        'The same as data: <a href="grades.csv">grades.csv</a>, '
        '<a href="results.json">results.json</a>.'
    )
