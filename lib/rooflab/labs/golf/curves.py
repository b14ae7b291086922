"""Byte golf against the clock: ``rl.show.pieces``, the valley of a sweep over sizes of pieces, and
``rl.show.scores``, the time of many programs over their scores.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from rooflab.count.si import plain, si
from rooflab.labs.golf.story import ChunkStories
from rooflab.labs.golf.story import sweep as read
from rooflab.show import theme
from rooflab.show.figures import Inset, Page, Panel, Picture, page
from rooflab.show.labels import spots_around
from rooflab.show.rooflines.columns import Column, is_table, rows_of
from rooflab.show.rooflines.machine_choices import listed

MARKERS = ("o", "s", "^", "D", "v")  # of the holes
HIGH, INSET = 0.57, Inset(96, 24, 56, 30)  # height by width; pixels around the axes
Row: TypeAlias = tuple[str, float, float]
Look: TypeAlias = dict[str, Any]


def pieces(
    swept: Any, *, unit: str = "numbers", ax: Axes | None = None, width: float | None = None,
    height: float | None = None,
) -> Picture | Panel:  # fmt: skip
    """Draw a sweep's times over the size of a piece, and the two parts that they are made of.

    Parameters
    ----------
    swept : ChunkSweep
        What ``rooflab.labs.golf.sweep`` returned, timed, of two sizes or more.
    unit : str
        What a piece is counted in.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into, where they are. None: a figure of its own.
    width : float, optional
        Inches: 3.3 for a paper's column, 7 for a post, 7.6 by default.
    height : float, optional
        Inches; None: as high as suits the width.

    Returns
    -------
    Picture or Panel
        A figure, or what was drawn into ``ax``. Its ``words`` say what it shows, and ``save(path)``
        writes a pdf, svg or png.

    Notes
    -----
    The part of the bytes is the best time, and elsewhere as many times that as there are more
    bytes. The part of the calls is a price for each piece, the same one for all, taken from the
    smallest. What is measured above both is neither.

    Examples
    --------
    >>> import dataclasses
    >>> import numpy as np
    >>> from rooflab.labs.golf import sweep
    >>> def doubled(x, chunk):
    ...     for start in range(0, len(x), chunk):
    ...         x[start : start + chunk] *= 2
    >>> counted = sweep(doubled, np.ones(1 << 17), chunks=[1 << 10, 1 << 17], rounds=0)
    >>> swept = dataclasses.replace(counted, seconds=(3e-4, 2e-4))  # as if it had been timed
    >>> print(rl.show.pieces(swept).words.splitlines()[1])
    1024 numbers: measured 300 µs; bytes 200 µs, calls 100 µs.
    """
    shown = read(swept)
    if len(shown.measured) < 2:
        raise ValueError("pieces: a timed sweep of two sizes or more is wanted; give rounds=3")
    best = min(range(len(shown.chunks)), key=shown.measured.__getitem__)
    shown = replace(shown, expected=_bytes(shown, best))
    calls = _calls(shown)
    title = _valley_title(shown, best, unit)
    with page(ax, width, height, None, title, high=HIGH, inset=INSET) as sheet:
        _draw_valley(sheet, shown, calls, best, unit)
    return sheet.done(_valley_words(shown, calls, best, unit))


def scores(
    rows: Any, mine: Any = (), *, ax: Axes | None = None, width: float | None = None,
    height: float | None = None,
) -> Picture | Panel:  # fmt: skip
    """Draw the time of programs over their golf scores, a marker for each hole.

    Parameters
    ----------
    rows : sequence of (str, float, float), or table
        Hole, score and seconds of each program: tuples, a DataFrame or a mapping of columns.
    mine : sequence of (str, float, float), or table
        The same of the reader's own functions, in the colour of guesses; by default none.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into, where they are. None: a figure of its own.
    width : float, optional
        Inches: 3.3 for a paper's column, 7 for a post, 7.6 by default.
    height : float, optional
        Inches; None: as high as suits the width.

    Returns
    -------
    Picture or Panel
        A figure, or what was drawn into ``ax``. Its ``words`` say what it shows, and ``save(path)``
        writes a pdf, svg or png.

    Examples
    --------
    >>> rows = [("axpy", 1.67, 2.0e-3), ("axpy", 1.0, 1.2e-3)]
    >>> print(rl.show.scores(rows, mine=[("axpy", 1.2, 1.5e-3)]).words)
    Time over the golf score.
    axpy: score 1.67, 2.00 ms.
    axpy: score 1, 1.20 ms.
    yours, axpy: score 1.2, 1.50 ms.
    """
    shown, own = _rows("rows", rows), _rows("mine", mine)
    if not shown:
        raise ValueError("rows is empty; give (hole, score, seconds) of each program")
    with page(ax, width, height, None, "Fewer bytes, less time?", high=HIGH, inset=INSET) as sheet:
        _draw_scores(sheet, shown, own)
    return sheet.done(_score_words(shown, own))


def _draw_scores(sheet: Page, shown: Sequence[Row], own: Sequence[Row]) -> None:
    """Programs as points, a line and a marker for each hole, with the hole's name at an end."""
    ax, every = sheet.ax, [*shown, *own]
    _axes(ax, "score: bytes ÷ fewest bytes")
    right = max(1.6, 1.15 * max(score for _, score, _ in every))
    ax.set_xlim(0.9, right)
    marks = [mark for mark in (1, 1.5, 2, 3, 4, 5, 6, 10, 20, 50, 100) if mark <= right]
    _ticks(ax.xaxis, marks, lambda v: plain(v, 2))
    _seconds(ax, [seconds for _, _, seconds in every])
    crowd, names = sheet.crowd(ax), []
    for place, hole in enumerate(dict.fromkeys(name for name, _, _ in every)):
        marker = MARKERS[place % len(MARKERS)]
        there = sorted((s, t) for name, s, t in shown if name == hole)
        mine = [(s, t) for name, s, t in own if name == hole]
        look: Look = {"ms": sheet.points(theme.MARKER), "mec": theme.INK, "marker": marker}
        if there:
            ax.plot(*zip(*there, strict=True), lw=sheet.points(1), color=theme.INK, **look)
            crowd.add_line([crowd.pixel(*at) for at in there])
        for at in mine:
            ax.plot(*at, mfc=theme.colour("mine"), ls="", zorder=4, **look)
        for at in (*there, *mine):
            crowd.add_disc(*crowd.pixel(*at), 8)
        names.append((hole, there, mine))
    for hole, there, mine in names:
        ends = [crowd.pixel(*at) for at in (there[-1:] + there[:1]) or mine]
        spots = [spot for end in ends for spot in spots_around(*end, 11)]
        crowd.write(hole, spots, ends, forced=False, fontsize=theme.SMALL)
    for _, _, mine in names:
        for end in (crowd.pixel(*at) for at in mine):
            look = {"color": theme.colour("mine-says"), "fontsize": theme.SMALL}
            crowd.write("yours", spots_around(*end, 11), [end], forced=False, **look)


_COLUMNS = (
    Column("hole", others=("name", "program")),
    Column("score", "bytes ÷ fewest bytes"),
    Column("seconds", "s", ("time", "time_s", "median_s")),
)


def _rows(name: str, given: Any) -> list[Row]:
    if is_table(given):
        found = rows_of(name, given, _COLUMNS)
        return [(row["hole"], row["score"], row["seconds"]) for row in found]
    rows = [tuple(row) for row in listed(name, given, "(hole, score, seconds)")]
    for row in rows:
        if len(row) != 3 or not all(math.isfinite(v) and v > 0 for v in row[1:]):
            raise ValueError(f"{name}: {row!r} is not (hole, score, seconds), the two above 0")
    return rows


def _axes(ax: Axes, across: str) -> None:
    ax.set(xscale="log", yscale="log", xlabel=across, ylabel="time")
    ax.grid(True, which="major", color=theme.GRID, lw=0.8)
    ax.set_axisbelow(True)


def _bytes(shown: ChunkStories, best: int) -> tuple[float, ...]:
    """Seconds of the bytes at every size, at the rate of the best one."""
    rate = shown.stories[best].total / shown.measured[best]
    return tuple(story.total / rate for story in shown.stories)


def _calls(shown: ChunkStories) -> list[float]:
    """Seconds of the calls at every size: a price for each piece, from the smallest size."""
    rounds = [-(-shown.chunks[-1] // chunk) for chunk in shown.chunks]
    price = max(shown.measured[0] - shown.expected[0], 0.0) / rounds[0]
    return [max(price * many, 1e-12) for many in rounds]


def _floor(shown: ChunkStories) -> float:
    return min(*shown.measured, *shown.expected) / 3


def _scale(ax: Axes, shown: ChunkStories) -> None:
    low, high = shown.chunks[0], shown.chunks[-1]
    ax.set_xlim(low / 1.6, high * 1.6)
    _ticks(ax.xaxis, shown.chunks[:: -(-len(shown.chunks) // 6)], lambda v: theme.count(int(v)))
    _seconds(ax, [*shown.measured, *shown.expected], _floor(shown))


def _seconds(ax: Axes, values: Sequence[float], floor: float | None = None) -> None:
    low, high = floor or min(values) / 1.4, max(values) * 1.5
    steps = [m * 10.0**e for e in range(-9, 4) for m in (1, 2, 5) if low <= m * 10.0**e <= high]
    _ticks(ax.yaxis, steps, lambda v: f"{plain(1e3 * v, 3)} ms")
    ax.set_ylim(low, high)


def _ticks(axis: Any, places: Sequence[float], say: Any) -> None:
    axis.set_major_locator(FixedLocator(list(places)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: say(value)))


def _draw_valley(
    sheet: Page, shown: ChunkStories, calls: Sequence[float], best: int, unit: str
) -> None:
    """What was measured, and below it its two parts, each with its name on its line."""
    ax, chunks = sheet.ax, shown.chunks
    _axes(ax, f"{unit} in a piece")
    _scale(ax, shown)
    crowd, thick = sheet.crowd(ax), sheet.points(2)
    ax.fill_between(chunks, shown.expected, _floor(shown), color=theme.CARRYING, alpha=0.15, lw=0)
    ax.plot(chunks, shown.expected, color=theme.CARRYING, lw=thick)
    ax.plot(chunks, calls, color=theme.OVERHEAD, lw=thick, ls="--")
    look: Look = {"ms": sheet.points(theme.MARKER - 2), "lw": sheet.points(1)}
    ax.plot(chunks, shown.measured, "o-", color=theme.INK, **look)
    ring: Look = {"mec": theme.INK, "mew": sheet.points(1.5), "ms": sheet.points(17)}
    ax.plot(chunks[best], shown.measured[best], "o", mfc="none", **ring)
    visible = [(x, y) for x, y in zip(chunks, calls, strict=True) if y > _floor(shown)]
    parts = (list(zip(chunks, shown.expected, strict=True)), visible)
    lines = [[crowd.pixel(*at) for at in line] for line in parts]
    tops = [crowd.pixel(*at) for at in zip(chunks, shown.measured, strict=True)]
    for line in (*lines, tops):
        crowd.add_line(line)
    for number, at in enumerate(tops):
        crowd.add_disc(*at, 13 if number == best else 6)
    said = f"best: {si(shown.measured[best], 's')}"
    crowd.write(said, spots_around(*tops[best], 17), [tops[best]], fontsize=theme.FONT)
    inks = (theme.CARRYING, theme.OVERHEAD)
    for name, line, ink in zip(("bytes", "calls"), lines, inks, strict=True):
        spots = [spot for end in reversed(line) for spot in spots_around(*end, 10)]
        crowd.write(name, spots, line, forced=False, color=ink, fontsize=theme.FONT, weight="bold")


def _valley_title(shown: ChunkStories, best: int, unit: str) -> str:
    if best in (0, len(shown.chunks) - 1):
        return f"Time of each size of piece; best: {theme.count(shown.chunks[best])} {unit}"
    return f"A valley: the best piece has {theme.count(shown.chunks[best])} {unit}"


def _valley_words(shown: ChunkStories, calls: Sequence[float], best: int, unit: str) -> str:
    lines = ["Time over the size of a piece; the part of the bytes and the part of the calls."]
    for at, chunk in enumerate(shown.chunks):
        measured, counted = shown.says(at)
        ring = ", the best" if at == best else ""
        lines.append(
            f"{theme.count(chunk)} {unit}: measured {measured}; bytes {counted}, calls "
            f"{si(calls[at], 's')}{ring}."
        )
    return "\n".join(lines)


def _score_words(shown: Sequence[Row], own: Sequence[Row]) -> str:
    lines = ["Time over the golf score."]
    for whose, rows in (("", shown), ("yours, ", own)):
        lines += [f"{whose}{hole}: score {plain(s, 3)}, {si(t, 's')}." for hole, s, t in rows]
    return "\n".join(lines)
