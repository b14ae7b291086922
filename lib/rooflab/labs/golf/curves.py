"""Byte golf against the clock: ``rl.show.pieces``, the valley of a sweep over sizes of pieces, and
``rl.show.scores``, the time of many programs over their scores.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from rooflab.count.si import plain, si
from rooflab.labs.golf.story import ChunkStories
from rooflab.labs.golf.story import sweep as read
from rooflab.show import theme
from rooflab.show.canvas import DPI
from rooflab.show.figures import Picture
from rooflab.show.machine_choices import listed

_BYTES, _CALLS = theme.FACES["C"], "#CC79A7"
_HOLES = (("#0072B2", "o"), ("#D55E00", "s"), ("#882255", "^"), ("#007D5C", "D"), ("#CC79A7", "v"))
_MINE = "#E69F00"
Row = tuple[str, float, float]


def pieces(swept: Any, *, unit: str = "numbers", width: int = 760, height: int = 430) -> Picture:
    """Draw a sweep's times over the size of a piece, and the two parts that they are made of.

    Parameters
    ----------
    swept : ChunkSweep
        What ``rooflab.labs.golf.sweep`` returned, timed, of two sizes or more.
    unit : str
        What a piece is counted in.
    width : int
        Pixels at 100 dpi.
    height : int
        Pixels at 100 dpi.

    Returns
    -------
    Picture
        A figure whose ``words`` say what it shows.

    Raises
    ------
    TypeError
        For something that is no sweep.
    ValueError
        For a sweep that was not timed.

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
    shown = replace(shown, counted=_bytes(shown, best))
    calls = _calls(shown)
    figure, ax = _page(width, height)
    ax.set(xscale="log", yscale="log", xlabel=f"{unit} in a piece", ylabel="time")
    ax.fill_between(shown.chunks, shown.counted, _floor(shown), color=_BYTES, alpha=0.18, lw=0)
    ax.plot(shown.chunks, shown.counted, color=_BYTES, lw=2)
    ax.plot(shown.chunks, calls, color=_CALLS, lw=2, ls="--")
    ax.plot(shown.chunks, shown.measured, "o-", color=theme.INK, ms=theme.MARKER - 2, lw=1)
    ax.plot(shown.chunks[best], shown.measured[best], "o", mfc="none", mec=_MINE, mew=2.5, ms=17)
    _label_valley(ax, shown, calls, best)
    _scale(ax, shown)
    figure.text(64 / width, 1 - 10 / height, _valley_title(shown, best, unit), va="top",
                fontsize=theme.FONT + 1, weight="bold")  # fmt: skip
    figure.words = _valley_words(shown, calls, best, unit)
    return figure


def scores(
    rows: Sequence[Row], mine: Sequence[Row] = (), *, width: int = 760, height: int = 430
) -> Picture:
    """Draw the time of programs over their golf scores, a colour for each hole.

    Parameters
    ----------
    rows : sequence of (str, float, float)
        Hole, score and seconds of each program.
    mine : sequence of (str, float, float)
        The same of the reader's own functions, drawn as rings; by default none.
    width : int
        Pixels at 100 dpi.
    height : int
        Pixels at 100 dpi.

    Returns
    -------
    Picture
        A figure whose ``words`` say what it shows.

    Raises
    ------
    ValueError
        Where there is nothing to draw or a number is not positive.

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
    figure, ax = _page(width, height)
    ax.set(xscale="log", yscale="log", xlabel="score: bytes ÷ fewest bytes", ylabel="time")
    holes = list(dict.fromkeys(name for name, _, _ in (*shown, *own)))
    for place, hole in enumerate(holes):
        colour, marker = _HOLES[place % len(_HOLES)]
        there = sorted((s, t) for name, s, t in shown if name == hole)
        look = {"color": colour, "marker": marker, "ms": theme.MARKER, "lw": 1, "alpha": 0.9}
        ax.plot(*zip(*there, strict=True), label=hole, **look) if there else None
        for name, score, seconds in own:
            if name == hole:
                ax.plot(score, seconds, marker, color=colour, mec=_MINE, mew=3, ms=15)
    if own:
        ax.plot([], [], "o", mfc="none", mec=_MINE, mew=3, ms=12, ls="none", label="yours")
    every = [*shown, *own]
    _ticks(ax.xaxis, [1, 1.5, 2, 3, 4, 5, 6], lambda v: plain(v, 2))
    ax.set_xlim(0.9, max(1.6, 1.15 * max(score for _, score, _ in every)))
    _seconds(ax, [seconds for _, _, seconds in every])
    ax.legend(frameon=False, loc="upper left", fontsize=theme.FONT)
    figure.text(64 / width, 1 - 10 / height, "Fewer bytes, less time?", va="top",
                fontsize=theme.FONT + 1, weight="bold")  # fmt: skip
    figure.words = _score_words(shown, own)
    return figure


def _page(width: int, height: int) -> tuple[Picture, Axes]:
    with rc_context(theme.RC):
        figure = Picture((width / DPI, height / DPI), dpi=DPI)
        FigureCanvasAgg(figure)
        ax = figure.add_axes((96 / width, 56 / height, 1 - 120 / width, 1 - 100 / height))
        ax.grid(True, which="major", color=theme.GRID, lw=0.8)
        ax.set_axisbelow(True)
    return figure, ax


def _rows(name: str, given: Sequence[Row]) -> list[Row]:
    found = [tuple(row) for row in listed(name, given, "(hole, score, seconds)")]
    for row in found:
        if len(row) != 3 or not all(math.isfinite(v) and v > 0 for v in row[1:]):
            raise ValueError(f"{name}: {row!r} is not (hole, score, seconds), the two above 0")
    return found


def _bytes(shown: ChunkStories, best: int) -> tuple[float, ...]:
    """Seconds of the bytes at every size, at the rate of the best one."""
    rate = shown.stories[best].total / shown.measured[best]
    return tuple(story.total / rate for story in shown.stories)


def _calls(shown: ChunkStories) -> list[float]:
    """Seconds of the calls at every size: a price for each piece, from the smallest size."""
    rounds = [-(-shown.chunks[-1] // chunk) for chunk in shown.chunks]
    price = max(shown.measured[0] - shown.counted[0], 0.0) / rounds[0]
    return [max(price * many, 1e-12) for many in rounds]


def _floor(shown: ChunkStories) -> float:
    return min(*shown.measured, *shown.counted) / 3


def _scale(ax: Axes, shown: ChunkStories) -> None:
    low, high = shown.chunks[0], shown.chunks[-1]
    ax.set_xlim(low / 1.6, high * 1.6)
    _ticks(ax.xaxis, shown.chunks[:: -(-len(shown.chunks) // 6)], lambda v: theme.count(int(v)))
    _seconds(ax, [*shown.measured, *shown.counted], _floor(shown))


def _seconds(ax: Axes, values: Sequence[float], floor: float | None = None) -> None:
    low, high = floor or min(values) / 1.4, max(values) * 1.5
    steps = [m * 10.0**e for e in range(-9, 4) for m in (1, 2, 5) if low <= m * 10.0**e <= high]
    _ticks(ax.yaxis, steps, lambda v: f"{plain(1e3 * v, 3)} ms")
    ax.set_ylim(low, high)


def _ticks(axis: Any, places: Sequence[float], say: Any) -> None:
    axis.set_major_locator(FixedLocator(list(places)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: say(value)))


def _label_valley(ax: Axes, shown: ChunkStories, calls: Sequence[float], best: int) -> None:
    look = {"fontsize": theme.FONT, "weight": "bold"}
    last = best == len(shown.chunks) - 1
    end, side = (0, "left") if last else (-1, "right")  # away from the best one's words
    ax.text(shown.chunks[end], shown.counted[end] / 1.08, "bytes", color=theme.ink(_BYTES),
            ha=side, va="top", **look)  # fmt: skip
    visible = [at for at, seconds in enumerate(calls) if seconds > _floor(shown)]
    if visible:  # at the right of the line's lower end, where no other line comes
        low = visible[-1]
        ax.annotate("calls", (shown.chunks[low], calls[low]), xytext=(8, 2),
                    textcoords="offset points", color=theme.ink(_CALLS), **look)  # fmt: skip
    ax.annotate(
        f"best: {si(shown.measured[best], 's')}", (shown.chunks[best], shown.measured[best]),
        xytext=(12 if last else -12 if best == 0 else 0, -30), textcoords="offset points",
        ha="right" if last else "left" if best == 0 else "center", color=theme.ink(_MINE),
        fontsize=theme.FONT,
    )  # fmt: skip


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
