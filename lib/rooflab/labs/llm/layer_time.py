"""``rl.show.tokens``: what a linear layer's time does as it is given more and more tokens.

Every curve is a bound, in units of its own time for one token: so a core and a GPU, a thousandfold
apart, bend in one picture, each at its knee. Measured points have the unit of the first curve, so
that none of them lies below it: in units of a measured token they could, and look impossible.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from matplotlib.axes import Axes

from rooflab.count.blas import gemm
from rooflab.count.dtypes import dtype as _dtype
from rooflab.count.si import grouped, plain, times
from rooflab.count.validation import size
from rooflab.measure.measurement import Measurement
from rooflab.predict.roofline import Roofline
from rooflab.show import theme
from rooflab.show.figures import Inset, Panel, Picture, page
from rooflab.show.labels import Crowd, Spot, spots_around, spread
from rooflab.show.rooflines.machine_choices import listed
from rooflab.show.rooflines.roofs import short
from rooflab.show.scene.painter import POINTS

MOST = 1024  # tokens on the axis
# Edges of a layer on sliders: tokens, two steps to every doubling; widths of language models.
TOKENS = tuple(sorted({2**e for e in range(13)} | {3 * 2**e for e in range(11)}))
WIDTHS = (16, 256, 768, 1600, 2048, 3072, 4096, 5120, 8192, 11008, 14336, 28672)
_DASHES = ("-", "--", "-.", ":")  # of the roofs, in their order
LETTERS = 16  # of a line of a curve's name, which stands to the right of the curve
LINE, TICK = 18, 22  # pixels of such a line; of the stroke at a knee
CROSSED = 12  # places that words at a knee rather pass over than to lie on a curve
Look: TypeAlias = dict[str, Any]
Place: TypeAlias = tuple[float, float]
Y_NAME = "time ÷ bound"
_NAMES = {False: "time ÷ bound for one token", True: "time for each token ÷ bound for one"}


def knee(inputs: int, outputs: int, roof: Roofline) -> float:
    """Tokens at which the layer's intensity is the ridge; infinity if it never is.

    2/s ÷ (1/M + 1/N + 1/K) = ridge, solved for M.
    """
    left = 16 / (_dtype(roof.dtype).bits * roof.ridge) - 1 / inputs - 1 / outputs
    return 1 / left if left > 0 else math.inf


def tokens(
    inputs: int,
    outputs: int,
    roofs: Sequence[Roofline] | Roofline,
    measured: Sequence[Measurement] | Measurement = (),
    *,
    each: bool = False,
    ax: Axes | None = None,
    width: float | None = None,
    height: float | None = None,
) -> Picture | Panel:
    """Draw the bound of a layer over its tokens under ``roofs``, and ``measured`` points.

    Parameters
    ----------
    inputs, outputs : int
        Numbers of a row that goes in, and of one that comes out.
    roofs : Roofline or sequence of Roofline
        One to four.
    measured : Measurement or sequence of Measurement, optional
        From ``rl.measure`` of ``rl.gemv(outputs, inputs, batch=tokens, shared=("a",))`` or of
        ``rl.gemm(tokens, outputs, inputs)``, on the machine of the first roof.
    each : bool, optional
        True draws the time for each token instead of the time for all of them.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into, where they are. None: a figure of its own.
    width, height : float, optional
        Inches: 3.3 wide for a paper's column, 7 for a post, 7.6 by default; as high as suits that.

    Returns
    -------
    Picture or Panel
        A figure, or what was drawn into ``ax``. Its ``words`` say what it shows, and ``save(path)``
        writes a pdf, svg or png.

    Examples
    --------
    >>> roof = rl.Roofline(rl.machine("h100-sxm"), "bf16")
    >>> print(rl.show.tokens(4096, 11008, roof).words)
    A layer 4096 → 11 008.
    NVIDIA H100 SXM5 80 GB, bf16 (datasheet): time bends at 328 tokens.
    """
    size("inputs", inputs), size("outputs", outputs)
    several = [roofs] if isinstance(roofs, Roofline) else listed("roofs", roofs, "an rl.Roofline")
    for roof in several:
        if not isinstance(roof, Roofline):
            raise TypeError(f"roofs: {roof!r} is a {type(roof).__name__}; give an rl.Roofline")
    if not 1 <= len(several) <= len(_DASHES):
        raise ValueError(f"roofs: {len(several)} given; 1 to {len(_DASHES)} fit the picture")
    points = _points(inputs, outputs, measured, several[0])
    seen = [(count, y / count if each else y) for count, y in points]
    curves = [_curve(inputs, outputs, roof, each) for roof in several]
    heights = [y for _, y in chain(seen, *(curve.points for curve in curves))]
    limits = 0.38 * min(heights), 1.7 * max(heights)  # below them stand the words at a knee
    decades = range(math.ceil(math.log10(limits[0])), math.floor(math.log10(limits[1])) + 1)
    ticks = [10.0**power for power in decades]
    axis: Look = {"ylim": limits, "yticks": ticks, "yticklabels": [*map(times, ticks)]}
    title = f"{layer_name(inputs, outputs)}: {_NAMES[each]}"
    inset = Inset(26 + 10 * max(map(len, axis["yticklabels"])), 14, 52)
    with page(ax, width, height, None, title, high=0.58, inset=inset) as sheet:
        log_axes(sheet.ax, xlabel="tokens at once", xlim=(0.85, MOST), **axis)
        # Above the axis and level, as in a roofline.
        sheet.ax.annotate(Y_NAME, (0, 1), (4, 7), "axes fraction", "offset points", va="bottom")
        crowd = sheet.crowd(sheet.ax)
        _draw_curves(crowd, curves)
        places = draw_measured(crowd, seen)
        _name_curves(crowd, curves)
        name_measured(crowd, places)
    return sheet.done(_words(inputs, outputs, several, points))


def log_axes(ax: Axes, **settings: Any) -> None:
    """Give ``ax`` log scales and a grid, with its own ``settings``: limits, ticks and names."""
    ax.set(xscale="log", yscale="log", **settings)
    ax.minorticks_off()
    ax.grid(color=theme.GRID, lw=0.8)
    ax.set_axisbelow(True)


def draw_measured(crowd: Crowd, points: Sequence[Place]) -> list[Place]:
    """Draw measured points, with the marker of a product, filled; return their pixels."""
    look: Look = {"ms": 8 * crowd.share, "color": theme.INK, "zorder": 5}
    places = [crowd.pixel(*point) for point in points]
    if places:
        crowd.ax.plot(*zip(*points), theme.style("gemm").marker, **look)
    for place in places:
        crowd.add_disc(*place, 7)
    return places


def name_measured(crowd: Crowd, places: Sequence[Place]) -> None:
    """Say at one of the measured points what they are."""
    spots = [spot for place in places for spot in spots_around(*place, 11)]
    crowd.write("measured", spots, places, forced=False)


def _points(
    inputs: int, outputs: int, measured: Sequence[Measurement] | Measurement, roof: Roofline
) -> list[tuple[int, float]]:
    """(tokens, time in units of one token's under ``roof``) of every measurement."""
    unit = roof.time(gemm(1, outputs, inputs, roof.dtype))
    several = [measured] if isinstance(measured, Measurement) else measured
    return sorted({tokens_of(one, inputs, outputs): one.median_s / unit for one in several}.items())


def tokens_of(one: object, inputs: int, outputs: int) -> int:
    """Tokens that a measured layer was given; TypeError or ValueError if it is no such layer."""
    if not isinstance(one, Measurement):
        raise TypeError(f"measured: {one!r} is a {type(one).__name__}; give rl.measure(…)")
    count = one.op.flops // (2 * inputs * outputs)
    if count < 1 or one.op.flops != gemm(count, outputs, inputs).flops:
        raise ValueError(f"measured: {one.op.label} is no layer {inputs} → {outputs}")
    return count


def _bound(inputs: int, outputs: int, roof: Roofline, count: float, each: bool) -> float:
    """Time of ``count`` tokens, in units of one token's."""
    moved = (count * (inputs + outputs) + inputs * outputs) * _dtype(roof.dtype).bits / 8
    longest = max(2 * count * inputs * outputs / roof.peak, moved / roof.bandwidth)
    found = longest / roof.time(gemm(1, outputs, inputs, roof.dtype))
    return found / count if each else found


@dataclass(frozen=True)
class _Curve:
    """A bound as (tokens, time) ``points``; carrying up to its ``knee``, then computing."""

    roof: Roofline
    points: Sequence[Place]
    knee: float

    @property
    def parts(self) -> list[tuple[str, list[Place]]]:
        """The points of each limit that it has, with its colour."""
        carrying = [point for point in self.points if point[0] <= self.knee]
        computing = [point for point in self.points if point[0] >= self.knee]
        return [(theme.CARRYING, carrying), *[(theme.COMPUTING, computing)][: len(computing)]]

    @property
    def name(self) -> str:
        """Whose roof it is and where that is from, in short lines."""
        source = self.roof.machine.provenance.split(" on ")[0]
        whole = f"{short(self.roof.machine)}, {self.roof.dtype} ({source})"
        held = re.sub(r"(?<=\b\d) |(?<=\d\d) ", "\u00a0", whole)  # a number keeps its unit
        return textwrap.fill(held, LETTERS)


def _curve(inputs: int, outputs: int, roof: Roofline, each: bool) -> _Curve:
    bend, steps = knee(inputs, outputs, roof), {2 ** (step / 16) for step in range(161)}
    at = sorted(steps | {bend} if bend <= MOST else steps)
    return _Curve(roof, [(n, _bound(inputs, outputs, roof, n, each)) for n in at], bend)


def _draw_curves(crowd: Crowd, curves: Sequence[_Curve]) -> None:
    """Draw bounds, with a stroke at each knee, on an axis that has room for names at its right."""
    ax, (left, _, right, _), thick = crowd.ax, crowd.frame, 2.2 * crowd.share
    wide = max(crowd.extent(curve.name, theme.SMALL, linespacing=1.1)[0] for curve in curves) + 14
    own = max(0.5, 1 - wide / (right - left))  # the curves' part of the width
    ax.set_xlim(0.85, 0.85 * (MOST / 0.85) ** (1 / own))
    step = 2 if own * (right - left) / 11 < 38 else 1  # doublings from number to number
    marks = [2**power for power in range(0, 11, step)]
    ax.set_xticks(marks, [f"{mark}" for mark in marks])
    for curve, dashes in zip(curves, _DASHES):
        for ink, points in curve.parts:
            ax.plot(*zip(*points), dashes, color=ink, lw=thick, zorder=3)
        crowd.room.add_line([crowd.pixel(*point) for point in curve.points], 2.0, CROSSED)
        if curve.knee <= MOST:
            at = curve.parts[0][1][-1]
            ax.plot(*at, "|", ms=TICK * POINTS * crowd.share, mec=theme.INK, mew=thick, zorder=4)
            crowd.add_disc(*crowd.pixel(*at), TICK / 2)


def _name_curves(crowd: Crowd, curves: Sequence[_Curve]) -> None:
    """Write whose roof a curve is at its right end, one above the other, and tokens at knees."""
    ranked = sorted(curves, key=lambda one: one.points[-1][1])
    x, (_, foot, _, top) = crowd.pixel(MOST, 1)[0] + 9, crowd.frame
    tall = LINE * max(curve.name.count("\n") + 1 for curve in ranked)
    ends = np.array([crowd.pixel(*curve.points[-1])[1] for curve in ranked])
    for curve, y in zip(ranked, spread(ends, tall, foot + tall / 2, top - tall / 2).tolist()):
        look: Look = {"color": curve.parts[-1][0], "fontsize": theme.SMALL, "linespacing": 1.1}
        crowd.write(curve.name, [Spot(x, y)], **look)
    for curve in curves:
        if curve.knee <= MOST:
            x, y = own = crowd.pixel(*curve.parts[0][1][-1])
            spots = [Spot(x, y - down * TICK, "center", "top") for down in (0.6, 1, 1.5)]
            spots += [spot for gap in (0.6, 1) for spot in spots_around(x, y, gap * TICK)]
            crowd.write(f"knee at {plain(curve.knee, 3)}", spots, [own], weight="bold")


def layer_name(inputs: int, outputs: int) -> str:
    """A layer as titles name it."""
    return f"A layer {grouped(inputs)} → {grouped(outputs)}"


def _words(
    inputs: int, outputs: int, roofs: Sequence[Roofline], points: Sequence[tuple[int, float]]
) -> str:
    lines = [
        f"{short(roof.machine)}, {roof.dtype} ({roof.machine.provenance}): "
        + (
            f"time bends at {plain(bend, 3)} tokens."
            if math.isfinite(bend := knee(inputs, outputs, roof))
            else "more tokens never end up limited by computing."
        )
        for roof in roofs
    ]
    said = ", ".join(f"{count}: {plain(y, 3)}" for count, y in points)
    unit = f"the bound for one token ({short(roofs[0].machine)})"
    measured = [f"Measured, tokens: time in units of {unit}: {said}."] if points else []
    return "\n".join([f"{layer_name(inputs, outputs)}.", *lines, *measured])
