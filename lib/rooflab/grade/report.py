"""The pages of a class: for the teacher and for each student, as HTML that loads nothing."""

from __future__ import annotations

import base64
import html
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median

from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from rooflab.exercises.compare import show
from rooflab.exercises.registry import exercise
from rooflab.exercises.verdict import Verdict
from rooflab.grade import given
from rooflab.grade.display_names import COLOUR, one_line, page_name
from rooflab.grade.results import Results, Row
from rooflab.measure.atomic_file import replace_file
from rooflab.show import theme

# The HTML of the reports: one look, everything escaped, no script, nothing loaded from elsewhere.
#
# What students wrote goes through :func:`text` and nowhere else into a page; the page's own policy
# also forbids scripts, in case that a hole is left.


_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'"
_STYLE = """
:root { color-scheme: light dark; --page: #fff; --ink: #222; --soft: #555; --line: #dcdcdc;
  --link: #00598c; --code: #f5f5f5; --hint: #eef5fa; --note: #fff6f0; --track: #e3e3e3;
  --right: #009E73; --wrong: #D55E00; --open: #6B6B6B; --bar: #0072B2; }
@media screen and (prefers-color-scheme: dark) { :root { --page: #191919; --ink: #e6e6e6;
  --soft: #b0b0b0; --line: #444; --link: #7cc0ee; --code: #262626; --hint: #1b2d3a;
  --note: #33251c; --track: #3a3a3a; --open: #9a9a9a; --bar: #56B4E9; }
  img { filter: invert(.9) hue-rotate(180deg); } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 2rem 1.5rem 3rem; background: var(--page);
  color: var(--ink); font: 1rem/1.55 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .2rem; }
h2 { font-size: 1.25rem; margin: 2.2rem 0 .6rem; }
h3 { font-size: 1.06rem; margin: 0; }
p { margin: .5rem 0; max-width: 46rem; overflow-wrap: anywhere; }
a { color: var(--link); }
nav { margin: .8rem 0 0; }
img { max-width: 100%; height: auto; display: block; margin: .4rem 0; }
.who { color: var(--soft); margin: 0; overflow-wrap: anywhere; }
.score { font-size: 1.5rem; margin: 1.2rem 0 .3rem; }
.bar { height: .8rem; background: var(--track); border-radius: .4rem; overflow: hidden;
  max-width: 30rem; margin-bottom: 1.2rem; }
.bar span { display: block; height: 100%; background: var(--bar); }
.box { border: 1px solid var(--wrong); background: var(--note); padding: .6rem .9rem;
  margin: 1rem 0; }
.box p { margin: .2rem 0; }
article { border: 1px solid var(--line); border-left: .4rem solid var(--open);
  border-radius: .3rem; padding: .7rem 1rem .5rem; margin: .8rem 0; break-inside: avoid; }
article.right { border-left-color: var(--right); }
article.wrong { border-left-color: var(--wrong); }
article header { display: flex; gap: .2rem 1rem; justify-content: space-between;
  flex-wrap: wrap; }
.points { font-variant-numeric: tabular-nums; white-space: nowrap; color: var(--soft); }
.id { color: var(--soft); font-weight: normal; font-size: .92rem; white-space: nowrap; }
.hint { background: var(--hint); border-radius: .25rem; padding: .4rem .7rem; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .1rem 1rem;
  margin: .6rem 0 .3rem; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
summary { cursor: pointer; padding: .2rem 0; }
code, pre { font: .94rem/1.45 ui-monospace, "DejaVu Sans Mono", Consolas, monospace; }
pre { background: var(--code); padding: .6rem .8rem; margin: .3rem 0 .5rem;
  white-space: pre-wrap; overflow-wrap: anywhere; max-height: 24rem; overflow: auto; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .32rem .9rem .32rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; overflow-wrap: break-word; }
th { white-space: nowrap; }
td:has(bdi) { overflow-wrap: anywhere; min-width: 9rem; }
th.number, td.number { text-align: right; white-space: nowrap; }
.number + th:not(.number), .number + td:not(.number) { padding-left: .8rem; }
section h3 { margin: 1.6rem 0 .4rem; }
footer { margin-top: 2.5rem; color: var(--soft); font-size: .94rem; }
@media (max-width: 40rem) { body { padding: 1rem .9rem 2rem; } td:first-child { min-width: 8rem; }
  th, th.number { white-space: normal; vertical-align: bottom; }
  .number + .number { padding-left: .3rem; } }
@media print { body { max-width: none; padding: 0; font-size: 10.5pt; } a { color: inherit; }
  nav { display: none; } pre { max-height: none; } thead { display: table-header-group; }
  tr { break-inside: avoid; }
  .bar, .hint, .box, article, img { print-color-adjust: exact;
    -webkit-print-color-adjust: exact; } }
"""


def text(words: object) -> str:
    """Return ``words`` as HTML text, also right inside an attribute in double quotes."""
    return html.escape(str(words), quote=True)


def name(words: str) -> str:
    """Return a name as HTML, kept apart from the direction in which its neighbours are written."""
    return f"<bdi>{text(one_line(words))}</bdi>"


def page(title: str, body: str) -> str:
    """Return a whole page; ``title`` is plain text, ``body`` finished HTML."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{text(title)}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def bar(points: int, most: int) -> str:
    """Return the score as a bar; it is said in words beside it, so readers aloud skip it."""
    share = 100 * points / most if most else 0
    return f'<div class="bar" aria-hidden="true"><span style="width:{share:.1f}%"></span></div>'


def box(*lines: str) -> str:
    """Return a framed note, one paragraph a line of plain text; nothing without lines."""
    said = "".join(f"<p>{text(line)}</p>" for line in lines if line)
    return f'<div class="box" role="note">{said}</div>' if said else ""


def table(columns: list[str], rows: list[list[str]], numbers: tuple[int, ...] = ()) -> str:
    """Return a table; headings are plain text, the cells finished HTML."""

    def one(tag: str, place: int, inside: str, more: str = "") -> str:
        kind = ' class="number"' if place in numbers else ""
        return f"<{tag}{more}{kind}>{inside}</{tag}>"

    head = "".join(one("th", n, text(c), ' scope="col"') for n, c in enumerate(columns))
    lines = ["".join(one("td", n, cell) for n, cell in enumerate(row)) for row in rows]
    body = "\n".join(f"<tr>{line}</tr>" for line in lines)
    inside = f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>"
    # A wide table is scrolled by itself, on a telephone, and by the keyboard too.
    return f'<div class="wide" tabindex="0"><table>\n{inside}\n</table></div>'


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


def histogram(points: Sequence[int], most: int) -> str:
    """Return the histogram of points as an ``<img>`` whose text says the same."""
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


def hardest(rows: Sequence[Hard]) -> str:
    """Return bars of right, wrong and unanswered, one an exercise, as an ``<img>``."""
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


def _image(figure: Figure, said: str) -> str:
    out = io.BytesIO()
    figure.savefig(out, format="png", metadata={"Software": None})
    data = base64.b64encode(out.getvalue()).decode()
    width, height = (round(96 * inches) for inches in figure.get_size_inches())
    size = f'width="{width}" height="{height}"'
    return f'<img src="data:image/png;base64,{data}" {size} alt="{text(said)}">'


# The page that a student gets back: every exercise with its verdict, its failing case, its
# hint.


LONGEST = 3_000  # characters of what a cell printed
_WORDS = {"right": "✓ right", "wrong": "✗ not right", "open": "○ not answered"}
_CONTROL = re.compile(rf"{COLOUR.pattern}|[^\S\n\t ]|[\x00-\x08\x0e-\x1f\x7f-\x9f]")
_NOTE = (
    "The cases were drawn for this class, so they are not those of the check in your notebook. "
    "Every answer was judged by what it gave there."
)


def student_page(student: str, row: Row, notice: str = "") -> str:
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
        f"{histogram(points, most)}\n<h3>Hardest first</h3>\n{hardest(went)}\n"
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
