"""Points under a roofline: what is given, where it stands, its marker and its label."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rooflab.count.operation import Operation
from rooflab.count.si import grouped, si, times
from rooflab.count.validation import unknown
from rooflab.show import captions, theme
from rooflab.show.labels import Crowd, Haloed, Spot, spots_around
from rooflab.show.rooflines.columns import Column, is_number, is_table, row_of, rows_of
from rooflab.show.rooflines.machine_choices import listed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KINDS = ("bound", "predicted", "measured", "guess")
_NAMED_AT = ("guess", "measured", "bound", "predicted")  # where an operation's name stands first
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
        return self.operation.intensity_at(self.level) if self.at is None else self.at

    @property
    def operation(self) -> Operation:
        """The operation of a point that has one; ValueError for another."""
        if self.op is None:
            raise ValueError(f"{self.text or 'this point'} has no operation")
        return self.op

    @property
    def text(self) -> str:
        """What stands beside the marker."""
        if self.op is None:
            return self.label or ""
        return captions.short(self.op) if self.label is None else self.label

    @property
    def texts(self) -> tuple[str, ...]:
        """The same, then shorter, for where there is less room."""
        if self.op is None or self.label is not None:
            return (self.text,)
        long, sizes = self.text, captions.sizes(self.op)
        edges = set(self.op.dims.values())
        if len(edges) == 1 and 1 < len(self.op.dims) < 4:
            return long, long.replace(sizes, f"{grouped(edges.pop())}{'²³'[len(self.op.dims) - 2]}")
        return (long,)

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
    if isinstance(points, Operation) or hasattr(points, "op"):
        return [points]
    if hasattr(points, "steps"):  # a model's step: one run of each kind of operation
        return [step.op for step in points.steps]
    several = listed("points", points, WANTED)
    if isinstance(points, tuple) and len(points) in (2, 3) and is_number(points[-1]):
        several = [points]  # one pair alone
    return [_one(one, number) for number, one in enumerate(several)]


def without_flops(given: Any) -> Operation | None:
    """Return the operation of a point that has bytes and no FLOP, so no place on a log axis."""
    op = given if isinstance(given, Operation) else given.op
    return op if op is not None and not op.flops else None


def _one(given: Any, number: int) -> Any:
    if isinstance(given, Operation) or isinstance(getattr(given, "op", None), Operation):
        return given
    if isinstance(given, Point):
        return given
    if isinstance(given, (str, bytes, Mapping)) or not hasattr(given, "__len__"):
        raise TypeError(f"points: {given!r} is a {type(given).__name__}; give {WANTED}")
    columns = {2: (_INTENSITY, _RATE), 3: (_NAME, _INTENSITY, _RATE)}.get(len(given))
    if columns is None:
        raise ValueError(
            f"points: {given!r} has {len(given)} values; give (intensity, rate) or "
            "(name, intensity, rate), in FLOP/B and FLOP/s"
        )
    return _bare(row_of("points", number, given, columns), number)


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
    return [dataclasses.replace(p, side=None) for p in points]


def _alike(points: Sequence[Point]) -> set[object]:
    """Keys of what is as fast cold as it is warm: two markers in one place."""
    found: dict[tuple[object, str], dict[str | None, float]] = {}
    for p in points:
        found.setdefault((p.key, p.kind), {})[p.side] = p.rate
    pairs = ((key, rates.get("cold"), rates.get("warm")) for (key, _), rates in found.items())
    return {key for key, cold, warm in pairs if cold and warm and 0.97 < cold / warm < 1.03}


# Markers: the shape is the operation; filled is measured, hollow is not.


def markers(points: Iterable[Point]) -> dict[str, str]:
    """The marker of each family of points: ours have their own, others take what is left."""
    families = dict.fromkeys(p.family for p in points)
    known = {name: theme.style(name).marker for name in families if theme.has_style(name)}
    free = [marker for marker in MARKERS if marker not in known.values()]
    others = [name for name in families if name not in known]
    return known | {name: free[n % len(free)] for n, name in enumerate(others)}


def draw_points(crowd: Crowd, points: Sequence[Point]) -> None:
    """Draw ``points``: a dotted gap up to the roof for measured ones, a band from guess to
    truth."""
    ax, share, shapes = crowd.ax, crowd.share, markers(points)
    truth = {p.key: p.rate for p in points if p.kind == "measured"}
    for p in points:
        x, rate = p.intensity, _inside(ax, p.rate)
        _mark(crowd, p, rate, shapes[p.family])
        crowd.add_disc(*crowd.pixel(x, rate), RADIUS)
        if p.kind == "measured" and p.allowed and p.allowed / p.rate > 1.15:
            ax.plot([x, x], [rate, p.allowed], ":", lw=1.6 * share, color=theme.INK, zorder=3)
            crowd.add_line([crowd.pixel(x, rate), crowd.pixel(x, p.allowed)])
        if p.kind == "guess" and p.key in truth:
            _band(crowd, x, (rate, _inside(ax, truth[p.key])), theme.colour("mine"))


def draw_splits(crowd: Crowd, points: Sequence[Point]) -> None:
    """Join the cold and the warm marker of an operation by a broad band."""
    cold = {p.key: p for p in points if p.side == "cold"}
    for p in points:
        other = cold.get(p.key)
        if p.side == "warm" and other:
            ends = (_inside(crowd.ax, other.rate), _inside(crowd.ax, p.rate))
            _band(crowd, p.intensity, ends, theme.colour("soft"))


def _band(crowd: Crowd, x: float, ends: tuple[float, float], colour: str) -> None:
    crowd.ax.plot([x, x], ends, "-", lw=5.5 * crowd.share, alpha=0.3, color=colour, zorder=2)
    crowd.add_line([crowd.pixel(x, end) for end in ends], 3)


def _mark(crowd: Crowd, p: Point, rate: float, marker: str) -> None:
    full, guess = p.kind == "measured", p.kind == "guess"
    size = {"bound": 0.85, "predicted": 0.6}.get(p.kind, 1.0) * theme.MARKER
    face = theme.INK if full else theme.colour("mine") if guess else theme.PAPER
    crowd.ax.plot(
        [p.intensity], [rate], marker, ms=size * crowd.share, mfc=face,
        mec=theme.PAPER if full else theme.INK, clip_on=False, zorder=5 if full else 4,
        mew=(1.0 if full else 1.6) * crowd.share,
    )  # fmt: skip


def _inside(ax: Axes, rate: float) -> float:
    lo, hi = ax.get_ylim()
    return min(max(rate, lo), hi)


# Labels: every operation is named once, and cold or warm is said at its marker.


def label_points(crowd: Crowd, points: Sequence[Point]) -> None:
    """Name every operation once, at its measured point if it has one; guesses get their ×k.

    What a hollow marker means is said at the first one. Cold or warm looks alike, so that every
    operation that has both says it at both.
    """
    truth = {p.key: p.rate for p in points if p.kind == "measured"}
    said = {"measured", "guess"} | (set() if truth else set(SAID))
    alike, named, hidden = _alike(points), set[object](), 0
    for p in sorted(points, key=lambda p: _NAMED_AT.index(p.kind)):
        place = crowd.pixel(p.intensity, _inside(crowd.ax, p.rate))
        own = [
            crowd.pixel(one.intensity, _inside(crowd.ax, one.rate))
            for one in points if one.key == p.key
        ]  # fmt: skip
        side = "" if p.key in alike else p.side or ""
        kind = "" if p.kind in said else SAID[p.kind]
        # In a crowd, a name alone is better than neither name nor side.
        tries = [_labels(p, truth, p.key in named, one, kind) for one in dict.fromkeys((side, ""))]
        named.add(p.key)
        if not tries[0]:
            continue
        look = {"color": theme.colour("mine-says") if p.kind == "guess" else theme.INK}
        shown = any(
            crowd.write(
                texts, spots_around(*place, GAP), own, forced=False, zorder=6,
                fontsize=theme.SMALL + 0.5, **look,
            )
            for texts in tries if texts
        )  # fmt: skip
        said |= {p.kind} if shown else set()
        hidden += not shown
    if hidden:
        _count_hidden(crowd, hidden)


def _labels(
    p: Point, truth: Mapping[object, float], named: bool, side: str, kind: str
) -> list[str]:
    """What may stand beside a marker, the longest first; ``named``: its name stands elsewhere."""
    if p.kind == "guess":
        right = truth.get(p.key)
        if right is None:
            return ["your guess"]
        off = f"off by {times(max(right / p.rate, p.rate / right))}"
        return [f"your guess, {off}", off]
    heads = [side] if named else [", ".join(filter(None, (text, side))) for text in p.texts]
    found = ("\n".join(filter(None, (head, kind, p.note))) for head in heads)
    return [text for text in found if text]


def _count_hidden(crowd: Crowd, hidden: int) -> None:
    """Say how many names found no room, above the axes at the right, where no point can be."""
    crowd.ax.add_artist(
        Haloed(
            1, 1.01, captions.hidden(hidden), transform=crowd.ax.transAxes, ha="right", va="bottom",
            color=theme.CEILING, fontsize=theme.SMALL * crowd.share, clip_on=False,
        )
    )  # fmt: skip


def name_left_out(crowd: Crowd, ops: Sequence[Operation]) -> None:
    """Name operations without a FLOP at the left end of the axis, which begins right of them."""
    if not ops:
        return
    (left, _, _, top), names = crowd.frame, ", ".join(dict.fromkeys(op.name for op in ops))
    corners = [Spot(left + 6, top - down, va="top") for down in (6, 26, 46)]
    crowd.write_rows([(f"0 FLOP: {names}", False)], corners, color=theme.CEILING)


def measured_words(p: Point) -> str:
    """Say a point without an operation, against what the roof allows there."""
    rate = captions.measured(p.rate, p.allowed or p.rate, p.side or "cold")
    return f"{p.text or 'A point'}: {theme.intensity(p.intensity)} FLOP/byte.{rate}"


def rate_words(p: Point) -> str:
    """Say a guess or a prediction."""
    what = captions.what(p.op) if p.op else p.text or "A point"
    return f"{what}: {p.kind} {si(p.rate, 'FLOP/s')}."
