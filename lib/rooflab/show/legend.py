"""What hollow, filled and ringed markers mean, in a corner of a drawing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from matplotlib.lines import Line2D

from rooflab.show import theme
from rooflab.show.calls import CallLine
from rooflab.show.drawing import KINDS, SIZES, Point
from rooflab.show.labels import Crowd
from rooflab.show.sides import SIDES

_SAID = {
    "bound": "the roof allows",
    "predicted": "predicted",
    "measured": "measured",
    "guess": "your guess",
}


def legend(crowd: Crowd, points: Sequence[Point], lines: Iterable[CallLine] = ()) -> None:
    """Say what filled, hollow and ringed mean, if there is more than one, and name the
    ``lines``."""
    kinds = [kind for kind in KINDS if any(p.kind == kind for p in points)]
    rings = [side for side in SIDES if any(p.side == side for p in points)]
    if len(kinds) < 2 and not rings:
        kinds = []
    calls = list(lines)
    handles = [_marker(kind) for kind in kinds] + [_ring(side) for side in rings]
    handles += [_dashes(line) for line in calls]
    if not handles:
        return
    shown = crowd.ax.legend(
        handles, [*(_SAID[kind] for kind in kinds), *rings, *(line.label for line in calls)],
        loc="lower right", fontsize=theme.SMALL, facecolor=theme.PAPER, edgecolor="none",
        framealpha=0.9,
        handletextpad=0.2, labelspacing=0.3,
    )  # fmt: skip
    shown.set_zorder(3.5)  # over lines, under markers and their rings
    crowd.add_box(tuple(shown.get_window_extent().extents))


def _marker(kind: str) -> object:
    look = {"ls": "", "mec": theme.INK, "mew": 1.6}
    fill = theme.INK if kind == "measured" else theme.PAPER
    outer = Line2D([], [], marker="o", mfc=fill, ms=SIZES.get(kind, theme.MARKER) - 1, **look)
    inner = Line2D([], [], ls="", marker="o", ms=3, mfc=theme.INK, mec="none")
    return (outer, inner) if kind == "guess" else outer


def _dashes(line: CallLine) -> Line2D:
    return Line2D([], [], ls="--", lw=1.6, color=theme.style(line.name).colour)


def _ring(side: str) -> Line2D:
    return Line2D([], [], ls="", marker="o", mfc="none", ms=11, mew=3, mec=SIDES[side].colour)
