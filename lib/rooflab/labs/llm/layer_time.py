"""``rl.show.tokens``: what a linear layer's time does as it is given more and more tokens.

Every curve is a bound, in units of its own time for one token: so a core and a GPU, a thousandfold
apart, bend in one picture, each at its knee. Measured points have the unit of the first curve, so
that none of them lies below it: in units of a measured token they could, and look impossible.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, TypeAlias

from matplotlib.axes import Axes

from rooflab.count.blas import gemm
from rooflab.count.dtypes import dtype as _dtype
from rooflab.count.si import plain
from rooflab.count.validation import size
from rooflab.measure.measurement import Measurement
from rooflab.predict.roofline import Roofline
from rooflab.show import theme
from rooflab.show.figures import Inset, Panel, Picture, page
from rooflab.show.labels import Crowd, spots_around
from rooflab.show.rooflines.machine_choices import listed
from rooflab.show.rooflines.roofs import along, names

MOST = 1024  # tokens on the axis
# Edges of a layer on sliders: tokens, two steps to every doubling; widths of language models.
TOKENS = tuple(sorted({2**e for e in range(13)} | {3 * 2**e for e in range(11)}))
WIDTHS = (16, 256, 768, 1600, 2048, 3072, 4096, 5120, 8192, 11008, 14336, 28672)
_DASHES = ("-", "--", "-.", ":")  # of the roofs, in their order
INSET = Inset(62, 22, 52, 34)
Look: TypeAlias = dict[str, Any]
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

    Raises
    ------
    ValueError
        For sizes that are not positive, more roofs than fit, or a measurement of another layer.
    TypeError
        For an argument of a wrong type.

    Examples
    --------
    >>> roof = rl.Roofline(rl.machine("h100-sxm"), "bf16")
    >>> print(rl.show.tokens(4096, 11008, roof).words)
    A layer 4096 → 11008.
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
    title = f"A layer {inputs} → {outputs}: {_NAMES[each]}"
    with page(ax, width, height, None, title, high=0.58, inset=INSET) as sheet:
        _axes(sheet.ax, [y for _, y in _shown(points, each)], each)
        crowd = sheet.crowd(sheet.ax)
        curves = [_curve(crowd, inputs, outputs, r, each, d) for r, d in zip(several, _DASHES)]
        _dots(crowd, _shown(points, each))
        for roof, (knee_at, line) in zip(several, curves):
            _name_curve(crowd, roof, knee_at, line)
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


def _axes(ax: Axes, seen: Sequence[float], each: bool) -> None:
    ax.set(xscale="log", yscale="log", xlim=(0.85, 1.25 * MOST))
    top = max(seen, default=1)
    ax.set(ylim=(1 / 700, max(150, 15 * top)) if each else (0.4, max(500, 1.5 * top)))
    marks = [2**power for power in range(0, 11)]
    ax.set_xticks(marks, [f"{mark}" for mark in marks])
    ticks = (1, 0.1, 0.01) if each else (1, 10, 100)
    ax.set_yticks(ticks, [f"{tick:g}×" for tick in ticks])
    ax.minorticks_off()
    ax.grid(color=theme.GRID, lw=0.8)
    ax.set_axisbelow(True)
    ax.set_xlabel("tokens at once")


Places: TypeAlias = list[tuple[float, float]]  # pixels


def _curve(
    crowd: Crowd, inputs: int, outputs: int, roof: Roofline, each: bool, dashes: str
) -> tuple[Places, Places]:
    """Draw a bound, carrying up to its knee and computing after it; its knee and its places."""
    bend, ax, thick = knee(inputs, outputs, roof), crowd.ax, 2.2 * crowd.share
    at = [2 ** (step / 16) for step in range(16 * 10 + 1)]
    at = sorted({*at, bend} if bend <= MOST else at)
    ys = [_bound(inputs, outputs, roof, count, each) for count in at]
    first = sum(count <= bend for count in at)
    look: Look = {"lw": thick, "zorder": 3}
    ax.plot(at[:first], ys[:first], dashes, color=theme.CARRYING, **look)
    ax.plot(at[first - 1 :], ys[first - 1 :], dashes, color=theme.COMPUTING, **look)
    places = [crowd.pixel(x, y) for x, y in zip(at, ys)]
    crowd.add_line(places)
    if bend > MOST:
        return [], places
    ring: Look = {"ms": 11 * crowd.share, "mfc": theme.PAPER, "mec": theme.INK, "mew": thick}
    ax.plot(bend, ys[first - 1], "o", zorder=4, **ring)
    crowd.add_disc(*places[first - 1], 8)
    look = {"fontsize": theme.FONT, "weight": "bold"}
    own = places[first - 1]
    crowd.write(f"knee at {plain(bend, 3)}", spots_around(*own, 12), [own], **look)
    return [own], places


def _name_curve(crowd: Crowd, roof: Roofline, bend: Places, line: Places) -> None:
    """Write whose roof a curve belongs to along one of its parts, shorter where there is less
    room."""
    name, kind = short(roof), f", {roof.dtype}"
    source = f" ({roof.machine.provenance})"
    texts = (f"{name}{kind}{source}", f"{name}{kind}", *names(name))
    corners = [line[0], *bend, line[-1]]
    parts = sorted(pairwise(corners), key=lambda part: part[0][0] - part[1][0])
    shares = [0.05 * step for step in range(4, 18)]
    spots = [spot for start, end in parts for spot in along(start, end, shares)]
    crowd.write(texts, spots, fontsize=theme.SMALL)


def _dots(crowd: Crowd, points: Sequence[tuple[int, float]]) -> None:
    """Measured points, of which one says so."""
    if not points:
        return
    look: Look = {"ms": 8 * crowd.share, "color": theme.INK, "zorder": 5}
    crowd.ax.plot(*zip(*points), ls="", marker=theme.style("gemv").marker, **look)
    places = [crowd.pixel(*one) for one in points]
    for place in places:
        crowd.add_disc(*place, 7)
    spots = [spot for place in places for spot in spots_around(*place, 11)]
    crowd.write("measured", spots, places, forced=False, fontsize=theme.FONT)


def short(roof: Roofline) -> str:
    """Name of a roof's machine without what stands in brackets."""
    return roof.machine.name.split("(")[0].strip()


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
    return "\n".join([f"A layer {inputs} → {outputs}.", *lines, *measured])
