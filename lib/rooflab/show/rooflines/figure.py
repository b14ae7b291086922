"""The static roofline: ``rl.show.roofline(machines, points)``, a matplotlib figure with words."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import chain, cycle
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
from rooflab.show.figures import Panel, Picture, page
from rooflab.show.labels import Crowd
from rooflab.show.rooflines import ceiling_lines, roofs
from rooflab.show.rooflines import points as marks
from rooflab.show.rooflines.ceiling_lines import CHOICES, CallLine, ceilings
from rooflab.show.rooflines.ceiling_lines import roof as roof_of
from rooflab.show.rooflines.machine_choices import listed
from rooflab.show.rooflines.points import Point, operation_of

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
    points : Operation, Measurement, Point, PublishedRun, step, table, or iterable of them
        An Operation is hollow, at what the first machine's roof allows; one that states its traffic
        (``op.with_traffic``) stands at the intensity of that. A Measurement is filled; a warm one
        above the DRAM roof is marked as such. A :class:`Point` is a prediction or a guess. A table
        is a DataFrame or a mapping, with the columns ``intensity`` (FLOP/B) and ``rate`` (FLOP/s),
        and maybe ``name`` and ``cache``. Pairs ``(intensity, rate)`` are measured points too, as
        are ``(name, intensity, rate)``. A model's step (``rl.model(…).decode(…)``) stands as one
        run of each of its operations. What has no FLOP is named beside the axis. A PublishedRun
        (``rl.published(…)``) is a small cross, red where memory cannot have been so fast.
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
    band, every = ceiling_lines.as_band(band), marks.given_points(points)
    ops = [op for one in every if (op := operation_of(one))]
    left_out = [op for op in ops if not op.flops]  # have no place on a log axis
    cloud, given = marks.parted(one for one in every if operation_of(one) not in left_out)
    kinds = _kinds(dtype, [op for op in ops if op.flops])
    lines = [[ceilings(m, kind, cache) for kind in kinds] for m in shown]
    placed = [p for one in given for p in _points(one, shown[0], cache, kinds[0])]
    placed = marks.without_lone_side(placed)
    reach = ceiling_lines.sides(shown[0], kinds[0], cache)[-1]
    timed = [p.op for p in placed if p.op] if overhead else []
    calls = ceiling_lines.of_operations(timed, shown[0], reach).values()
    with page(ax, width, height, title, _title(shown, kinds)) as sheet:
        seen = [*placed, *(Point(run.op, run.flop_per_s) for run in cloud)]
        dress(sheet.ax, *_limits([roof for groups in lines for roof in chain(*groups)], seen))
        crowd = sheet.crowd(sheet.ax)
        marks.draw_cloud(crowd, cloud)
        _draw(crowd, zip(shown, lines), placed, cache, calls, band)
        marks.name_left_out(crowd, left_out)
    more = [*map(captions.no_flops, left_out), *captions.published(cloud)]
    words = "\n".join([_words(shown, kinds, placed, cache), *more])
    return sheet.done(words + (f"\n{ceiling_lines.band_words(band)}" if band else ""))


def _draw(
    crowd: Crowd,
    roofs_of: Iterable[tuple[Machine, Sequence[Sequence[Roofline]]]],
    points: Sequence[Point],
    cache: str,
    calls: Collection[CallLine],
    band: tuple[float, float] | None,
) -> None:
    """Draw everything first and write labels last, so that they know what to avoid."""
    machines = [(m, groups, _active(m, points, cache)) for m, groups in roofs_of]
    for (_, groups, active), dashes in zip(machines, cycle(_DASHES)):
        for group in groups:
            roofs.draw_ceilings(crowd, group, active, dashes)
    marks.draw_points(crowd, points)
    roofs.draw_calls(crowd, calls)
    roofs.draw_band(crowd, band)
    for m, groups, active in machines:
        roofs.label_machine(crowd, groups, active, roofs.short(m) if len(machines) > 1 else "")
    marks.label_points(crowd, points)
    roofs.label_calls(crowd, calls)


def _kinds(
    dtype: DTypeLike | Sequence[DTypeLike] | None, ops: Iterable[Operation]
) -> tuple[DType, ...]:
    """The dtypes asked for, else those of ``ops``."""
    if dtype is not None:
        return as_dtypes("dtype", dtype)
    used = {str(op.compute_dtype): op.compute_dtype for op in ops}
    return tuple(used.values()) or as_dtypes("dtype", "fp32")


def _points(
    one: Operation | Measurement | Point, machine: Machine, cache: str, kind: DType
) -> list[Point]:
    """The markers of one thing given: an operation has two where both sides are shown.

    What the roof allows is that of the side asked for; with both shown, of its own side. A point
    without an operation lies under the memory roof of ``kind``.
    """
    if isinstance(one, Operation):
        shown = ceiling_lines.sides(machine, one.compute_dtype, cache)
        return [_bound(one, _roof(one, machine, side), side) for side in shown]
    if isinstance(one, Point):
        if one.op is None:
            allowed = roof_of(machine, kind).attainable(one.intensity)
            return [replace(one, allowed=one.allowed or allowed)]
        bound = _bound(one.op, _roof(one.op, machine, one.side or cache), one.side)
        allowed, note = one.allowed or bound.rate, one.note or bound.note
        return [replace(one, allowed=allowed, note=note, level=bound.level)]
    against = one.cache if cache == "both" else cache
    bound = _bound(one.op, _roof(one.op, machine, against), one.cache)
    trap = ceiling_lines.mark(one.op, one.flop_per_s, machine) if one.cache == "warm" else ""
    note = "\n".join(filter(None, (bound.note, trap)))
    return [replace(bound, rate=one.flop_per_s, kind="measured", note=note)]


def _bound(op: Operation, roof: Roofline, side: str | None) -> Point:
    """The point of ``op`` on ``roof``, where its traffic at the roof's level places it."""
    rate = roof.attainable(op.intensity_at(roof.level))
    moved = f"{si(op.traffic[roof.level], 'B')} moved" if roof.level in op.traffic else ""
    return Point(op, rate, "bound", None, rate, side, moved, roof.level)


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
    roofs: Sequence[Roofline], points: Sequence[Point]
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Whole decades, at most half a decade of empty margin, that hold every ridge and point."""
    xs = [p.intensity for p in points] + [roof.ridge for roof in roofs] + [1 / 12]
    x_lo = 10 ** (math.floor(2 * math.log10(min(xs)) - 0.3) / 2)
    x_hi = 10 ** (math.ceil(2 * math.log10(max(xs)) + 1) / 2)
    lowest = [x_lo * roof.bandwidth for roof in roofs if roof.level == "dram"]
    ys = [p.rate for p in points] + [roof.peak for roof in roofs] + lowest
    y_hi = 10 ** (math.ceil(2 * math.log10(max(ys)) + 0.4) / 2)
    return (x_lo, x_hi), (10 ** (math.floor(2 * math.log10(min(ys))) / 2), y_hi)


def _title(machines: Sequence[Machine], kinds: Sequence[DType]) -> str:
    many, what = len(machines), ", ".join(map(str, kinds))
    name = machines[0].name if many == 1 else f"{many} machines"
    return f"{name} · {what} · {', '.join(sorted({m.provenance for m in machines}))}"


def _words(
    machines: Sequence[Machine], kinds: Sequence[DType], points: Sequence[Point], cache: str
) -> str:
    lines = [captions.origin(m) for m in machines]
    for m, roof in [(m, roof_of(m, kind)) for m in machines for kind in kinds]:
        lines.append(
            f"{m.name}, {roof.dtype}: {si(roof.bandwidth, 'B/s')} from memory, "
            f"{si(roof.peak, 'FLOP/s')} at the peak, ridge at {theme.ridge(roof.ridge)} FLOP/byte."
        )
    return "\n".join([*lines, *(_point_words(p, machines[0], cache) for p in points)])


def _point_words(p: Point, machine: Machine, cache: str) -> str:
    """One point in words: a measured one against its roof, and why it may be above that of memory.

    A guess or a prediction is its rate alone.
    """
    allowed, name = p.allowed or p.rate, captions.what(p.op) if p.op else p.text or "A point"
    if p.kind in ("predicted", "guess") or (p.op is None and p.kind == "bound"):
        return f"{name}: {p.kind} {si(p.rate, 'FLOP/s')}."
    if p.op is None:
        measured = captions.measured(p.rate, allowed, p.side or "cold")
        return f"{name}: {theme.intensity(p.intensity)} FLOP/byte.{measured}"
    if p.kind == "bound":
        return captions.bound(p.op, _roof(p.op, machine, p.side or cache))
    warm = ceiling_lines.mark(p.op, p.rate, machine)
    trap = ceiling_lines.trap(p.op, p.rate, machine) if warm and warm in p.note else ""
    if p.side:
        roof = _roof(p.op, machine, p.side)
        measured = ceiling_lines.sides_words(p.side, p.op, p.rate, roof)
    elif trap and cache == "cold":
        measured = f" Measured warm, {si(p.rate, 'FLOP/s')}."
    else:
        measured = captions.measured(p.rate, allowed, cache)
    return captions.count(p.op, p.level) + measured + trap
