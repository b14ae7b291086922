"""The static waterfall: ``rl.show.waterfall(measurement)``, from the bound to the measured time."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.patches import Rectangle

from rooflab.count.operation import Operation
from rooflab.measure.explained import explain as explain_here
from rooflab.predict.explain import Explanation
from rooflab.predict.machine import Machine
from rooflab.show import theme
from rooflab.show.axes import DPI
from rooflab.show.drawing import Picture
from rooflab.show.waterfall_steps import (
    BOUND,
    KEY,
    RULE,
    Fall,
    Step,
    of_explanation,
    seconds_of,
    ticks,
    window,
)

NAMES, TIMES = 282, 92  # pixels for the names and notes on the left, the times on the right
LINE, BAR = 19, 24  # pixels of a line of text, of a bar's height
SLOWER, FASTER, SAME = "#7B3294", "#00713A", theme.CEILING  # told apart by every kind of eye
WITH_RULE = 740  # pixels of the narrowest picture whose key has room for the rule
TICK = 64  # pixels at least between two ticks
LEAST = 3  # pixels of the shortest bar, so that ×1 is seen to be a step


def waterfall(
    measured: object,
    machine: Machine | str | None = None,
    seconds: float | None = None,
    *,
    cache: str | None = None,
    width: int = 760,
) -> Picture:
    """Draw where a measured time went: a bar a factor, from the roofline's bound to the time.

    ``measured``: a Measurement, an Explanation, or an Operation that took ``seconds`` on
    ``machine``; the arguments are those of ``rl.explain``. ``width`` in pixels at 100 dpi, at
    least 560. The axis is logarithmic, so equal factors have equal lengths. Raises TypeError or
    ValueError naming the argument.
    """
    if isinstance(width, bool) or not isinstance(width, int):
        raise TypeError(f"width={width!r} must be a whole number of pixels")
    if not 560 <= width <= 4000:
        raise ValueError(f"width={width} must be 560 to 4000 pixels")
    if isinstance(measured, Explanation):
        given = {"machine": machine, "seconds": seconds, "cache": cache}
        for name, value in given.items():
            if value is not None:
                raise TypeError(f"{name}={value!r}: an Explanation already has its own")
        return draw(of_explanation(measured), width)
    if not isinstance(getattr(measured, "op", measured), Operation):
        raise TypeError(
            f"measured={measured!r} is a {type(measured).__name__}; "
            "give a Measurement, an Explanation, or an Operation with machine= and seconds="
        )
    return draw(of_explanation(explain_here(measured, machine, seconds, cache=cache)), width)


@dataclass(frozen=True)
class Lane:
    """The part of the picture that holds the bars: decades to pixels."""

    x0: float
    x1: float
    lo: float
    hi: float

    def x(self, place: float) -> float:
        """Pixels from the left edge for ``place`` (log10 of seconds)."""
        return self.x0 + (place - self.lo) / (self.hi - self.lo) * (self.x1 - self.x0)

    @property
    def decade(self) -> float:
        """Pixels of a factor of ten."""
        return (self.x1 - self.x0) / (self.hi - self.lo)


def lane_of(fall: Fall, width: int = 760) -> Lane:
    """The lane of a picture ``width`` pixels wide."""
    return Lane(NAMES, width - TIMES, *window(fall.places, 0.06))


def bar_of(step: Step, lane: Lane) -> tuple[float, float]:
    """Left and right edge of a bar in pixels."""
    left, right = sorted((lane.x(step.start), lane.x(step.end)))
    return left, right


@dataclass(frozen=True)
class _Page:
    """An axes in pixels, y downwards."""

    ax: Axes

    def text(self, x: float, y: float, text: str, **look: object) -> None:
        self.ax.text(x, y, text, **{"va": "center", "fontsize": theme.SMALL, **look})


def draw(fall: Fall, width: int = 760) -> Picture:
    """Draw ``fall`` as a figure ``width`` pixels wide, as high as it needs; ``words`` say it."""
    said = textwrap.wrap(fall.sentence, int((width - 16) / 9.1))
    notes = [_wrapped(note) for note in (fall.note, *(step.note for step in fall.steps))]
    heights = [max(2, 1 + len(lines)) * LINE + 12 for lines in notes] + [LINE + 14]
    top = 10 + LINE * len(said) + 6 + LINE + 10
    height = top + sum(heights if fall.reached else heights[:-1]) + 46
    with rc_context(theme.RC):
        figure = Picture((width / DPI, height / DPI), dpi=DPI)
        FigureCanvasAgg(figure)
        ax = figure.add_axes((0, 0, 1, 1))
        ax.set(xlim=(0, width), ylim=(height, 0))
        ax.axis("off")
        page, lane = _Page(ax), lane_of(fall, width)
        for number, line in enumerate(said):
            page.text(8, 10 + LINE * (number + 0.5), line, fontsize=theme.FONT)
        _key(page, top - 10 - LINE / 2)
        _axis(page, fall, lane, top, height - 46)
        _rows(page, fall, lane, notes, top, heights)
    figure.words = fall.words
    return figure


def _wrapped(note: str) -> list[str]:
    return textwrap.wrap(note, 33)


def _key(page: _Page, y: float) -> None:
    x = 8.0
    for kind, word in KEY.items():
        colour = {"slower": SLOWER, "faster": FASTER}.get(kind, SLOWER)
        page.ax.add_patch(Rectangle((x, y - 7), 22, 14, **_look(colour, kind != "rest")))
        page.text(x + 28, y, word)
        x += 28 + 9 * len(word) + 16
    if page.ax.get_xlim()[1] >= WITH_RULE:
        page.text(x, y, RULE, color="#555555")


def _axis(page: _Page, fall: Fall, lane: Lane, top: float, bottom: float) -> None:
    for at, label in ticks(lane.lo - fall.start, lane.hi - fall.start, (lane.x1 - lane.x0) / TICK):
        x = lane.x(fall.start + at)
        bound = at == 0
        page.ax.plot([x, x], [top, bottom], lw=1.6 if bound else 0.9, zorder=0,
                     color=theme.INK if bound else theme.GRID)  # fmt: skip
        page.text(x, bottom + 12, label, ha="center", weight="bold" if bound else "normal")
    page.text(
        (lane.x0 + lane.x1) / 2, bottom + 33, "times the bound (equal factors, equal lengths)",
        ha="center", color="#555555",
    )  # fmt: skip


def _rows(
    page: _Page,
    fall: Fall,
    lane: Lane,
    notes: Sequence[Sequence[str]],
    top: float,
    heights: Sequence[float],
) -> None:
    right = page.ax.get_xlim()[1] - 8
    y, middle = top, top + heights[0] / 2
    _name(page, BOUND, notes[0], y)
    _stop(page, lane.x(fall.start), middle)
    page.text(right, top + 6 + LINE / 2, "time so far", ha="right", color="#555555")
    page.text(right, max(middle, top + 6 + LINE * 1.5), seconds_of(fall.start), ha="right")
    for step, lines, above, own in zip(fall.steps, notes[1:], heights, heights[1:]):
        y += above
        _name(page, step.name, lines, y)
        x = lane.x(step.start)
        page.ax.plot([x, x], [middle, y + own / 2], color="#777777", lw=1.1, zorder=1)
        middle = y + own / 2
        _bar(page, step, lane, middle)
        page.text(right, middle, step.seconds, ha="right")
    if fall.reached:
        y += heights[len(fall.steps)]
        x, last = lane.x(fall.end), y + heights[-1] / 2
        page.ax.plot([x, x], [middle, last], color="#777777", lw=1.1, zorder=1)
        _name(page, f"{fall.reached}: {fall.total} the bound", (), y)
        _stop(page, x, last, filled=fall.reached == "measured")
        page.text(right, last, seconds_of(fall.end), ha="right", weight="bold")


def _name(page: _Page, name: str, lines: Sequence[str], y: float) -> None:
    page.ax.plot([8, page.ax.get_xlim()[1] - 8], [y, y], color=theme.GRID, lw=0.9, zorder=0)
    page.text(8, y + 6 + LINE / 2, name, weight="bold", fontsize=theme.FONT)
    for number, line in enumerate(lines, 1):
        page.text(8, y + 6 + LINE * (number + 0.5), line, color="#555555")


def _stop(page: _Page, x: float, y: float, filled: bool = True) -> None:
    page.ax.plot([x], [y], "D", ms=9, mfc=theme.INK if filled else theme.PAPER, mec=theme.INK,
                 mew=1.8, zorder=4)  # fmt: skip


def _look(colour: str, solid: bool) -> dict[str, object]:
    look = {"facecolor": colour if solid else theme.PAPER, "edgecolor": colour, "lw": 1.4}
    return look if solid else {**look, "hatch": "////"}


def _bar(page: _Page, step: Step, lane: Lane, y: float) -> None:
    colour = {"slower": SLOWER, "faster": FASTER, "same": SAME}[step.kind]
    left, right = bar_of(step, lane)
    wide = max(right - left, LEAST)
    middle = (left + right) / 2
    page.ax.add_patch(
        Rectangle((middle - wide / 2, y - BAR / 2), wide, BAR, zorder=3,
                  **_look(colour, step.explained))
    )  # fmt: skip
    x, align, inside = _label_place(left, right, 10.5 * len(step.factor), lane, step.kind)
    back = (
        {"fc": theme.PAPER, "ec": "none", "pad": 1.5} if not inside or not step.explained else None
    )
    page.text(x, y, step.factor, ha=align, weight="bold", fontsize=theme.FONT, zorder=5, bbox=back,
              color=theme.PAPER if inside and step.explained else colour)  # fmt: skip


def _label_place(
    left: float, right: float, need: float, lane: Lane, kind: str
) -> tuple[float, str, bool]:
    """Where a bar's ×k stands: beyond its tip, else at its other end, else on it."""
    after, before = (right + 8, "left", False), (left - 8, "right", False)
    fits = {True: right + 8 + need <= lane.x1 + 6, False: left - 8 - need >= lane.x0 - 6}
    first, second = (after, before) if kind != "faster" else (before, after)
    for place, free in ((first, fits[first is after]), (second, fits[second is after])):
        if free:
            return place
    return (left + right) / 2, "center", True
