"""How the terminal speaks: one-line errors, tables of 80 columns, letters that it can print."""

from __future__ import annotations

import codecs
import json
import math
import re
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterable, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from typer.core import TyperGroup

from rooflab.optional import installed

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console
    from rich.text import Text

    from rooflab.labs.memory.mountain import Mountain
    from rooflab.labs.search.schedules.result import Search
    from rooflab.show.falls import Fall, WaterfallStep

WIDTH = 80  # columns where the terminal does not say
WRONG = 2  # exit code of every error: a wrong option and a wrong value are the same to a caller
_PLAIN = {
    "µ": "u", "μ": "u", "×": "x", "·": ".", "–": "-", "—": "-", "…": "...", "→": "->", "≥": ">=",
    "≤": "<=", "β": "beta", "α": "alpha", "³": "^3", "²": "^2",
    "█": "#", "▒": "/", "▶": ">", "◀": "<", "│": "|", "◆": "*",
}  # fmt: skip


class Terminal(TyperGroup):
    """A group of commands whose every error is one line on stderr, never a traceback."""

    def main(self, *args: Any, **options: Any) -> Any:
        """Run a command; leave with 0, or with 2 after an error (130 after Ctrl-C)."""
        options["standalone_mode"] = False
        if not (sys.argv[1:] if options.get("args") is None else options["args"]):
            options["args"] = ["--help"]
        try:
            with warnings.catch_warnings():
                # As one line too: a library's place in a file means nothing to a reader.
                warnings.showwarning = lambda message, *_, **__: complain(str(message))
                with installed("This command"):
                    code = super().main(*args, **options)
        except KeyboardInterrupt:
            code = 130
        except Exception as error:
            print(f"rooflab: {one_line(error)}", file=sys.stderr)
            code = WRONG
        sys.exit(code if isinstance(code, int) else 0)


def one_line(error: Exception) -> str:
    """Return the message of ``error`` on one line, as the parser words it if it is the parser's."""
    parser_says = getattr(error, "format_message", None)
    text = parser_says() if parser_says else str(error)
    if isinstance(error, MemoryError) and not text:
        text = "not enough memory"
    ours = (ValueError, TypeError, RuntimeError, MemoryError, ModuleNotFoundError)
    expected = parser_says or isinstance(error, ours)
    # A file that cannot be written says so itself; anything stranger also says what it is.
    kind = "" if expected else f"{type(error).__name__}: "
    return kind + (" ".join(text.split()) or type(error).__name__)


def console() -> Console:
    """A console on stdout: no colour codes in a pipe, ASCII lines where the encoding needs them."""
    from rich.console import Console

    out = Console(highlight=False, emoji=False, markup=False, legacy_windows=False)
    if out.width < 1:  # COLUMNS=0, as some containers and editors set it, would print nothing
        out.width = WIDTH
    return out


def say(*texts: str) -> None:
    """Print paragraphs, wrapped to the terminal's width; a word, or a path, is never broken."""
    out = console()
    for text in texts:
        lines = textwrap.fill(text, out.width, break_long_words=False, break_on_hyphens=False)
        out.print(lines, soft_wrap=True)


def keep_json(found: Search | Mountain, path: Path) -> None:
    """Write a result to the file of ``--json``; where that fails, complain and go on."""
    from rooflab.measure.store import replace_file

    try:
        replace_file(path, json.dumps(found.to_dict()))
    except OSError as error:
        complain(f"--json={str(path)!r} cannot be written ({error.strerror})")


def complain(text: str) -> None:
    """Print a warning on stderr, which keeps piped tables clean."""
    print(f"rooflab: {' '.join(text.split())}", file=sys.stderr)


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Iterable[int] = (),
    keep: Iterable[int] = (0,),
) -> None:
    """Print a table. ``right``: columns of numbers; ``keep``: columns that never wrap.

    Where the terminal is too narrow for them, its lines are longer than it: a number that is cut
    short is a wrong number.
    """
    from rich import box
    from rich.cells import cell_len
    from rich.measure import Measurement
    from rich.table import Table

    rows, right, keep = list(rows), set(right), set(keep)
    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for number, heading in enumerate(columns):
        whole = number in keep or number in right
        grid.add_column(
            heading,
            justify="right" if number in right else "left",
            no_wrap=whole,
            min_width=max(cell_len(row[number]) for row in [columns, *rows]) if whole else None,
            overflow="fold",
        )
    for row in rows:
        grid.add_row(*row)
    out = console()
    roomy = out.options.update(width=10_000)
    out.width = max(out.width, Measurement.get(out, roomy, grid).minimum)
    out.print(grid)


def plain_letters_where_needed() -> None:
    """Let stdout and stderr replace letters that their encoding lacks ("µs" becomes "us").

    A Windows console or a C locale would otherwise end a table in a UnicodeEncodeError.
    """
    codecs.register_error("rooflab", _plain)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="rooflab")


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    hard = error.object[error.start : error.end]
    return "".join(_PLAIN.get(letter, "?") for letter in hard), error.end


# Both letters that keyboards and papers use for micro: U+00B5 and the Greek U+03BC.
_UNITS = {"": 1.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ns": 1e-9}
_TIME = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([a-zA-Zµμ]*)")


def seconds(text: str, option: str = "--time", *, zero: bool = False) -> float:
    """Return ``text`` in seconds, more than 0 unless ``zero``; ValueError naming the ``option``."""
    found = _TIME.fullmatch(text.strip())
    unit = found.group(2) if found else ""
    if found is None or unit.lower() not in _UNITS or unit == "MS":
        raise ValueError(
            f"{option}={text!r} is not a time; write 31us, 31µs, 1.2ms, 3s, or seconds as 31e-6"
        )
    value = float(found.group(1)) * _UNITS[unit.lower()]
    if not 0 <= value < math.inf or (value == 0 and not zero):
        right = "zero or more, and finite" if zero else "more than zero and finite"
        raise ValueError(f"{option}={text!r} must be {right}")
    return value


def doubt(text: str, expected: float) -> str:
    """What to ask about a time without a unit that is far from ``expected`` seconds; "" if nothing.

    "31" is 31 seconds, which nobody means who timed a call of 40 µs. An expectation of 0 seconds
    says nothing.
    """
    found = _TIME.fullmatch(text.strip())
    if found is None or found.group(2):
        return ""
    value = float(found.group(1))
    if not value > _ABSURD * expected > 0:
        return ""
    unit = min(("ms", "us", "ns"), key=lambda u: abs(math.log(value * _UNITS[u] / expected)))
    number = found.group(1)
    return f"{number} without a unit is {number} seconds; write {number}{unit} if you meant that"


_ABSURD = 1e3  # times the bound: hardly any program that is timed is that slow

# The waterfall in the terminal: bars of letters that are read without colour as well.


NAME, TIME, FACTOR = 19, 9, 9  # columns of the step's name, the time so far, its factor
WIDEST = 110  # columns: longer bars say no more
SOLID, HATCHED = "█", "▒"
COLOURS = {"slower": "magenta", "faster": "green", "same": "default"}
KEY = "▶ longer   ◀ shorter   ▒ unexplained   │ the bound   ◆ {reached}"


def waterfall(fall: Fall, *, notes: bool = True, key: bool = True) -> None:
    """Print ``fall`` as wide as the terminal, 80 columns in a pipe.

    ``notes``: below each bar stands why; ``key``: below all of them what the letters mean.
    """
    from rich.text import Text

    out = console()
    out.width = max(out.width, NAME + TIME + FACTOR)  # bars may be cut, numbers may not
    width = min(out.width, WIDEST)
    why = [fall.note, *(step.note for step in fall.steps), ""] if notes else []
    out.print()
    for row, note in zip_longest(rows(fall, max(12, width - NAME - TIME - FACTOR - 2)), why):
        out.print(row, no_wrap=True, crop=True)
        for line in textwrap.wrap(note or "", width - 3):
            out.print(Text(f"  {line}", style="dim"))
    if key:
        said = textwrap.fill(KEY.format(reached=fall.reached), width - 1)
        out.print(Text(f"\n{said}", style="dim"))
    out.print()


def rows(fall: Fall, columns: int) -> list[Text]:
    """The lines of the picture, the bars on ``columns`` columns of one log axis."""
    from rich.text import Text

    from rooflab.show.falls import BOUND, seconds_of, window

    lo, hi = window(fall.places, 0.04)

    def column(place: float) -> int:
        return round((place - lo) / (hi - lo) * (columns - 1))

    zero = column(fall.start)

    def line(name: str, time: str, factor: str, drawn: dict[int, str], style: str = "") -> Text:
        cells = [drawn.get(at, "│" if at == zero else " ") for at in range(columns)]
        text = Text(f"{name:<{NAME}}{time:>{TIME}}{factor:>{FACTOR}}  ")
        bar = Text("".join(cells).rstrip())
        for at in drawn:
            bar.stylize(style, at, at + 1)
        return text.append_text(bar)

    found = [line(BOUND, seconds_of(fall.start), "", {})]
    for step in fall.steps:
        found.append(line(step.name, step.seconds, step.factor, _bar(step, column),
                          COLOURS[step.kind]))  # fmt: skip
    end = {column(fall.end): "◆"}
    return [*found, line(fall.reached, seconds_of(fall.end), fall.total, end, "bold")]


def _bar(step: WaterfallStep, column: Callable[[float], int]) -> dict[int, str]:
    """The letters of a bar by column; its tip points where the step goes."""
    begin, tip = column(step.start), column(step.end)
    if step.kind == "same":
        return {tip: "│"}
    fill = SOLID if step.explained else HATCHED
    across = range(min(begin, tip), max(begin, tip) + 1)
    return dict.fromkeys(across, fill) | {tip: "▶" if step.kind == "slower" else "◀"}
