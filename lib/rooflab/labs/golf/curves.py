"""Byte golf against the clock: ``rl.show.pieces``, the valley of a sweep over sizes of pieces, and
``rl.show.scores``, the time of many programs over their scores.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from matplotlib.axes import Axes

from rooflab.count.si import plain, si
from rooflab.labs.golf.story import sweep as read
from rooflab.show import theme
from rooflab.show.figures import Inset, Page, Panel, Picture, page
from rooflab.show.labels import spots_around
from rooflab.show.rooflines.columns import Column, is_table, rows_of
from rooflab.show.rooflines.machine_choices import listed

MARKERS = ("o", "s", "^", "D", "v")  # of the holes
SIZES: dict[str, Any] = {"high": 0.57, "inset": Inset(96, 24, 56, 30)}  # pixels around the axes
Row: TypeAlias = tuple[str, float, float]


def pieces(
    swept: Any, *, unit: str = "numbers", ax: Axes | None = None, width: float | None = None,
    height: float | None = None,
) -> Picture | Panel:  # fmt: skip
    """Draw a sweep's times over the size of a piece, and the two parts that they are made of.

    The part of the bytes is the best time, and elsewhere as many times that as there are more
    bytes. The part of the calls is a price for each piece, the same one for all, taken from the
    smallest. What is measured above both is neither.

    Parameters
    ----------
    swept : ChunkSweep
        What ``rooflab.labs.golf.sweep`` returned, timed, of two sizes or more.
    unit : str
        What a piece is counted in.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into, where they are. None: a figure of its own.
    width, height : float, optional
        Inches: 3.3 wide for a paper's column, 7 for a post.

    Returns
    -------
    Picture or Panel
        Its ``words`` say what it shows, and ``save(path)`` writes a pdf, svg or png.

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
    chunks, measured = shown.chunks, shown.measured
    if len(measured) < 2:
        raise ValueError("pieces: a timed sweep of two sizes or more is wanted; give rounds=3")
    best = min(range(len(chunks)), key=measured.__getitem__)
    carrying = [measured[best] * s.total / shown.stories[best].total for s in shown.stories]
    rounds = [-(-chunks[-1] // chunk) for chunk in chunks]
    price = max(measured[0] - carrying[0], 0.0) / rounds[0]
    calls = [max(price * many, 1e-12) for many in rounds]
    title = f"A valley: the best piece has {theme.count(chunks[best])} {unit}"
    if best in (0, len(chunks) - 1):
        title = f"Time of each size of piece; best: {theme.count(chunks[best])} {unit}"
    with page(ax, width, height, None, title, **SIZES) as sheet:
        _draw_valley(sheet, chunks, measured, {"bytes": carrying, "calls": calls}, unit)
    lines = ["Time over the size of a piece; the part of the bytes and the part of the calls."]
    for n, three in enumerate(zip(measured, carrying, calls, strict=True)):
        times = "measured {}; bytes {}, calls {}".format(*(si(one, "s") for one in three))
        ring = ", the best" if n == best else ""
        lines.append(f"{theme.count(chunks[n])} {unit}: {times}{ring}.")
    return sheet.done("\n".join(lines))


def scores(
    rows: Any, mine: Any = (), *, ax: Axes | None = None, width: float | None = None,
    height: float | None = None,
) -> Picture | Panel:  # fmt: skip
    """Draw the time of programs over their golf scores, a marker for each hole.

    Parameters
    ----------
    rows, mine : sequence of (str, float, float), or table
        Hole, score and seconds of each program: tuples, a DataFrame or a mapping of columns; and of
        the reader's own functions, in the colour of guesses.
    ax, width, height : optional
        As in :func:`rooflab.show.pieces`.

    Returns
    -------
    Picture or Panel
        Its ``words`` say what it shows, and ``save(path)`` writes a pdf, svg or png.

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
    with page(ax, width, height, None, "Fewer bytes, less time?", **SIZES) as sheet:
        _draw_scores(sheet, shown, own)
    lines = ["Time over the golf score."]
    for whose, programs in (("", shown), ("yours, ", own)):
        lines += [f"{whose}{name}: score {plain(s, 3)}, {si(t, 's')}." for name, s, t in programs]
    return sheet.done("\n".join(lines))


def _draw_scores(sheet: Page, shown: Sequence[Row], own: Sequence[Row]) -> None:
    """Programs as points, a line and a marker for each hole, with the hole's name at an end."""
    ax, every = sheet.ax, [*shown, *own]
    _, ratios, times = zip(*every, strict=True)
    right = max(1.6, 1.15 * max(ratios))
    marks = [mark for mark in (1, 1.5, 2, 3, 4, 5, 6, 10, 20, 50, 100) if mark <= right]
    _axes(ax, "score: bytes ÷ fewest bytes", (0.9, right), marks, lambda v: plain(v, 2), times)
    crowd, names = sheet.crowd(ax), []
    for place, hole in enumerate(dict.fromkeys(name for name, _, _ in every)):
        marker = MARKERS[place % len(MARKERS)]
        there = sorted((s, t) for name, s, t in shown if name == hole)
        mine = [(s, t) for name, s, t in own if name == hole]
        look: Any = {"ms": sheet.points(theme.MARKER), "mec": theme.INK, "marker": marker}
        if there:
            ax.plot(*zip(*there, strict=True), lw=sheet.points(1), color=theme.INK, **look)
            crowd.add_line([crowd.pixel(*at) for at in there])
        for at in mine:
            ax.plot(*at, mfc=theme.colour("mine"), ls="", zorder=4, **look)
        for at in (*there, *mine):
            crowd.add_disc(*crowd.pixel(*at), 8)
        names.append((hole, there[-1:] + there[:1] or mine, theme.INK))
    names += [("yours", [(s, t)], theme.colour("mine-says")) for _, s, t in own]
    for name, places, ink in names:
        ends = [crowd.pixel(*at) for at in places]
        spots = [spot for end in ends for spot in spots_around(*end, 11)]
        crowd.write(name, spots, ends, forced=False, color=ink, fontsize=theme.SMALL)


_COLUMNS = (
    Column("hole", others=("name", "program")),
    Column("score", "bytes ÷ fewest bytes"),
    Column("seconds", "s", ("time", "time_s", "median_s")),
)


def _rows(name: str, given: Any) -> list[Row]:
    if is_table(given):
        return [(r["hole"], r["score"], r["seconds"]) for r in rows_of(name, given, _COLUMNS)]
    rows = [tuple(row) for row in listed(name, given, "(hole, score, seconds)")]
    for row in rows:
        if len(row) != 3 or not all(math.isfinite(v) and v > 0 for v in row[1:]):
            raise ValueError(f"{name}: {row!r} is not (hole, score, seconds), the two above 0")
    return rows


def _axes(
    ax: Axes, across: str, ends: tuple[float, float], marks: Sequence[float],
    say: Callable[[float], str], seconds: Sequence[float], floor: float = 0,
) -> None:  # fmt: skip
    """Log axes: ``across`` from end to end with ``marks``, and times that hold all ``seconds``."""
    low, high = floor or min(seconds) / 1.4, max(seconds) * 1.5
    steps = [m * 10.0**e for e in range(-9, 4) for m in (1, 2, 5) if low <= m * 10.0**e <= high]
    ax.set(xscale="log", yscale="log", xlabel=across, ylabel="time", xlim=ends, ylim=(low, high))
    ax.set_xticks(list(marks), list(map(say, marks)))
    ax.set_yticks(steps, [f"{plain(1e3 * v, 3)} ms" for v in steps])
    ax.minorticks_off()
    ax.grid(color=theme.GRID, lw=0.8)
    ax.set_axisbelow(True)


def _draw_valley(
    sheet: Page, chunks: Sequence[int], measured: Sequence[float],
    parts: dict[str, Sequence[float]], unit: str,
) -> None:  # fmt: skip
    """What was measured, and below it its two parts, each with its name on its line."""
    ax, every = sheet.ax, [*measured, *parts["bytes"]]
    floor, marks = min(every) / 3, chunks[:: -(-len(chunks) // 6)]
    ends = chunks[0] / 1.6, chunks[-1] * 1.6
    _axes(ax, f"{unit} in a piece", ends, marks, lambda v: theme.count(int(v)), every, floor)
    crowd, inks = sheet.crowd(ax), {"bytes": theme.CARRYING, "calls": theme.OVERHEAD}
    ax.fill_between(chunks, parts["bytes"], floor, color=theme.CARRYING, alpha=0.15, lw=0)
    for (name, seconds), style in zip(parts.items(), ("-", "--"), strict=True):
        ax.plot(chunks, seconds, style, color=inks[name], lw=sheet.points(2))
    size, thin = sheet.points(theme.MARKER - 2), sheet.points(1)
    ax.plot(chunks, measured, "o-", color=theme.INK, ms=size, lw=thin)
    best = min(range(len(chunks)), key=measured.__getitem__)
    ring: Any = {"mec": theme.INK, "mew": sheet.points(1.5), "ms": sheet.points(17)}
    ax.plot(chunks[best], measured[best], "o", mfc="none", **ring)
    lines = {
        name: [crowd.pixel(*at) for at in zip(chunks, seconds, strict=True) if at[1] > floor]
        for name, seconds in (parts | {"measured": measured}).items()
    }
    for line in lines.values():
        crowd.add_line(line)
    tops = lines.pop("measured")
    for number, at in enumerate(tops):
        crowd.add_disc(*at, 13 if number == best else 6)
    spots = spots_around(*tops[best], 17)
    crowd.write(f"best: {si(measured[best], 's')}", spots, [tops[best]], fontsize=theme.FONT)
    for name, line in lines.items():
        spots = [spot for end in reversed(line) for spot in spots_around(*end, 10)]
        look: Any = {"color": inks[name], "fontsize": theme.FONT, "weight": "bold"}
        crowd.write(name, spots, line, forced=False, **look)
