"""The parts of a roofline drawing: ceilings with their labels, points with theirs.

Used by the static figure and by the still picture that a live roofline leaves in a notebook.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from rooflab.count.operation import Operation
from rooflab.count.si import times
from rooflab.show import theme, words
from rooflab.show.labels import Crowd, around
from rooflab.show.polylines import Ceiling
from rooflab.show.sides import SIDES

KINDS = ("bound", "predicted", "measured", "guess")
_NAMED_AT = ("guess", "measured", "bound", "predicted")  # where an operation's name stands first
SIZES = {"bound": theme.MARKER, "predicted": 0.55 * theme.MARKER}


class Picture(Figure):
    """A matplotlib figure that a notebook shows by itself, with ``words`` as its text twin.

    IPython draws figures only after pyplot was imported, which this package never does.
    """

    words: str = ""

    def _repr_mimebundle_(self, **kwargs: object) -> tuple[dict, dict]:
        from rooflab.show import overlay

        return overlay.mimebundle({}, overlay.png(self, transparent=False), self.words)

    def __repr__(self) -> str:
        return self.words or super().__repr__()


@dataclass(frozen=True)
class Point:
    """A marker on a roofline: ``op`` at ``rate`` FLOP/s.

    ``kind``: "bound" or "predicted" (hollow), "measured" (filled), "guess" (hollow, dashed, with
    "off by ×k" when the same operation was measured). ``label``: default, the operation's sizes.
    ``side``: "cold" or "warm" draws a ring around it; ``note`` stands below the label. ``level``:
    the memory whose traffic places it, the operation's own where it states one.
    """

    op: Operation
    rate: float
    kind: str = "measured"
    label: str | None = None
    allowed: float | None = None
    side: str | None = None
    note: str = ""
    level: str = "dram"

    @property
    def intensity(self) -> float:
        """FLOP per byte that crosses ``level``: where it stands on the axis."""
        return self.op.intensity_at(self.level)

    @property
    def text(self) -> str:
        """What stands beside the marker."""
        return words.short(self.op) if self.label is None else self.label


def draw_ceilings(
    crowd: Crowd, ceilings: Sequence[Ceiling], active: Collection[str], dashes: str = "-"
) -> None:
    """Draw roofs that share one peak; those of the ``active`` levels are thick, with their
    ridge."""
    ax = crowd.ax
    x_lo, x_hi = ax.get_xlim()
    for ceiling in ceilings:
        roof, thick = ceiling.roof, ceiling.level in active
        xs = [x_lo, min(roof.ridge, x_hi), x_hi]
        ys = [roof.attainable(x) for x in xs]
        ax.plot(
            xs, ys, dashes, color="#444444" if thick else theme.CEILING,
            lw=2.6 if thick else 1.1, solid_joinstyle="miter", zorder=2,
        )  # fmt: skip
        crowd.add_line([crowd.pixel(x, y) for x, y in zip(xs, ys)])
        if thick and x_lo < roof.ridge < x_hi:
            foot = (roof.ridge, ax.get_ylim()[0])
            ax.plot(
                [roof.ridge] * 2, [foot[1], roof.peak], ":", color=theme.CEILING, lw=1.2, zorder=1
            )
            crowd.add_line([crowd.pixel(*foot), crowd.pixel(roof.ridge, roof.peak)], 1)


def draw_points(crowd: Crowd, points: Sequence[Point]) -> None:
    """Draw ``points``: a dotted gap up to the roof for measured ones, a band from guess to
    truth."""
    ax = crowd.ax
    truth = {p.op.label: p.rate for p in points if p.kind == "measured"}
    for p in points:
        x, rate, colour = p.intensity, _inside(ax, p.rate), theme.style(p.op.name).colour
        _mark(ax, p, rate)
        crowd.add_disc(*crowd.pixel(x, rate), SIDES[p.side].radius if p.side else 8)
        if p.kind == "measured" and p.allowed and p.allowed / p.rate > 1.15:
            ax.plot([x, x], [rate, p.allowed], ":", lw=1.6, color=colour, zorder=3)
            crowd.add_line([crowd.pixel(x, rate), crowd.pixel(x, p.allowed)])
        if p.kind == "guess" and p.op.label in truth:
            right = _inside(ax, truth[p.op.label])
            ax.plot([x, x], [rate, right], "-", lw=5, alpha=0.25, color=colour, zorder=2)
            crowd.add_line([crowd.pixel(x, rate), crowd.pixel(x, right)], 3)


def draw_splits(crowd: Crowd, points: Sequence[Point]) -> None:
    """Join the cold and the warm marker of an operation by a broad band."""
    cold = {p.op.label: p for p in points if p.side == "cold"}
    for p in points:
        other = cold.get(p.op.label)
        if p.side == "warm" and other:
            ends = [_inside(crowd.ax, one.rate) for one in (other, p)]
            colour = theme.style(p.op.name).colour
            crowd.ax.plot([p.intensity] * 2, ends, "-", lw=6, alpha=0.25, color=colour, zorder=2)
            crowd.add_line([crowd.pixel(p.intensity, end) for end in ends], 3)


def label_points(crowd: Crowd, points: Sequence[Point]) -> None:
    """Name every operation once, at its measured point if it has one; guesses get their ×k."""
    truth = {p.op.label: p.rate for p in points if p.kind == "measured"}
    named: set[str] = set()

    def place(p: Point) -> tuple[float, float]:
        return crowd.pixel(p.intensity, _inside(crowd.ax, p.rate))

    hidden = 0
    for p in sorted(points, key=lambda p: _NAMED_AT.index(p.kind)):
        text = _label(p, truth, named)
        if text:
            own = [place(one) for one in points if one.op.label == p.op.label]
            gap = SIDES[p.side].radius + 4 if p.side else 11
            hidden += not crowd.write(
                text, around(*place(p), gap), own, forced=False, zorder=6,
                color=theme.style(p.op.name).ink, fontsize=theme.SMALL + 0.5,
            )  # fmt: skip
    if hidden:
        _count_hidden(crowd.ax, hidden)


def _count_hidden(ax, hidden: int) -> None:
    """Say how many names found no room, below the axes, where no point can be."""
    ax.annotate(
        words.hidden(hidden), (1, 0), (0, -30), "axes fraction", "offset points",
        ha="right", va="bottom", color=theme.CEILING, fontsize=theme.SMALL,
    )  # fmt: skip


def _inside(ax, rate: float) -> float:
    lo, hi = ax.get_ylim()
    return min(max(rate, lo), hi)


def _label(p: Point, truth: dict[str, float], named: set[str]) -> str:
    if p.kind == "guess":
        right = truth.get(p.op.label)
        if right is None:
            return "your guess"
        return f"your guess, off by {times(max(right / p.rate, p.rate / right))}"
    if p.op.label in named:
        return p.note  # one name for a measured point and its bound
    named.add(p.op.label)
    return "\n".join(filter(None, (p.text, p.note)))


def _mark(ax, p: Point, rate: float) -> None:
    look = theme.style(p.op.name)
    filled = p.kind == "measured"
    ax.plot(
        [p.intensity], [rate], look.marker, ms=SIZES.get(p.kind, theme.MARKER),
        mfc=look.colour if filled else theme.PAPER, mec=theme.PAPER if filled else look.colour,
        mew=1.0 if filled else 2.2, zorder=5 if filled else 4, clip_on=False,
    )  # fmt: skip
    if p.side:
        ring = SIDES[p.side]
        ax.plot(
            [p.intensity], [rate], "o", ms=1.44 * ring.radius, mfc="none", mec=ring.colour,
            mew=3, zorder=4, clip_on=False,
        )  # fmt: skip
    if p.kind == "guess":  # a dashed look that survives any marker size
        ax.plot([p.intensity], [rate], look.marker, ms=4, mfc=look.colour, mec="none", zorder=6)
