"""``rl.show.tokens``: what a linear layer's time does as it is given more and more tokens.

Every curve is a bound, in units of its own time for one token: so a core and a GPU, a thousandfold
apart, bend in one picture, each at its knee. Measured points have the unit of the first curve, so
that none of them lies below it: in units of a measured token they could, and look impossible.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg

from rooflab.count.blas import gemm
from rooflab.count.dtypes import dtype as _dtype
from rooflab.count.si import plain
from rooflab.count.validation import size
from rooflab.measure.measurement import Measurement
from rooflab.predict.roofline import Roofline
from rooflab.show import theme
from rooflab.show.canvas import DPI
from rooflab.show.figures import Picture
from rooflab.show.machine_choices import listed

MOST = 1024  # tokens on the axis
# Edges of a layer on sliders: tokens, two steps to every doubling; widths of language models.
TOKENS = tuple(sorted({2**e for e in range(13)} | {3 * 2**e for e in range(11)}))
WIDTHS = (16, 256, 768, 1600, 2048, 3072, 4096, 5120, 8192, 11008, 14336, 28672)
_COLOURS = ("#D55E00", "#0072B2", "#007D5C", "#882255")  # of the roofs, in their order
_DASHES = ("-", "--", "-.", ":")
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
    width: int = 760,
    height: int = 440,
) -> Picture:
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
    width : int, optional
        In pixels at 100 dpi, 760 by default.
    height : int, optional
        In pixels at 100 dpi, 440 by default.

    Returns
    -------
    Picture
        A figure; ``words`` says what it shows.

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
    if not 1 <= len(several) <= len(_COLOURS):
        raise ValueError(f"roofs: {len(several)} given; 1 to {len(_COLOURS)} fit the picture")
    points = _points(inputs, outputs, measured, several[0])
    with rc_context(theme.RC):
        figure = Picture((width / DPI, height / DPI), dpi=DPI)
        FigureCanvasAgg(figure)
        ax = figure.add_axes((62 / width, 52 / height, 1 - 84 / width, 1 - 96 / height))
        _axes(ax, [y for _, y in _shown(points, each)], each)
        figure.text(62 / width, 1 - 10 / height, f"A layer {inputs} → {outputs}: {_NAMES[each]}",
                    va="top", fontsize=theme.FONT + 1, weight="bold")  # fmt: skip
        for roof, colour, dashes in zip(several, _COLOURS, _DASHES):
            _curve(ax, inputs, outputs, roof, each, colour, dashes)
        _dots(ax, _shown(points, each))
        ax.legend(loc="upper right" if each else "upper left", fontsize=theme.FONT, frameon=False,
                  borderaxespad=0.2)  # fmt: skip
    figure.words = _words(inputs, outputs, several, points)
    return figure


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


def _curve(
    ax: Axes, inputs: int, outputs: int, roof: Roofline, each: bool, colour: str, dashes: str
) -> None:
    at = [2 ** (step / 16) for step in range(16 * 10 + 1)]
    ys = [_bound(inputs, outputs, roof, count, each) for count in at]
    label = f"{short(roof)}, {roof.dtype} ({roof.machine.provenance})"
    ax.plot(at, ys, dashes, color=colour, lw=2.2, zorder=3, label=label)
    bend = knee(inputs, outputs, roof)
    if bend <= MOST:
        place = (bend, _bound(inputs, outputs, roof, bend, each))
        ax.plot(*place, "o", ms=11, mfc=theme.PAPER, mec=colour, mew=2.2, zorder=4)
        ax.annotate(
            f"knee at {plain(bend, 3)}", place, (-8, -8) if each else (0, -12),
            textcoords="offset points", ha="right" if each else "center", va="top",
            fontsize=theme.FONT, color=colour, weight="bold",
        )  # fmt: skip


def _dots(ax: Axes, points: Sequence[tuple[int, float]]) -> None:
    if points:
        ax.plot(
            *zip(*points), ls="", label="measured", marker=theme.style("gemv").marker, ms=8,
            color=theme.INK, zorder=5,
        )  # fmt: skip


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
