"""The static roofline: ``rl.show.roofline(machines, points)``, a matplotlib figure with words."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from rooflab.count.dtypes import DType, DTypeLike, as_dtypes
from rooflab.count.operation import Operation
from rooflab.count.si import si, times
from rooflab.count.validation import unknown
from rooflab.predict.catalogue import machine as _machine
from rooflab.predict.machine import Machine
from rooflab.predict.roofline import Roofline
from rooflab.show import captions, ceiling_lines, theme
from rooflab.show.canvas import DPI, Bundle, dress
from rooflab.show.ceiling_lines import CHOICES, SIDES, CallLine, Ceiling, ceilings, label_machine
from rooflab.show.ceiling_lines import roof as roof_of
from rooflab.show.labels import Crowd, spots_around
from rooflab.show.machine_choices import listed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rooflab.measure.measurement import Measurement

# The parts of a roofline drawing: ceilings with their labels, points with theirs.
#
# Used by the static figure and by the still picture that a live roofline leaves in a notebook.


KINDS = ("bound", "predicted", "measured", "guess")
_NAMED_AT = ("guess", "measured", "bound", "predicted")  # where an operation's name stands first
SIZES = {"bound": theme.MARKER, "predicted": 0.55 * theme.MARKER}


class Picture(Figure):
    """A matplotlib figure that a notebook shows by itself, with ``words`` as its text twin.

    IPython draws figures only after pyplot was imported, which this package never does.

    Examples
    --------
    >>> figure = rl.show.roofline("H100-SXM")
    >>> isinstance(figure, rl.show.Picture)
    True
    >>> print(figure.words.splitlines()[0])
    Roofs of NVIDIA H100 SXM5 80 GB from its datasheet: a promise, not a measurement.
    """

    words: str = ""

    def _repr_mimebundle_(self, **kwargs: Any) -> Bundle:
        from rooflab.show import canvas

        return canvas.mimebundle({}, canvas.png(self, transparent=False), self.words)

    def __repr__(self) -> str:
        return self.words or super().__repr__()

    __str__ = __repr__


@dataclass(frozen=True)
class Point:
    """A marker on a roofline: ``op`` at ``rate`` FLOP/s.

    Parameters
    ----------
    op : Operation
        What was predicted, measured or guessed.
    rate : float
        FLOP/s.
    kind : {"measured", "bound", "predicted", "guess"}
        "measured" is filled, "bound" and "predicted" are hollow. "guess" is hollow and dashed, with
        "off by ×k" when the same operation was measured.
    label : str, optional
        What stands beside the marker; None: the operation's sizes.
    allowed : float, optional
        FLOP/s that the roof allows there: a dotted gap joins a measured marker to it. None: what
        the first machine's roof allows.
    side : {"cold", "warm"}, optional
        Draws a ring around it; None draws none.
    note : str
        Stands below the label.
    level : str
        The memory whose traffic places it, the operation's own where it states one.

    Examples
    --------
    >>> point = rl.show.Point(rl.axpy(1000), 1e9, "guess")
    >>> point.text, round(point.intensity, 4)
    ('AXPY 1000', 0.1667)
    >>> print(rl.show.roofline("H100-SXM", point).words.splitlines()[-1])
    AXPY of 1000 in fp32: guess 1.00 GFLOP/s.
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
        return captions.short(self.op) if self.label is None else self.label


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
                text, spots_around(*place(p), gap), own, forced=False, zorder=6,
                color=theme.style(p.op.name).ink, fontsize=theme.SMALL + 0.5,
            )  # fmt: skip
    if hidden:
        _count_hidden(crowd.ax, hidden)


def _count_hidden(ax: Axes, hidden: int) -> None:
    """Say how many names found no room, below the axes, where no point can be."""
    ax.annotate(
        captions.hidden(hidden), (1, 0), (0, -30), "axes fraction", "offset points",
        ha="right", va="bottom", color=theme.CEILING, fontsize=theme.SMALL,
    )  # fmt: skip


def _inside(ax: Axes, rate: float) -> float:
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


def _mark(ax: Axes, p: Point, rate: float) -> None:
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


# What hollow, filled and ringed markers mean, in a corner of a drawing.


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
    handles = [*map(_marker, kinds), *map(_ring, rings), *map(_dashes, calls)]
    if not handles:
        return
    shown = crowd.ax.legend(
        handles, [*(_SAID[kind] for kind in kinds), *rings, *(line.label for line in calls)],
        loc="lower right", fontsize=theme.SMALL, facecolor=theme.PAPER, edgecolor="none",
        framealpha=0.9,
        handletextpad=0.2, labelspacing=0.3,
    )  # fmt: skip
    shown.set_zorder(3.5)  # over lines, under markers and their rings
    box = shown.get_window_extent()
    crowd.add_box((box.x0, box.y0, box.x1, box.y1))


def _marker(kind: str) -> Line2D | tuple[Line2D, ...]:
    fill = theme.INK if kind == "measured" else theme.PAPER
    outer = Line2D(
        [], [], marker="o", mfc=fill, ms=SIZES.get(kind, theme.MARKER) - 1, ls="", mec=theme.INK,
        mew=1.6,
    )  # fmt: skip
    inner = Line2D([], [], ls="", marker="o", ms=3, mfc=theme.INK, mec="none")
    return (outer, inner) if kind == "guess" else outer


def _dashes(line: CallLine) -> Line2D:
    return Line2D([], [], ls="--", lw=1.6, color=theme.style(line.name).colour)


def _ring(side: str) -> Line2D:
    return Line2D([], [], ls="", marker="o", mfc="none", ms=11, mew=3, mec=SIDES[side].colour)


_DASHES = ("-", "--", "-.", ":")


def roofline(
    machines: Machine | str | Iterable[Machine | str],
    points: Iterable[Operation | Measurement | Point] | Operation | Measurement | Point = (),
    *,
    dtype: DTypeLike | Sequence[DTypeLike] | None = None,
    cache: str = "cold",
    overhead: bool = False,
    band: tuple[float, float] | None = None,
    title: str | None = None,
    width: int = 760,
    height: int = 480,
) -> Picture:
    """Draw the roofs of ``machines`` and put ``points`` under them.

    Parameters
    ----------
    machines : Machine, str or iterable of them
        One or several machines or their names.
    points : Operation, Measurement, Point or iterable of them
        An Operation is hollow, at what the first machine's roof allows; one that states its traffic
        (``op.with_traffic``) stands at the intensity of that. A Measurement is filled; a warm one
        above the DRAM roof is marked as such. A :class:`Point` is a prediction or a guess.
    dtype : str, DType or sequence of them, optional
        Whose peaks are drawn; None: the dtypes of the points, else fp32.
    cache : {"cold", "warm", "both"}
        "cold" draws the memory roof, "warm" one a level, "both" compares every measurement with the
        roof of its own side.
    overhead : bool
        Also draw FLOP ÷ call time, where the first machine's calls were timed.
    band : (float, float), optional
        Intensities of a thumb rule to shade, in FLOP/byte, e.g. (4, 8).
    title : str, optional
        None: the machines and the dtype.
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
    TypeError or ValueError
        Naming the argument.

    Examples
    --------
    >>> figure = rl.show.roofline("H100-SXM", rl.gemv(4096, 4096, "bf16"))
    >>> print(figure.words.splitlines()[-1].split(". ")[0])
    GEMV 4096×4096 in bf16: 33.6 MFLOP over 33.6 MB is 0.9995 FLOP/byte, left of the ridge (295)
    """
    several = [machines] if isinstance(machines, (Machine, str)) else machines
    shown = [_machine(m) for m in listed("machines", several, "a machine or its name")]
    if not shown:
        raise ValueError(f"machines={machines!r} is empty; give a machine or its name")
    if cache not in CHOICES:
        raise unknown("cache", cache, CHOICES)
    band = ceiling_lines.as_band(band)
    given = _given(points)
    kinds = _kinds(dtype, given)
    roofs = [[ceilings(m, kind, cache) for kind in kinds] for m in shown]
    placed = _rings([p for one in given for p in _points(one, shown[0], cache)], cache)
    ops = [p.op for p in placed] if overhead else []
    reach = ceiling_lines.last(shown[0], kinds[0], cache)
    lines = ceiling_lines.of_operations(ops, shown[0], reach)
    with rc_context(theme.RC):
        figure = Picture((width / DPI, height / DPI), dpi=DPI)
        FigureCanvasAgg(figure)
        ax = figure.add_axes((64 / width, 50 / height, 1 - 84 / width, 1 - 112 / height))
        dress(ax, *_limits([c for groups in roofs for group in groups for c in group], placed))
        _fill(Crowd(ax), shown, roofs, placed, cache, lines, band)
        figure.text(
            64 / width, 1 - 8 / height, title or _title(shown, kinds), va="top",
            fontsize=theme.FONT + 1, weight="bold",
        )  # fmt: skip
    figure.words = _words(shown, kinds, placed, cache)
    figure.words += f"\n{ceiling_lines.band_words(band)}" if band else ""
    return figure


def _fill(
    crowd: Crowd,
    machines: Sequence[Machine],
    roofs: Sequence[Sequence[Sequence[Ceiling]]],
    points: Sequence[Point],
    cache: str,
    lines: Mapping[tuple[str, str], ceiling_lines.CallLine],
    band: tuple[float, float] | None,
) -> None:
    """Draw everything first and write labels last, so that they know what to avoid."""
    legend(crowd, points, lines.values())
    for m, groups, dashes in zip(machines, roofs, itertools.cycle(_DASHES)):
        for group in groups:
            draw_ceilings(crowd, group, _active(m, points, cache), dashes)
    draw_splits(crowd, points)
    draw_points(crowd, points)
    ceiling_lines.draw_overhead(crowd, lines)
    ceiling_lines.draw_band(crowd, band)
    for m, groups in zip(machines, roofs):
        name = _short(m) if len(machines) > 1 else ""
        label_machine(crowd, groups, _active(m, points, cache), name)
    label_points(crowd, points)


def _kinds(
    dtype: DTypeLike | Sequence[DTypeLike] | None, given: Sequence[object]
) -> tuple[DType, ...]:
    """The dtypes asked for, else those of what is ``given``."""
    if dtype is not None:
        return as_dtypes("dtype", dtype)
    used = {str(_op(one).compute_dtype): _op(one).compute_dtype for one in given}
    return tuple(used.values()) or as_dtypes("dtype", "fp32")


def _given(points: object) -> list[Any]:
    """The points as a list, also where there is one alone."""
    if isinstance(points, Operation) or hasattr(points, "op"):
        return [points]
    return listed("points", points, "Operations, Measurements, Points")


def _op(one: object) -> Operation:
    op = one if isinstance(one, Operation) else getattr(one, "op", None)
    if not isinstance(op, Operation):
        raise TypeError(
            f"points: {one!r} is a {type(one).__name__}; "
            "give an Operation, a Measurement or a rooflab.show.Point"
        )
    return op


def _points(one: Operation | Measurement | Point, machine: Machine, cache: str) -> list[Point]:
    """The markers of one thing given: an operation has two where both sides are shown."""
    op = _op(one)
    if isinstance(one, Operation):
        shown = ceiling_lines.sides(machine, op.compute_dtype, cache)
        return [_bound(op, _roof(op, machine, side), side) for side in shown]
    if isinstance(one, Point):
        if one.kind not in KINDS:
            raise unknown("kind", one.kind, KINDS)
        bound = _bound(op, _roof(op, machine, one.side or cache), one.side)
        note = one.note or bound.note
        allowed = one.allowed or bound.rate
        return [dataclasses.replace(one, allowed=allowed, note=note, level=bound.level)]
    # Compared with the roof that was asked for; with both shown, with that of its own side.
    against = one.cache if cache == "both" else cache
    bound = _bound(op, _roof(op, machine, against), one.cache)
    trap = ceiling_lines.mark(op, one.flop_per_s, machine) if one.cache == "warm" else ""
    note = "\n".join(filter(None, (bound.note, trap)))
    return [dataclasses.replace(bound, rate=one.flop_per_s, kind="measured", note=note)]


def _bound(op: Operation, roof: Roofline, side: str | None) -> Point:
    """The point of ``op`` on ``roof``, where its traffic at the roof's level places it."""
    rate = roof.attainable(op.intensity_at(roof.level))
    moved = f"{si(op.traffic[roof.level], 'B')} moved" if roof.level in op.traffic else ""
    return Point(op, rate, "bound", None, rate, side, moved, roof.level)


def _rings(points: list[Point], cache: str) -> list[Point]:
    """Rings tell cold from warm where both are in the picture; else they say nothing new."""
    told = {p.side for p in points if p.side}
    if cache == "both" or len(told) > 1:
        return points
    return [dataclasses.replace(p, side=None) for p in points]


def _roof(op: Operation, machine: Machine, side: str) -> Roofline:
    level = "dram" if side == "both" else ceiling_lines.home(op, machine, side)
    return roof_of(machine, op.compute_dtype, level)


def _active(machine: Machine, points: Sequence[Point], cache: str) -> set[str]:
    """Levels that the points live in; without any point, memory."""
    if cache == "cold":
        return {"dram"}
    homes = {ceiling_lines.home(p.op, machine, p.side or cache) for p in points}
    return homes | {"dram"} if cache == "both" else homes or {"dram"}


def _limits(
    roofs: Sequence[Ceiling], points: Sequence[Point]
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Whole decades, at most half a decade of empty margin, that hold every ridge and point."""
    xs = [p.intensity for p in points] + [c.roof.ridge for c in roofs] + [1 / 12]
    x_lo = 10 ** (math.floor(2 * math.log10(min(xs)) - 0.3) / 2)
    x_hi = 10 ** (math.ceil(2 * math.log10(max(xs)) + 1) / 2)
    lowest = [x_lo * c.roof.bandwidth for c in roofs if c.level == "dram"]
    ys = [p.rate for p in points] + [c.roof.peak for c in roofs] + lowest
    y_hi = 10 ** (math.ceil(2 * math.log10(max(ys)) + 0.4) / 2)
    return (x_lo, x_hi), (10 ** (math.floor(2 * math.log10(min(ys))) / 2), y_hi)


def _short(machine: Machine) -> str:
    return machine.name.split("(")[0].strip()


def _title(machines: Sequence[Machine], kinds: Sequence[DType]) -> str:
    what = ", ".join(str(kind) for kind in kinds)
    if len(machines) == 1:
        return f"{machines[0].name} · {what} · {machines[0].provenance}"
    sources = sorted({m.provenance for m in machines})
    return f"{len(machines)} machines · {what} · {', '.join(sources)}"


def _words(
    machines: Sequence[Machine], kinds: Sequence[DType], points: Sequence[Point], cache: str
) -> str:
    said = [captions.origin(m) for m in machines]
    for m in machines:
        for kind in kinds:
            roof = roof_of(m, kind)
            said.append(
                f"{m.name}, {kind}: {si(roof.bandwidth, 'B/s')} from memory, "
                f"{si(roof.peak, 'FLOP/s')} at the peak, ridge at {theme.ridge(roof.ridge)} "
                "FLOP/byte."
            )
    for p in points:
        if p.kind == "bound":
            said.append(captions.bound(p.op, _roof(p.op, machines[0], p.side or cache)))
        elif p.kind == "measured":
            said.append(captions.count(p.op, p.level) + _measured(p, machines[0], cache))
        else:
            said.append(f"{captions.what(p.op)}: {p.kind} {si(p.rate, 'FLOP/s')}.")
    return "\n".join(said)


def _measured(p: Point, machine: Machine, cache: str) -> str:
    """A measured rate against its roof, and the reason if it is warm and above the DRAM roof."""
    warm = ceiling_lines.mark(p.op, p.rate, machine)
    trap = ceiling_lines.trap(p.op, p.rate, machine) if warm and warm in p.note else ""
    if p.side:
        return (
            ceiling_lines.sides_words(
                p.side, "measured", p.op, p.rate, _roof(p.op, machine, p.side)
            )
            + trap
        )
    if trap and cache == "cold":
        return f" Measured warm, {si(p.rate, 'FLOP/s')}.{trap}"
    return captions.measured(p.rate, p.allowed or p.rate, cache) + trap
