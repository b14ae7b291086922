"""Points under a roofline: what is given, where it stands, its marker and its label."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from reprlib import repr as short
from typing import Any

from rooflab.count.operation import Operation
from rooflab.count.si import grouped, several, times
from rooflab.count.validation import unknown
from rooflab.predict.published import PublishedRun
from rooflab.show import captions, theme
from rooflab.show.labels import Crowd, Spot, spots_around
from rooflab.show.rooflines.columns import Column, checked, is_number, is_table, rows_of
from rooflab.show.rooflines.machine_choices import listed

#: Kinds of points, in the order in which they are named, and how large their markers are.
KINDS = {"guess": 1.0, "measured": 1.0, "bound": 0.85, "predicted": 0.6}
#: What the first marker of its kind says, where measured ones are beside it.
SAID = {"bound": "the roof allows", "predicted": "predicted"}
RADIUS = 8  # pixels that a marker takes
GAP = 11  # pixels from a marker to its label
#: Markers of what is no operation of ours, in the order in which the names come.
MARKERS = ("o", "s", "D", "^", "v", "P", "X", "<", ">", "p", "h", "*")


@dataclass(frozen=True)
class Point:
    """A marker on a roofline: ``op`` at ``rate`` FLOP/s.

    Parameters
    ----------
    op : Operation or None
        What was predicted, measured or guessed. None: a point with ``at`` and a ``label``.
    rate : float
        FLOP/s.
    kind : {"measured", "bound", "predicted", "guess"}
        "measured" is filled. "bound" and "predicted" are smaller and hollow. "guess" has the
        colour of guesses, and says "off by ×k" when the same operation was measured.
    label : str, optional
        What stands beside the marker; None: the operation's sizes.
    allowed : float, optional
        FLOP/s that the roof allows there: a dotted gap joins a measured marker to it. None: what
        the first machine's roof allows.
    side : {"cold", "warm"}, optional
        Said beside it; None says nothing.
    note : str
        Stands below the label.
    level : str
        The memory whose traffic places it, the operation's own where it states one.
    at : float, optional
        FLOP per byte of a point without an operation.

    Examples
    --------
    >>> point = rl.show.Point(rl.axpy(1000), 1e9, "guess")
    >>> point.text, round(point.intensity, 4)
    ('AXPY 1000', 0.1667)
    >>> print(rl.show.roofline("H100-SXM", point).words.splitlines()[-1])
    AXPY of 1000 in fp32: guess 1.00 GFLOP/s.
    """

    op: Operation | None
    rate: float
    kind: str = "measured"
    label: str | None = None
    allowed: float | None = None
    side: str | None = None
    note: str = ""
    level: str = "dram"
    at: float | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise unknown("kind", self.kind, KINDS)
        if self.side not in (None, "cold", "warm"):
            raise unknown("side", self.side, ("cold", "warm"))
        if (self.op is None) == (self.at is None):
            raise ValueError(f"op={self.op!r} and at={self.at!r}: give one of the two")

    @property
    def intensity(self) -> float:
        """FLOP per byte that crosses ``level``: where it stands on the axis."""
        return self.op.intensity_at(self.level) if self.op else self.at or math.nan

    @property
    def text(self) -> str:
        """What stands beside the marker."""
        return captions.short(self.op) if self.op and self.label is None else self.label or ""

    @property
    def texts(self) -> tuple[str, ...]:
        """The same, then shorter, for where there is less room."""
        edges = set(self.op.dims.values()) if self.op and self.label is None else set()
        if self.op and len(edges) == 1 and 1 < (many := len(self.op.dims)) < 4:
            cube = f"{grouped(edges.pop())}{'²³'[many - 2]}"
            return self.text, self.text.replace(captions.sizes(self.op), cube)
        return (self.text,)

    @property
    def key(self) -> object:
        """What points of the same thing have in common, measured or guessed, cold or warm."""
        return (self.label, self.at) if self.op is None else self.op.label

    @property
    def family(self) -> str:
        """What decides its marker: the operation, or the first word of the label."""
        words = (self.label or "").split()
        return self.op.name if self.op else words[0].lower() if words else ""


# What is given: operations and measurements as they are, numbers from a table or in pairs.

_NAME = Column("name", others=("label", "kernel", "operation", "op"), needed=False)
_INTENSITY = Column(
    "intensity", "FLOP/B", ("FLOP/B", "FLOP/byte", "FLOP per byte", "arithmetic intensity", "AI")
)
_RATE = Column("rate", "FLOP/s", ("FLOP/s", "FLOPs/s", "FLOP per second", "FLOP_per_s"))
_SIDE = Column("cache", others=("side",), needed=False)
WANTED = (
    "Operations, Measurements, Points, a model's step, a table with the columns intensity "
    "(FLOP/B) and rate (FLOP/s), or pairs (intensity, rate)"
)
SLOWEST = 1e4  # FLOP/s; less was meant in another unit


def given_points(points: Any) -> list[Any]:
    """Return what was given as a list of Operations, Measurements and Points.

    Rows of a table, and tuples of two or three, become Points without an operation.
    """
    if is_table(points):
        rows = rows_of("points", points, (_NAME, _INTENSITY, _RATE, _SIDE))
        return [_bare(row, number) for number, row in enumerate(rows)]
    if hasattr(points, "steps"):  # a model's step: one run of each kind of operation
        return [step.op for step in points.steps]
    pair = isinstance(points, tuple) and len(points) in (2, 3) and is_number(points[-1])
    alone = pair or isinstance(points, Operation) or hasattr(points, "op")
    several = [points] if alone else listed("points", points, WANTED)
    return [_one(one, number) for number, one in enumerate(several)]


def operation_of(given: Any) -> Operation | None:
    """Return the Operation that is ``given``, or that of a Measurement or a Point."""
    return given if isinstance(given, Operation) else given.op


def _one(given: Any, number: int) -> Any:
    if isinstance(given, (Operation, Point)) or isinstance(getattr(given, "op", None), Operation):
        return given
    if isinstance(given, (str, bytes, Mapping)) or not hasattr(given, "__len__"):
        raise TypeError(f"points: {short(given)} is a {type(given).__name__}; give {WANTED}")
    columns = {2: (_INTENSITY, _RATE), 3: (_NAME, _INTENSITY, _RATE)}.get(len(given))
    if columns is None:
        raise ValueError(
            f"points: {given!r} has {len(given)} values; give (intensity, rate) or "
            "(name, intensity, rate), in FLOP/B and FLOP/s"
        )
    row = {one.name: checked("points", number, one, value) for one, value in zip(columns, given)}
    return _bare(row, number)


def _bare(row: Mapping[str, Any], number: int) -> Point:
    if row["rate"] < SLOWEST:
        raise ValueError(
            f"points: rate={row['rate']:g} in row {number} is in FLOP/s; "
            f"{row['rate']:g} GFLOP/s is {row['rate']:g}e9"
        )
    side = row.get("cache", "").strip().lower() or None
    if side not in (None, "cold", "warm"):
        raise unknown("points: cache", side, ("cold", "warm"))
    return Point(None, row["rate"], label=row.get("name", ""), side=side, at=row["intensity"])


def without_lone_side(points: Sequence[Point]) -> list[Point]:
    """Cold and warm are told apart where both are in the picture; else they say nothing new."""
    if len({p.side for p in points if p.side}) > 1:
        return list(points)
    return [replace(p, side=None) for p in points]


# Markers: the shape is the operation; filled is measured, hollow is not.


def markers(points: Iterable[Point]) -> dict[str, str]:
    """Return the marker of each family of points: ours have their own, others what is left."""
    families = dict.fromkeys(p.family for p in points)
    known = {name: theme.STYLES[name].marker for name in families if name in theme.STYLES}
    free = cycle(marker for marker in MARKERS if marker not in known.values())
    return known | {name: next(free) for name in families if name not in known}


def draw_points(crowd: Crowd, points: Sequence[Point]) -> None:
    """Draw markers, a dotted gap from measured ones to the roof, and bands.

    A broad band joins the cold and the warm marker of an operation, and a guess with the truth.
    """
    ax, share, shapes = crowd.ax, crowd.share, markers(points)
    truth = {p.key: p.rate for p in points if p.kind == "measured"}
    cold = {(p.key, p.kind): p.rate for p in points if p.side == "cold"}
    for p in points:
        x, place = p.intensity, crowd.pixel(p.intensity, p.rate)
        _mark(crowd, p, shapes[p.family])
        crowd.add_disc(*place, RADIUS)
        if p.kind == "measured" and p.allowed and p.allowed / p.rate > 1.15:
            ax.plot([x, x], [p.rate, p.allowed], ":", lw=1.6 * share, color=theme.INK, zorder=3)
            crowd.add_line([place, crowd.pixel(x, p.allowed)])
        ink = theme.colour("mine" if p.kind == "guess" else "soft")
        other = truth.get(p.key) if p.kind == "guess" else cold.get((p.key, p.kind))
        if other and (p.kind == "guess" or p.side == "warm"):
            ax.plot([x, x], [p.rate, other], color=ink, lw=5.5 * share, alpha=0.3, zorder=2)
            crowd.add_line([place, crowd.pixel(x, other)], 3)


def _mark(crowd: Crowd, p: Point, marker: str) -> None:
    full, share = p.kind == "measured", crowd.share
    face = theme.INK if full else theme.colour("mine") if p.kind == "guess" else theme.PAPER
    crowd.ax.plot(
        p.intensity, p.rate, marker, ms=KINDS[p.kind] * theme.MARKER * share, mfc=face,
        mec=theme.PAPER if full else theme.INK, mew=(1.0 if full else 1.6) * share,
        clip_on=False, zorder=5 if full else 4,
    )  # fmt: skip


def parted(points: Iterable[Any]) -> tuple[list[PublishedRun], list[Any]]:
    """Return the published runs among ``points``, and the others."""
    several = [*points]
    cloud = [one for one in several if isinstance(one, PublishedRun)]
    return cloud, [one for one in several if not isinstance(one, PublishedRun)]


def draw_cloud(crowd: Crowd, runs: Sequence[PublishedRun]) -> None:
    """Draw published runs as small crosses without labels, below all other marks."""
    for above in sorted({run.above for run in runs}):
        seen = [run for run in runs if run.above is above]
        crowd.ax.plot(
            [run.op.intensity for run in seen], [run.flop_per_s for run in seen], "x",
            ms=0.45 * theme.MARKER * crowd.share, mew=1.2 * crowd.share, zorder=2,
            color=theme.colour("warn" if above else "soft"), alpha=0.9 if above else 0.4,
        )  # fmt: skip


# Labels: every operation is named once, and cold or warm is said at its marker.


def label_points(crowd: Crowd, points: Sequence[Point]) -> None:
    """Name every operation once, at its measured point if it has one; guesses get their ×k.

    What a hollow marker means is said at the first one, where measured ones are beside it. Cold
    and warm are not said of what is as fast cold as it is warm: two markers in one place.
    """
    truth = {p.key: p.rate for p in points if p.kind == "measured"}
    rates = {(p.key, p.kind, p.side): p.rate for p in points}
    said, named, hidden = set[str](), set[object](), 0
    for p in sorted(points, key=lambda p: list(KINDS).index(p.kind)):
        kind = SAID.get(p.kind, "") if truth and p.kind not in said else ""
        cold, warm = (rates.get((p.key, p.kind, side), math.inf) for side in ("cold", "warm"))
        side = None if 0.97 < cold / warm < 1.03 else p.side
        # In a crowd, a name alone is better than neither name nor side.
        sides, again = dict.fromkeys((side, None)), p.key in named
        tries = [_labels(p, truth, again, one, kind) for one in sides]
        named.add(p.key)
        spots = spots_around(*crowd.pixel(p.intensity, p.rate), GAP)
        own = [crowd.pixel(q.intensity, q.rate) for q in points if q.key == p.key]
        ink = theme.colour("mine-says") if p.kind == "guess" else theme.INK
        look: dict[str, Any] = {"fontsize": theme.SMALL + 0.5, "color": ink, "zorder": 6}
        if any(crowd.write(one, spots, own, forced=False, **look) for one in tries if one):
            said.add(p.kind)
        else:
            hidden += bool(tries[0])
    if hidden:  # is said above the axes at the right, where no point can be
        corner = Spot(crowd.frame[2], crowd.frame[3] + 3, "right", "bottom")
        text = f"{several(hidden, 'label')} left out"
        crowd.annotate(text, corner, color=theme.CEILING, fontsize=theme.SMALL)


def _labels(
    p: Point, truth: Mapping[object, float], named: bool, side: str | None, kind: str
) -> list[str]:
    """Return what may stand beside a marker, the longest first.

    ``named``: its name stands elsewhere.
    """
    if p.kind == "guess":
        right = truth.get(p.key)
        off = f"off by {times(max(right / p.rate, p.rate / right))}" if right else ""
        return [f"your guess, {off}", off] if off else ["your guess"]
    heads = [side] if named else [", ".join(filter(None, (text, side))) for text in p.texts]
    found = ("\n".join(filter(None, (head, kind, p.note))) for head in heads)
    return [text for text in found if text]


def name_left_out(crowd: Crowd, ops: Sequence[Operation]) -> None:
    """Name operations without a FLOP at the left end of the axis, which begins right of them."""
    if ops:
        (left, _, _, top), names = crowd.frame, ", ".join(dict.fromkeys(op.name for op in ops))
        corners = [Spot(left + 6, top - down, va="top") for down in (6, 26, 46)]
        crowd.write(f"0 FLOP: {names}", corners, color=theme.CEILING, fontsize=theme.SMALL)
