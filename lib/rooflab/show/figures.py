"""The static roofline: ``rl.show.roofline(machines, points)``, a matplotlib figure with words."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence

from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg

from rooflab.count.dtypes import DType
from rooflab.count.dtypes import dtype as _dtype
from rooflab.count.operation import Operation
from rooflab.count.si import si
from rooflab.count.suggest import unknown
from rooflab.predict.catalogue import machine as _machine
from rooflab.predict.machine import Machine
from rooflab.predict.roofline import Roofline
from rooflab.show import calls, sides, theme, thumb, words
from rooflab.show.axes import DPI, dress
from rooflab.show.drawing import (
    KINDS,
    Picture,
    Point,
    draw_ceilings,
    draw_points,
    draw_splits,
    label_points,
)
from rooflab.show.labels import Crowd
from rooflab.show.legend import legend
from rooflab.show.offers import listed
from rooflab.show.polylines import CHOICES, Ceiling, ceilings
from rooflab.show.polylines import roof as roof_of
from rooflab.show.roof_labels import label_machine

_DASHES = ("-", "--", "-.", ":")


def roofline(
    machines: Machine | str | Iterable[Machine | str],
    points: Iterable[object] = (),
    *,
    dtype: object = None,
    cache: str = "cold",
    overhead: bool = False,
    band: tuple[float, float] | None = None,
    title: str | None = None,
    width: int = 760,
    height: int = 480,
) -> Picture:
    """Draw the roofs of ``machines`` and put ``points`` under them.

    ``points``: an Operation (hollow, at what the first machine's roof allows), a Measurement
    (filled), or a :class:`Point` for predictions and guesses. An operation that states its traffic
    (``op.with_traffic``) stands at the intensity of that. ``dtype``: one or several, default
    those of the points, else fp32. ``cache``: "cold" draws the memory roof, "warm" one a level,
    "both" compares every measurement with the roof of its own side. A warm measurement above the
    DRAM roof is marked as such. ``overhead``: also FLOP ÷ call time, where the first machine's
    calls were timed. ``band``: intensities of a thumb rule to shade, e.g. (4, 8). ``width`` and
    ``height`` in pixels at 100 dpi. The figure's ``words`` say what it shows.
    """
    several = [machines] if isinstance(machines, (Machine, str)) else machines
    shown = [_machine(m) for m in listed("machines", several, "a machine or its name")]
    if not shown:
        raise ValueError(f"machines={machines!r} is empty; give a machine or its name")
    if cache not in CHOICES:
        raise unknown("cache", cache, CHOICES)
    band = thumb.as_band(band)
    alone = isinstance(points, Operation) or hasattr(points, "op")
    given = [points] if alone else listed("points", points, "Operations, Measurements, Points")
    kinds = _kinds(dtype, given)
    roofs = [[ceilings(m, kind, cache) for kind in kinds] for m in shown]
    placed = _rings([p for one in given for p in _points(one, shown[0], cache)], cache)
    ops = [p.op for p in placed] if overhead else []
    lines = calls.of_operations(ops, shown[0], sides.last(shown[0], kinds[0], cache))
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
    figure.words += f"\n{thumb.said(band)}" if band else ""
    return figure


def _fill(
    crowd: Crowd,
    machines: Sequence[Machine],
    roofs: Sequence[Sequence[Sequence[Ceiling]]],
    points: Sequence[Point],
    cache: str,
    lines: Mapping[tuple[str, str], calls.CallLine],
    band: tuple[float, float] | None,
) -> None:
    """Draw everything first and write labels last, so that they know what to avoid."""
    legend(crowd, points, lines.values())
    for m, groups, dashes in zip(machines, roofs, itertools.cycle(_DASHES)):
        for group in groups:
            draw_ceilings(crowd, group, _active(m, points, cache), dashes)
    draw_splits(crowd, points)
    draw_points(crowd, points)
    calls.draw(crowd, lines)
    thumb.draw(crowd, band)
    for m, groups in zip(machines, roofs):
        name = _short(m) if len(machines) > 1 else ""
        label_machine(crowd, groups, _active(m, points, cache), name)
    label_points(crowd, points)


def _kinds(dtype: object, given: Sequence[object]) -> tuple[DType, ...]:
    if dtype is None:
        used = {str(_op(one).compute_dtype): _op(one).compute_dtype for one in given}
        return tuple(used.values()) or (_dtype("fp32"),)
    several = dtype if isinstance(dtype, (list, tuple)) else [dtype]
    return tuple(_dtype(one) for one in several)


def _op(one: object) -> Operation:
    op = one if isinstance(one, Operation) else getattr(one, "op", None)
    if not isinstance(op, Operation):
        raise TypeError(
            f"points: {one!r} is a {type(one).__name__}; "
            "give an Operation, a Measurement or a rooflab.show.Point"
        )
    return op


def _points(one: object, machine: Machine, cache: str) -> list[Point]:
    """The markers of one thing given: an operation has two where both sides are shown."""
    op = _op(one)
    if isinstance(one, Operation):
        shown = sides.sides(machine, op.compute_dtype, cache)
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
    trap = sides.mark(op, one.flop_per_s, machine) if one.cache == "warm" else ""
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
    level = "dram" if side == "both" else sides.home(op, machine, side)
    return roof_of(machine, op.compute_dtype, level)


def _active(machine: Machine, points: Sequence[Point], cache: str) -> set[str]:
    """Levels that the points live in; without any point, memory."""
    if cache == "cold":
        return {"dram"}
    homes = {sides.home(p.op, machine, p.side or cache) for p in points}
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
    said = [words.origin(m) for m in machines]
    for m in machines:
        for kind in kinds:
            roof = roof_of(m, kind)
            said.append(
                f"{m.name}, {kind}: {si(roof.bandwidth, 'B/s')} from memory, "
                f"{si(roof.peak, 'FLOP/s')} at the peak, ridge at {theme.ridge(roof.ridge)} FLOP/byte."
            )
    for p in points:
        if p.kind == "bound":
            said.append(words.bound(p.op, _roof(p.op, machines[0], p.side or cache)))
        elif p.kind == "measured":
            said.append(words.count(p.op, p.level) + _measured(p, machines[0], cache))
        else:
            said.append(f"{words.what(p.op)}: {p.kind} {si(p.rate, 'FLOP/s')}.")
    return "\n".join(said)


def _measured(p: Point, machine: Machine, cache: str) -> str:
    """A measured rate against its roof, and the reason if it is warm and above the DRAM roof."""
    warm = sides.mark(p.op, p.rate, machine)
    trap = sides.trap(p.op, p.rate, machine) if warm and warm in p.note else ""
    if p.side:
        return sides.said(p.side, "measured", p.op, p.rate, _roof(p.op, machine, p.side)) + trap
    if trap and cache == "cold":
        return f" Measured warm, {si(p.rate, 'FLOP/s')}.{trap}"
    return words.measured(p.rate, p.allowed, cache) + trap
