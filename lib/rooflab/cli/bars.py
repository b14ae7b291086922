"""The waterfall in the terminal: bars of letters that are read without colour as well."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from itertools import zip_longest
from typing import TYPE_CHECKING

from rooflab.cli.terminal import console

if TYPE_CHECKING:
    from rich.text import Text

    from rooflab.show.waterfall_steps import Fall, Step

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

    from rooflab.show.waterfall_steps import BOUND, seconds_of, window

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


def _bar(step: Step, column: Callable[[float], int]) -> dict[int, str]:
    """The letters of a bar by column; its tip points where the step goes."""
    begin, tip = column(step.start), column(step.end)
    if step.kind == "same":
        return {tip: "│"}
    fill = SOLID if step.explained else HATCHED
    across = range(min(begin, tip), max(begin, tip) + 1)
    return dict.fromkeys(across, fill) | {tip: "▶" if step.kind == "slower" else "◀"}
