"""The pages of a class: for the teacher and for each student, as HTML that loads nothing."""

from __future__ import annotations

import base64
import io
import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from rooflab.count.si import several
from rooflab.exercises.compare import show
from rooflab.exercises.registry import exercise
from rooflab.exercises.verdict import Verdict
from rooflab.grade import lesson_notebook
from rooflab.grade.display_names import COLOUR, one_line, page_name
from rooflab.grade.results import Results, Row
from rooflab.measure.store import replace_file
from rooflab.show import theme

# All HTML stands in the templates beside this file, ``*.html.j2``. They escape whatever they are
# given. The policy in ``page.html.j2`` also forbids scripts, in case a hole is left.


_PAGES = Environment(
    loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined,
    trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
)  # fmt: skip
_PAGES.filters["one_line"] = one_line


# The pictures of the class page, as PNG in the page itself: how many points, how hard what was.


WIDTH = 9.0  # inches
DPI = 160  # twice what a screen shows: sharp in print
RIGHT, WRONG, OPEN = "#009E73", "#D55E00", "#C8C8C8"


@dataclass(frozen=True)
class Hard:
    """How an exercise went: counts of right, wrong and unanswered, and its most usual mistake."""

    id: str
    title: str
    right: int
    wrong: int
    open: int
    mistake: str = ""

    @property
    def share(self) -> float:
        """Share of the submissions that have it right."""
        return self.right / max(1, self.right + self.wrong + self.open)


@dataclass(frozen=True)
class Image:
    """A PNG: its ``data`` in base64, its size in CSS pixels, and a text that says the same."""

    data: str
    width: int
    height: int
    said: str


def histogram(points: Sequence[int], most: int) -> Image:
    """Return the histogram of points."""
    counts = Counter(points)
    width = max(1, -(-(most + 1) // 40))  # 40 bars are enough
    bins = Counter(p // width for p in points)
    with rc_context(theme.RC):
        figure = _figure(2.9)
        ax = figure.add_axes((0.07, 0.2, 0.91, 0.75))
        ax.bar([b * width + (width - 1) / 2 for b in bins], list(bins.values()),
               width=0.86 * width, color="#0072B2")  # fmt: skip
        ax.set_xlim(-0.6, most + 0.6)
        ax.set_xlabel(f"points, of {most}")
        ax.set_ylabel("submissions")
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=20))
        ax.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
        _plain(ax, "y")
    listed = ", ".join(f"{count} with {p}" for p, count in sorted(counts.items()))
    return _image(figure, f"Histogram of points, of {most} possible. Submissions: {listed}.")


def hardest(rows: Sequence[Hard]) -> Image:
    """Return bars of right, wrong and unanswered, one an exercise."""
    with rc_context(theme.RC):
        tall = 0.34 * len(rows) + 0.95
        figure = _figure(tall)
        ax = figure.add_axes((0.26, 0.52 / tall, 0.72, 1 - 0.92 / tall))
        places = range(len(rows))
        left = [0.0] * len(rows)
        for kind, colour in (("right", RIGHT), ("wrong", WRONG), ("open", OPEN)):
            whole = [max(1, r.right + r.wrong + r.open) for r in rows]
            share = [100 * getattr(r, kind) / n for r, n in zip(rows, whole, strict=True)]
            label = {"open": "not answered", "wrong": "not right"}.get(kind, kind)
            hatch = "///" if kind == "wrong" else None  # told apart without colour as well
            ax.barh(places, share, left=left, color=colour, height=0.72, label=label,
                    hatch=hatch, edgecolor="white", linewidth=0.8)  # fmt: skip
            left = [a + b for a, b in zip(left, share, strict=True)]
        ax.set_yticks(list(places), [row.id for row in rows])
        ax.invert_yaxis()
        ax.set_xlim(0, 100)
        ax.set_xlabel("% of the submissions")
        _plain(ax, "x")
        figure.legend(loc="upper right", bbox_to_anchor=(0.985, 1), ncols=3, frameon=False)
    listed = "; ".join(f"{r.id} {100 * r.share:.0f} % right" for r in rows)
    return _image(figure, f"How the exercises went, hardest first: {listed}.")


def _figure(height: float) -> Figure:
    figure = Figure((WIDTH, height), dpi=DPI, facecolor="white")
    FigureCanvasAgg(figure)
    return figure


def _plain(ax, grid: str) -> None:
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis=grid, color=theme.GRID, lw=0.8)
    ax.set_axisbelow(True)
    ax.tick_params(length=0)


def _image(figure: Figure, said: str) -> Image:
    out = io.BytesIO()
    figure.savefig(out, format="png", metadata={"Software": None})
    width, height = (round(96 * inches) for inches in figure.get_size_inches())
    return Image(base64.b64encode(out.getvalue()).decode(), width, height, said)


# The page that a student gets back: each exercise with its verdict, its failing case, its hint.


LONGEST = 3_000  # characters of what a cell printed
_WORDS = {"✓": ("right", "right"), "✗": ("wrong", "not right"), "○": ("open", "not answered")}
_CONTROL = re.compile(rf"{COLOUR.pattern}|[^\S\n\t ]|[\x00-\x08\x0e-\x1f\x7f-\x9f]")


def student_page(student: str, row: Row, notice: str = "") -> str:
    """Return the page of one file. ``notice``: what the class has to know, such as no sandbox."""
    graded = row.lesson is not None
    return _PAGES.get_template("student.html.j2").render(
        title=lesson_notebook.lesson(row.lesson).title if graded else "Not graded",
        student=student,
        file=row.file.split("/")[-1],  # the folders are the teacher's own business
        score=f"{row.points} of {row.max} points" if row.verdicts else "0 points",
        points=row.points,
        max=row.max,
        notes=[notice, _sentence(row.error)],
        remarks=[_sentence(remark) for remark in row.remarks],
        cards=[_card(one, row.printed.get(id, "")) for id, one in row.verdicts.items()],
    )


def _card(verdict: Verdict, printed: str) -> dict[str, Any]:
    """Return what the page shows of one exercise."""
    asked = exercise(verdict.exercise)
    state, word = _WORDS[verdict.mark]
    points = f"{verdict.points} of {several(verdict.max, 'point')}"
    return {
        "state": state, "title": asked.title, "id": asked.id, "word": f"{verdict.mark} {word}",
        "points": points if verdict.max else "voluntary", "reason": _reason(verdict),
        "misconception": verdict.misconception, "hint": verdict.hint, "note": verdict.note,
        "case": _case(verdict), "printed": _printed(printed),
    }  # fmt: skip


def _reason(verdict: Verdict) -> tuple[str, str, str]:
    """The reason in three parts; the second is the learner's name of the answer, set as code."""
    called = lesson_notebook.lesson(verdict.exercise[:2]).names[verdict.exercise]
    said = _sentence(verdict.reason, called)
    found = re.search(rf"\b{re.escape(called)}\b(?=\(|:| on )", said)
    return (said[: found.start()], called, said[found.end() :]) if found else (said, "", "")


def _case(verdict: Verdict) -> list[tuple[str, str]]:
    """The first failing case, and what came out."""
    lines = []
    if verdict.case:
        inputs = ", ".join(f"{key} = {show(value)}" for key, value in verdict.case.items())
        lines.append(("failing case", inputs))
    if verdict.yours is not None:
        lines.append(("your result", verdict.yours))
    return lines


def _printed(printed: str) -> str:
    shown = _CONTROL.sub("", printed).strip()
    return shown if len(shown) <= LONGEST else shown[:LONGEST] + "\n…"


def _sentence(said: str | None, called: str = "") -> str:
    """The line as a sentence: a capital first letter unless it is code, a full stop at the end.

    ``called``: the learner's name of the answer, which keeps its small letter.
    """
    if not said:
        return ""
    word = said.split()[0].rstrip(";:,")
    first = said[0].upper() + said[1:] if word.isalpha() and word != called else said
    return first if first[-1] in ".!?…" else first + "."


# The class page: who has how many points, what was hard, and which mistakes are usual.


NAME = "index.html"
PAGES = "students"


def write(results: Results, folder: Path, notice: str = "") -> None:
    """Write index.html and one page a file into ``folder``, each in one step."""
    (folder / PAGES).mkdir(parents=True, exist_ok=True)
    for student, row in zip(results.students, results.rows, strict=True):
        written = student_page(student, row, notice)
        replace_file(folder / PAGES / page_name(student, row.file), written)
    replace_file(folder / NAME, class_page(results, notice))


def class_page(results: Results, notice: str = "") -> str:
    """Return the class page."""
    refused = sum(not row.verdicts for row in results.rows)
    count = several(len(results.rows), "file")
    return _PAGES.get_template("class.html.j2").render(
        count=f"{count}, {refused} of them could not be graded" if refused else count,
        seed=results.seed,
        notice=notice,
        doubles=_doubles(results),
        lessons=[_lesson(results, n) for n in sorted({r.lesson for r in results.rows if r.lesson})],
        everyone=_everyone(results),
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


def _lesson(results: Results, number: str) -> dict[str, Any]:
    """Return what the page shows of one lesson."""
    rows = [row for row in results.rows if row.lesson == number and row.verdicts]
    points, most = [row.points for row in rows], max(row.max for row in rows)
    middle = f"mean {mean(points):.1f}, median {median(points):g}"
    went = hard(rows)
    return {
        "number": number, "title": lesson_notebook.lesson(number).title,
        "told": f"{len(rows)} graded: {middle} of {most} points",
        "histogram": histogram(points, most), "hardest": hardest(went), "went": went,
    }  # fmt: skip


def _everyone(results: Results) -> list[dict[str, Any]]:
    """Return what the page shows of each file."""
    shared = _shared([row.file for row in results.rows])
    return [
        {
            "page": f"{PAGES}/{page_name(student, row.file)}", "student": student,
            "lesson": row.lesson, "points": f"{row.points} of {row.max}" if row.verdicts else "0",
            "remarks": "; ".join([row.error, *row.remarks] if row.error else row.remarks),
            "file": row.file[shared:],
        }
        for student, row in zip(results.students, results.rows, strict=True)
    ]  # fmt: skip


def _shared(files: Sequence[str]) -> int:
    """Number of characters of the folders that all ``files`` have in common."""
    common = os.path.commonprefix([file.split("/")[:-1] for file in files])
    return sum(len(part) + 1 for part in common)


def _doubles(results: Results) -> list[str]:
    """Say which names stand over several files of one lesson; nothing is added up for them."""
    pairs = zip(results.students, results.rows, strict=True)
    counts = Counter((student, row.lesson) for student, row in pairs if row.lesson)
    return [
        f"{student} handed in {count} files of lesson {lesson}; each has its own row."
        for (student, lesson), count in counts.items()
        if count > 1
    ]
