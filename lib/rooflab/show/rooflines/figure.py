"""The static roofline: ``rl.show.roofline(machines, points)``, a matplotlib figure with words."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rooflab.count.dtypes import DType, DTypeLike, as_dtypes
from rooflab.count.operation import Operation
from rooflab.count.si import si
from rooflab.count.validation import unknown
from rooflab.predict.catalogue import machine as _machine
from rooflab.predict.machine import Machine
from rooflab.predict.roofline import Roofline
from rooflab.show import captions, theme
from rooflab.show.canvas import dress
from rooflab.show.figures import Page, Panel, Picture, page
from rooflab.show.labels import Crowd
from rooflab.show.rooflines import ceiling_lines, roofs
from rooflab.show.rooflines import points as marks
from rooflab.show.rooflines.ceiling_lines import CHOICES, CallLine, Ceiling, ceilings
from rooflab.show.rooflines.ceiling_lines import roof as roof_of
from rooflab.show.rooflines.machine_choices import listed
from rooflab.show.rooflines.points import Point

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rooflab.measure.measurement import Measurement

_DASHES = ("-", "--", "-.", ":")


def roofline(
    machines: Machine | str | Iterable[Machine | str],
    points: Any = (),
    *,
    dtype: DTypeLike | Sequence[DTypeLike] | None = None,
    cache: str = "cold",
    overhead: bool = False,
    band: tuple[float, float] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
    width: float | None = None,
    height: float | None = None,
) -> Picture | Panel:
    """Draw the roofs of ``machines`` and put ``points`` under them.

    Parameters
    ----------
    machines : Machine, str or iterable of them
        One or several machines or their names.
    points : Operation, Measurement, Point, step, table, or iterable of them
        An Operation is hollow, at what the first machine's roof allows; one that states its traffic
        (``op.with_traffic``) stands at the intensity of that. A Measurement is filled; a warm one
        above the DRAM roof is marked as such. A :class:`Point` is a prediction or a guess. A table
        is a DataFrame or a mapping, with the columns ``intensity`` (FLOP/B) and ``rate`` (FLOP/s),
        and maybe ``name`` and ``cache``. Pairs ``(intensity, rate)`` are measured points too, as
        are ``(name, intensity, rate)``. A model's step (``rl.model(…).decode(…)``) stands as one
        run of each of its operations. What has no FLOP is named beside the axis.
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
        None: the machines and the dtype, or nothing in axes of yours. "": none.
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
    >>> figure = rl.show.roofline("H100-SXM", rl.gemv(4096, 4096, "bf16"))
    >>> print(figure.words.splitlines()[-1].split(". ")[0])
    GEMV 4096×4096 in bf16: 33.6 MFLOP over 33.6 MB is 0.9995 FLOP/byte, left of the ridge (295)
    >>> timed = {"name": ["conv", "norm"], "intensity": [180.0, 0.6], "rate": [4.1e13, 1.6e12]}
    >>> column = rl.show.roofline("H100-SXM", timed, width=3.3)
    >>> print(column.words.splitlines()[-1])
    norm: 0.6 FLOP/byte. Measured 1.60 TFLOP/s, ×1.26 below this roof.
    """
    several = [machines] if isinstance(machines, (Machine, str)) else machines
    shown = [_machine(m) for m in listed("machines", several, "a machine or its name")]
    if not shown:
        raise ValueError(f"machines={machines!r} is empty; give a machine or its name")
    if cache not in CHOICES:
        raise unknown("cache", cache, CHOICES)
    band = ceiling_lines.as_band(band)
    given = marks.given_points(points)
    left_out = [op for one in given if (op := marks.without_flops(one))]
    given = [one for one in given if not marks.without_flops(one)]
    kinds = _kinds(dtype, given)
    lines = [[ceilings(m, kind, cache) for kind in kinds] for m in shown]
    placed = [p for one in given for p in _points(one, shown[0], cache)]
    placed = [_allowed(p, shown[0], kinds[0]) for p in marks.without_lone_side(placed)]
    ops = [p.op for p in placed if p.op] if overhead else []
    reach = ceiling_lines.last(shown[0], kinds[0], cache)
    calls = ceiling_lines.of_operations(ops, shown[0], reach)
    with page(ax, width, height, title, _title(shown, kinds)) as sheet:
        dress(
            sheet.ax, *_limits([c for groups in lines for group in groups for c in group], placed)
        )
        crowd = _fill(sheet, shown, lines, placed, cache, calls, band)
        marks.name_left_out(crowd, left_out)
    words = "\n".join([_words(shown, kinds, placed, cache), *map(captions.no_flops, left_out)])
    return sheet.done(words + (f"\n{ceiling_lines.band_words(band)}" if band else ""))


def _fill(
    sheet: Page,
    machines: Sequence[Machine],
    lines: Sequence[Sequence[Sequence[Ceiling]]],
    points: Sequence[Point],
    cache: str,
    calls: Mapping[tuple[str, str], CallLine],
    band: tuple[float, float] | None,
) -> Crowd:
    """Draw everything first and write labels last, so that they know what to avoid."""
    crowd = sheet.crowd(sheet.ax)
    for m, groups, dashes in zip(machines, lines, itertools.cycle(_DASHES)):
        for group in groups:
            roofs.draw_ceilings(crowd, group, _active(m, points, cache), dashes)
    draw_marks(crowd, points, calls)
    roofs.draw_band(crowd, band)
    for m, groups in zip(machines, lines):
        name = _short(m) if len(machines) > 1 else ""
        roofs.label_machine(crowd, groups, _active(m, points, cache), name)
    marks.label_points(crowd, points)
    roofs.label_overhead(crowd, calls)
    return crowd


def draw_marks(
    crowd: Crowd, points: Sequence[Point], calls: Mapping[tuple[str, str], CallLine]
) -> None:
    """Draw points, what joins them, and the lines of calls, all without their words."""
    marks.draw_splits(crowd, points)
    marks.draw_points(crowd, points)
    roofs.draw_overhead(crowd, calls)


def _kinds(
    dtype: DTypeLike | Sequence[DTypeLike] | None, given: Sequence[Any]
) -> tuple[DType, ...]:
    """The dtypes asked for, else those of what is ``given``."""
    if dtype is not None:
        return as_dtypes("dtype", dtype)
    ops = [one if isinstance(one, Operation) else one.op for one in given]
    used = {str(op.compute_dtype): op.compute_dtype for op in ops if op}
    return tuple(used.values()) or as_dtypes("dtype", "fp32")


def _points(one: Operation | Measurement | Point, machine: Machine, cache: str) -> list[Point]:
    """The markers of one thing given: an operation has two where both sides are shown."""
    if isinstance(one, Point):
        return [_placed(one, machine, cache)]
    op = one if isinstance(one, Operation) else one.op
    if isinstance(one, Operation):
        shown = ceiling_lines.sides(machine, op.compute_dtype, cache)
        return [_bound(op, _roof(op, machine, side), side) for side in shown]
    # Compared with the roof that was asked for; with both shown, with that of its own side.
    against = one.cache if cache == "both" else cache
    bound = _bound(op, _roof(op, machine, against), one.cache)
    trap = ceiling_lines.mark(op, one.flop_per_s, machine) if one.cache == "warm" else ""
    note = "\n".join(filter(None, (bound.note, trap)))
    return [dataclasses.replace(bound, rate=one.flop_per_s, kind="measured", note=note)]


def _placed(point: Point, machine: Machine, cache: str) -> Point:
    """A point with what its roof allows; one without an operation lies under the memory roof."""
    if point.op is None:
        return point
    bound = _bound(point.op, _roof(point.op, machine, point.side or cache), point.side)
    return dataclasses.replace(
        point, allowed=point.allowed or bound.rate, note=point.note or bound.note, level=bound.level
    )


def _bound(op: Operation, roof: Roofline, side: str | None) -> Point:
    """The point of ``op`` on ``roof``, where its traffic at the roof's level places it."""
    rate = roof.attainable(op.intensity_at(roof.level))
    moved = f"{si(op.traffic[roof.level], 'B')} moved" if roof.level in op.traffic else ""
    return Point(op, rate, "bound", None, rate, side, moved, roof.level)


def _allowed(point: Point, machine: Machine, kind: DType) -> Point:
    """A point without an operation, with what the memory roof allows it."""
    if point.op is not None or point.allowed:
        return point
    return dataclasses.replace(point, allowed=roof_of(machine, kind).attainable(point.intensity))


def _roof(op: Operation, machine: Machine, side: str) -> Roofline:
    level = "dram" if side == "both" else ceiling_lines.home(op, machine, side)
    return roof_of(machine, op.compute_dtype, level)


def _active(machine: Machine, points: Sequence[Point], cache: str) -> set[str]:
    """Levels that the points live in; without any point, memory."""
    if cache == "cold":
        return {"dram"}
    homes = {ceiling_lines.home(p.op, machine, p.side or cache) if p.op else "dram" for p in points}
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
    return "\n".join([*said, *(_said(p, machines[0], cache) for p in points)])


def _said(p: Point, machine: Machine, cache: str) -> str:
    """One point in words."""
    if p.op is None and p.kind == "measured":
        return marks.measured_words(p)
    if p.op is None or p.kind in ("predicted", "guess"):
        return marks.rate_words(p)
    if p.kind == "bound":
        return captions.bound(p.op, _roof(p.op, machine, p.side or cache))
    return captions.count(p.op, p.level) + _measured(p, p.op, machine, cache)


def _measured(p: Point, op: Operation, machine: Machine, cache: str) -> str:
    """A measured rate against its roof, and the reason if it is warm and above the DRAM roof."""
    warm = ceiling_lines.mark(op, p.rate, machine)
    trap = ceiling_lines.trap(op, p.rate, machine) if warm and warm in p.note else ""
    if p.side:
        roof = _roof(op, machine, p.side)
        return ceiling_lines.sides_words(p.side, "measured", op, p.rate, roof) + trap
    if trap and cache == "cold":
        return f" Measured warm, {si(p.rate, 'FLOP/s')}.{trap}"
    return captions.measured(p.rate, p.allowed or p.rate, cache) + trap
