"""The page that a student gets back: every exercise with its verdict, its failing case, its
hint."""

from __future__ import annotations

import re

from rooflab.exercises.compare import show
from rooflab.exercises.registry import exercise
from rooflab.exercises.verdict import Verdict
from rooflab.grade import given
from rooflab.grade.names import COLOUR
from rooflab.grade.page import bar, box, name, page, text
from rooflab.grade.results import Row

LONGEST = 3_000  # characters of what a cell printed
_WORDS = {"right": "✓ right", "wrong": "✗ not right", "open": "○ not answered"}
_CONTROL = re.compile(rf"{COLOUR.pattern}|[^\S\n\t ]|[\x00-\x08\x0e-\x1f\x7f-\x9f]")
_NOTE = (
    "The cases were drawn for this class, so they are not those of the check in your notebook. "
    "Every answer was judged by what it gave there."
)


def html(student: str, row: Row, notice: str = "") -> str:
    """Return the page of one file. ``notice``: what the class has to know, such as no sandbox."""
    if row.lesson is None:
        title, cards = "Not graded", ""
    else:
        title = given.lesson(row.lesson).title
        cards = "\n".join(_card(one, row.printed.get(id, "")) for id, one in row.verdicts.items())
    file = row.file.split("/")[-1]  # the folders are the teacher's own business
    score = f"{row.points} of {row.max} points" if row.verdicts else "0 points"
    return page(
        f"{student}: {title}",
        f'<header>\n<h1>{text(title)}</h1>\n<p class="who">{name(student)}<br>{name(file)}</p>\n'
        f'</header>\n<main>\n<p class="score"><strong>{text(score)}</strong></p>\n'
        f"{bar(row.points, row.max)}\n{box(notice, _sentence(row.error))}\n"
        f"{box(*map(_sentence, row.remarks))}\n"
        f"{cards}\n</main>\n<footer>{text(_NOTE) if row.verdicts else ''}</footer>",
    )


def _card(verdict: Verdict, printed: str) -> str:
    asked = exercise(verdict.exercise)
    state = "right" if verdict.passed else "open" if verdict.unanswered else "wrong"
    points = f"{verdict.points} of {verdict.max} point{'s' if verdict.max > 1 else ''}"
    points = points if verdict.max else "voluntary"
    hint = ""
    if verdict.hint:
        name = text(verdict.misconception)
        hint = f'<p class="hint"><strong>{name}:</strong> {text(verdict.hint)}</p>'
    note = f"<p>{text(verdict.note)}</p>" if verdict.note else ""
    return (
        f'<article class="{state}">\n<header><h3>{text(asked.title)} '
        f'<span class="id">{text(asked.id)}</span></h3>'
        f'<span class="points">{text(_WORDS[state])} · {text(points)}</span></header>\n'
        f"<p>{_reason(verdict)}</p>{hint}{note}"
        f"{_case(verdict)}{_printed(printed)}\n</article>"
    )


def _reason(verdict: Verdict) -> str:
    """The reason as HTML, with the learner's name of the answer set as code."""
    called = given.lesson(verdict.exercise[:2]).names[verdict.exercise]
    said = text(_sentence(verdict.reason, called))
    return re.sub(rf"\b{re.escape(called)}\b(?=\(|:| on )", r"<code>\g<0></code>", said, count=1)


def _case(verdict: Verdict) -> str:
    """The first failing case, and what came out."""
    lines = []
    if verdict.case:
        inputs = ", ".join(f"{key} = {show(value)}" for key, value in verdict.case.items())
        lines.append(("failing case", inputs))
    if verdict.yours is not None:
        lines.append(("your result", verdict.yours))
    rows = "".join(f"<dt>{text(k)}</dt><dd><code>{text(v)}</code></dd>" for k, v in lines)
    return f"<dl>{rows}</dl>" if rows else ""


def _printed(printed: str) -> str:
    shown = _CONTROL.sub("", printed).strip()
    if not shown:
        return ""
    cut = shown if len(shown) <= LONGEST else shown[:LONGEST] + "\n…"
    return f"<details><summary>What your cell printed</summary><pre>{text(cut)}</pre></details>"


def _sentence(said: str | None, called: str = "") -> str:
    """The line as a sentence: a capital first letter unless it is code, a full stop at the end.

    ``called``: the learner's name of the answer, which keeps its small letter.
    """
    if not said:
        return ""
    word = said.split()[0].rstrip(";:,")
    first = said[0].upper() + said[1:] if word.isalpha() and word != called else said
    return first if first[-1] in ".!?…" else first + "."
