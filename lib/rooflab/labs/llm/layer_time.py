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
from typing import Any, TypeAlias

from matplotlib.axes import Axes

from rooflab.count.blas import gemm
from rooflab.count.dtypes import dtype as _dtype
from rooflab.count.si import grouped, plain, times
from rooflab.count.validation import size
from rooflab.measure.measurement import Measurement
from rooflab.predict.roofline import Roofline
from rooflab.show import theme
from rooflab.show.figures import Inset, Panel, Picture, page
from rooflab.show.labels import Crowd, Spot, spots_around
from rooflab.show.rooflines.machine_choices import listed
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
    inputs : int
        Numbers of a row that goes in.
    outputs : int
        Numbers of a row that comes out.
    roofs : Roofline or sequence of Roofline
        One to four.
    measured : Measurement or sequence of Measurement, optional
        From ``rl.measure`` of ``rl.gemv(outputs, inputs, batch=tokens, shared=("a",))`` or of
        ``rl.gemm(tokens, outputs, inputs)``, on the machine of the first roof.
    each : bool, optional
        True draws the time for each token instead of the time for all of them.
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
    title = f"{layer_name(inputs, outputs)}: {_NAMES[each]}"
    curves = [_curve(inputs, outputs, roof, each) for roof in several]
    seen = _shown(points, each)
    limits = _limits([y for _, y in seen] + [y for one in curves for y in one.ys])
    inset = Inset(26 + 10 * max(map(len, map(times, _decades(limits)))), 14, 52)
    with page(ax, width, height, None, title, high=0.58, inset=inset) as sheet:
        _axes(sheet.ax, limits)
        crowd = sheet.crowd(sheet.ax)
        _room(crowd, curves)
        for curve, dashes in zip(curves, _DASHES):
            _draw(crowd, curve, dashes)
        _dots(crowd, seen)
        _name_curves(crowd, curves)
        _name_knees(crowd, curves)
        _name_dots(crowd, seen)
    return sheet.done(_words(inputs, outputs, several, points))


def _points(
    inputs: int, outputs: int, measured: Sequence[Measurement] | Measurement, roof: Roofline
) -> list[tuple[int, float]]:
    """(tokens, time in units of one token's under ``roof``) of every measurement."""
    unit = roof.time(gemm(1, outputs, inputs, roof.dtype))
    found = {}
    for one in [measured] if isinstance(measured, Measurement) else measured:
        count = tokens_of(one, inputs, outputs)
        found[count] = one.median_s / unit
    return sorted(found.items())


def tokens_of(one: object, inputs: int, outputs: int) -> int:
    """Tokens that a measured layer was given; TypeError or ValueError if it is no such layer."""
    if not isinstance(one, Measurement):
        raise TypeError(f"measured: {one!r} is a {type(one).__name__}; give rl.measure(…)")
    count = one.op.flops // (2 * inputs * outputs)
    if count < 1 or one.op.flops != gemm(count, outputs, inputs).flops:
        raise ValueError(f"measured: {one.op.label} is no layer {inputs} → {outputs}")
    return count


def _shown(points: Sequence[tuple[int, float]], each: bool) -> list[tuple[int, float]]:
    return [(count, y / count if each else y) for count, y in points]


def _bound(
    inputs: int, outputs: int, roof: Roofline, count: float, each: bool
) -> float:  # times one token's
    moved = (count * (inputs + outputs) + inputs * outputs) * _dtype(roof.dtype).bits / 8
    longest = max(2 * count * inputs * outputs / roof.peak, moved / roof.bandwidth)
    found = longest / roof.time(gemm(1, outputs, inputs, roof.dtype))
    return found / count if each else found


@dataclass(frozen=True)
class _Curve:
    """A bound over tokens: ``ys`` at the tokens ``at``; carrying up to ``bend``, then computing."""

    roof: Roofline
    at: tuple[float, ...]
    ys: tuple[float, ...]
    bend: float

    @property
    def bends(self) -> bool:
        """Whether its knee is in the picture."""
        return self.bend <= MOST

    @property
    def first(self) -> int:
        """How many of its points lie up to the knee."""
        return sum(count <= self.bend for count in self.at)

    @property
    def knee(self) -> tuple[float, float]:
        """Tokens and time of the last point before it bends."""
        return self.at[self.first - 1], self.ys[self.first - 1]

    @property
    def ink(self) -> str:
        """The colour of its right end."""
        return theme.COMPUTING if self.bends else theme.CARRYING

    @property
    def name(self) -> list[str]:
        """Whose roof it is and where that is from, in short lines."""
        source = self.roof.machine.provenance.split(" on ")[0]
        whole = f"{short(self.roof)}, {self.roof.dtype} ({source})"
        held = re.sub(r"(?<=\b\d) |(?<=\d\d) ", "\u00a0", whole)  # a number keeps its unit
        return textwrap.wrap(held, LETTERS)


def _curve(inputs: int, outputs: int, roof: Roofline, each: bool) -> _Curve:
    bend = knee(inputs, outputs, roof)
    at = [2 ** (step / 16) for step in range(16 * 10 + 1)]
    at = sorted({*at, bend} if bend <= MOST else at)
    return _Curve(
        roof, tuple(at), tuple(_bound(inputs, outputs, roof, count, each) for count in at), bend
    )


def _limits(seen: Sequence[float]) -> tuple[float, float]:
    """Ends of an axis that holds what is ``seen``, and below it the words at a knee."""
    return 0.38 * min(seen), 1.7 * max(seen)


def _decades(limits: tuple[float, float]) -> list[float]:
    low, high = (math.log10(limit) for limit in limits)
    return [10.0**power for power in range(math.ceil(low), math.floor(high) + 1)]


def _axes(ax: Axes, limits: tuple[float, float]) -> None:
    ax.set(xscale="log", yscale="log", xlim=(0.85, 1.25 * MOST), ylim=limits)
    ticks = _decades(limits)
    ax.set_yticks(ticks, [times(tick) for tick in ticks])
    ax.minorticks_off()
    ax.grid(color=theme.GRID, lw=0.8)
    ax.set_axisbelow(True)
    ax.set_xlabel("tokens at once")
    # Above the axis and level, as in a roofline.
    ax.annotate(Y_NAME, (0, 1), (4, 7), "axes fraction", "offset points", va="bottom", ha="left")


def _room(crowd: Crowd, curves: Sequence[_Curve]) -> None:
    """Make the axis longer than the curves, by the room that their names need."""
    left, _, right, top = crowd.frame
    wide = max(crowd.width(line, theme.SMALL) for curve in curves for line in curve.name) + 14
    own = max(0.5, 1 - wide / (right - left))  # the curves' part of the width
    low, high = (math.log(edge) for edge in (0.85, MOST))
    crowd.ax.set_xlim(0.85, math.exp(low + (high - low) / own))
    step = 2 if own * (right - left) / 11 < 38 else 1  # doublings from number to number
    marks = [2**power for power in range(0, 11, step)]
    crowd.ax.set_xticks(marks, [f"{mark}" for mark in marks])
    crowd.add_box((left, top + 2, left + crowd.width(Y_NAME) + 8, top + 30))


def _draw(crowd: Crowd, curve: _Curve, dashes: str) -> None:
    """Draw a bound, with a stroke at its knee."""
    first, ax, thick = curve.first, crowd.ax, 2.2 * crowd.share
    look: Look = {"lw": thick, "zorder": 3}
    ax.plot(curve.at[:first], curve.ys[:first], dashes, color=theme.CARRYING, **look)
    ax.plot(curve.at[first - 1 :], curve.ys[first - 1 :], dashes, color=theme.COMPUTING, **look)
    crowd.room.add_line([crowd.pixel(x, y) for x, y in zip(curve.at, curve.ys)], 2.0, CROSSED)
    if curve.bends:
        tall = TICK * POINTS * crowd.share
        ax.plot(*curve.knee, "|", ms=tall, mec=theme.INK, mew=thick, zorder=4)
        crowd.add_disc(*crowd.pixel(*curve.knee), TICK / 2)


def _name_curves(crowd: Crowd, curves: Sequence[_Curve]) -> None:
    """Write whose roof a curve is at its right end, one name above the other."""
    ranked = sorted(curves, key=lambda one: one.ys[-1])
    ends = [crowd.pixel(one.at[-1], one.ys[-1]) for one in ranked]
    tall = [LINE * len(one.name) for one in ranked]
    _, foot, _, top = crowd.frame
    up, down = (way([y for _, y in ends], tall, edge)
                for way, edge in ((_above, foot), (_below, top)))  # fmt: skip
    both = [(low + high) / 2 for low, high in zip(up, down)]  # some names give way, up and down
    for curve, (x, _), y in zip(ranked, ends, _above(_below(both, tall, top), tall, foot)):
        look: Look = {"color": curve.ink, "fontsize": theme.SMALL, "linespacing": 1.1}
        crowd.write("\n".join(curve.name), [Spot(x + 9, y)], **look)


def _above(wanted: Sequence[float], tall: Sequence[float], foot: float) -> list[float]:
    """Middles of boxes above each other and above ``foot``, near the ones that are wanted."""
    found = []
    for middle, high in zip(wanted, tall):
        found.append(max(middle, foot + high / 2))
        foot = found[-1] + high / 2
    return found


def _below(wanted: Sequence[float], tall: Sequence[float], top: float) -> list[float]:
    """The same below ``top``, the lowest box first, too."""
    return [-y for y in _above([-y for y in wanted[::-1]], tall[::-1], -top)][::-1]


def _name_knees(crowd: Crowd, curves: Sequence[_Curve]) -> None:
    """Write the tokens of each knee where no line passes."""
    for curve in curves:
        if curve.bends:
            x, y = own = crowd.pixel(*curve.knee)
            below = [
                Spot(x + side, y - down, ha, "top")
                for down in (TICK / 2 + 3, TICK, 1.5 * TICK, 2 * TICK)
                for side, ha in ((0, "center"), (-9, "right"), (9, "left"), (-24, "right"))
            ]
            left = crowd.frame[0] + 6
            edge = [Spot(left, y - down * TICK, "left", "top") for down in (1, 1.5, 2, 2.5, 3)]
            spots = [*below, *edge, *spots_around(x, y, TICK / 2 + 3)]
            look: Look = {"fontsize": theme.FONT, "weight": "bold"}
            crowd.write(f"knee at {plain(curve.bend, 3)}", spots, [own], **look)


def _dots(crowd: Crowd, points: Sequence[tuple[int, float]]) -> None:
    """Measured points, with the marker of a product, filled."""
    if points:
        look: Look = {"ms": 8 * crowd.share, "color": theme.INK, "zorder": 5}
        crowd.ax.plot(*zip(*points), ls="", marker=theme.style("gemm").marker, **look)
    for one in points:
        crowd.add_disc(*crowd.pixel(*one), 7)


def _name_dots(crowd: Crowd, points: Sequence[tuple[int, float]]) -> None:
    """One of the measured points says what they are."""
    places = [crowd.pixel(*one) for one in points]
    spots = [spot for place in places for spot in spots_around(*place, 11)]
    if spots:
        crowd.write("measured", spots, places, forced=False, fontsize=theme.FONT)


def short(roof: Roofline) -> str:
    """Name of a roof's machine without what stands in brackets."""
    return roof.machine.name.split("(")[0].strip()


def layer_name(inputs: int, outputs: int) -> str:
    """A layer as titles name it."""
    return f"A layer {grouped(inputs)} → {grouped(outputs)}"


def _words(
    inputs: int, outputs: int, roofs: Sequence[Roofline], points: Sequence[tuple[int, float]]
) -> str:
    lines = [
        f"{short(roof)}, {roof.dtype} ({roof.machine.provenance}): "
        + (
            f"time bends at {plain(bend, 3)} tokens."
            if math.isfinite(bend := knee(inputs, outputs, roof))
            else "more tokens never end up limited by computing."
        )
        for roof in roofs
    ]
    said = ", ".join(f"{count}: {plain(y, 3)}" for count, y in points)
    unit = f"the bound for one token ({short(roofs[0])})"
    measured = [f"Measured, tokens: time in units of {unit}: {said}."] if points else []
    return "\n".join([f"{layer_name(inputs, outputs)}.", *lines, *measured])
