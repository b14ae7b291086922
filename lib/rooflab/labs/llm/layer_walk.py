"""``rl.show.walk``: one layer, more and more tokens, under two roofs side by side.

Both panels have the same axes: intensity, and speed as a share of the machine's own peak. So all
roofs are equally high, and what differs between them is where they bend.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg

from rooflab.count.blas import gemm
from rooflab.count.operation import Operation
from rooflab.count.si import plain, si
from rooflab.count.validation import size
from rooflab.labs.llm.layer_time import short, tokens_of
from rooflab.measure.measurement import Measurement
from rooflab.predict.roofline import Roofline
from rooflab.show import theme
from rooflab.show.canvas import DPI
from rooflab.show.figures import Picture
from rooflab.show.labels import Crowd, Spot

TOKENS = (1, 4, 16, 64, 256, 1024)
X_LIMITS, Y_LIMITS = (0.2, 4000), (1 / 800, 4)
LEFT, RIGHT, BOTTOM, TOP, BETWEEN = 68, 12, 50, 82, 24  # pixels around the panels
SIDES = ("#CFE6F5", "#FBE3D0")  # limited by memory, limited by computing
NARROW = 60  # pixels: less does not hold the word on it
LONGEST = 34  # characters of a machine's name above a panel


def walk(
    inputs: int,
    outputs: int,
    roofs: Sequence[Roofline],
    measured: Sequence[Measurement] = (),
    *,
    width: int = 760,
    height: int = 430,
) -> Picture:
    """Draw a layer of 1 to 1024 tokens under each of two ``roofs``, side by side.

    Hollow markers are what a roof allows.

    Parameters
    ----------
    inputs : int
        Numbers of a row that goes in.
    outputs : int
        Numbers of a row that comes out.
    roofs : sequence of Roofline
        Two.
    measured : sequence of Measurement, optional
        As in :func:`rooflab.show.tokens`, on the machine of the first roof.
    width : int, optional
        In pixels at 100 dpi, 760 by default.
    height : int, optional
        In pixels at 100 dpi, 430 by default.

    Returns
    -------
    Picture
        A figure; ``words`` says what it shows.

    Raises
    ------
    ValueError
        For sizes that are not positive, another number of roofs, or a measurement of another layer.
    TypeError
        For an argument of a wrong type.

    Examples
    --------
    >>> epyc = rl.Roofline(rl.recording("epyc-2core-vm").machine, "fp32")
    >>> h100 = rl.Roofline(rl.machine("h100-sxm"), "bf16")
    >>> print(rl.show.walk(4096, 11008, [epyc, h100]).words)
    A layer 4096 → 11008 under two roofs.
    AMD EPYC, 2 threads, fp32 (measured on ...): ridge at ... tokens 1, 4 are limited by memory.
    NVIDIA H100 SXM5 80 GB, bf16 (datasheet): ridge at 295 FLOP/byte; ... limited by memory.
    The ridges are ... times apart.
    """
    size("inputs", inputs), size("outputs", outputs)
    both: list[Any] = list(roofs) if isinstance(roofs, (list, tuple)) else [roofs]
    for roof in both:
        if not isinstance(roof, Roofline):
            raise TypeError(f"roofs: {roof!r} is a {type(roof).__name__}; give two rl.Roofline")
    if len(both) != 2:
        raise ValueError(f"roofs: {len(both)} given; two stand side by side")
    timed = {tokens_of(one, inputs, outputs): one for one in measured}
    across = (width - LEFT - RIGHT - BETWEEN) / 2
    with rc_context(theme.RC):
        figure = Picture((width / DPI, height / DPI), dpi=DPI)
        FigureCanvasAgg(figure)
        figure.text(
            LEFT / width, 1 - 8 / height,
            f"A layer {inputs} → {outputs}, 1 to 1024 tokens: share of the peak",
            va="top", fontsize=theme.FONT + 1, weight="bold",
        )  # fmt: skip
        for number, roof in enumerate(both):
            left = LEFT + number * (across + BETWEEN)
            ax = figure.add_axes((
                left / width, BOTTOM / height, across / width, 1 - (BOTTOM + TOP) / height,
            ))  # fmt: skip
            _panel(ax, roof, _ops(inputs, outputs, roof), timed if number == 0 else {})
            _axes(ax, first=number == 0)
    figure.words = _words(inputs, outputs, both, timed)
    return figure


def _ops(inputs: int, outputs: int, roof: Roofline) -> dict[int, Operation]:
    return {count: gemm(count, outputs, inputs, roof.dtype) for count in TOKENS}


def _axes(ax: Axes, first: bool) -> None:
    ax.set_xticks([1, 10, 100, 1000], ["1", "10", "100", "1000"])
    ax.set_yticks([1, 0.1, 0.01], ["100 %", "10 %", "1 %"] if first else [""] * 3)
    ax.minorticks_off()
    ax.grid(color=theme.GRID, lw=0.8)
    ax.set_axisbelow(True)
    ax.set_xlabel("intensity: FLOP per byte")


def _panel(
    ax: Axes, roof: Roofline, ops: dict[int, Operation], timed: dict[int, Measurement]
) -> None:
    """One roof, its two sides, its points, and their labels where there is room."""
    ax.set(xscale="log", yscale="log", xlim=X_LIMITS, ylim=Y_LIMITS)
    for (start, end), colour in zip(
        ((X_LIMITS[0], roof.ridge), (roof.ridge, X_LIMITS[1])), SIDES, strict=True
    ):
        ax.axvspan(start, end, color=colour, lw=0, zorder=0)
    xs = (X_LIMITS[0], roof.ridge, X_LIMITS[1])
    ys = [roof.attainable(x) / roof.peak for x in xs]
    ax.plot(xs, ys, color="#444444", lw=2.6, solid_joinstyle="miter", zorder=2)
    ax.plot([roof.ridge] * 2, [Y_LIMITS[0], 1], ":", color=theme.CEILING, lw=1.4, zorder=1)
    crowd = Crowd(ax)
    crowd.add_line([crowd.pixel(x, y) for x, y in zip(xs, ys)])
    at = {count: (op.intensity, roof.attainable(op.intensity) / roof.peak)
          for count, op in ops.items()}  # fmt: skip
    _dots(crowd, at, timed, roof)
    _names(crowd, roof, at)
    ax.annotate(
        f"{_name(roof)}\n{roof.dtype}: {si(roof.peak, 'FLOP/s')}, {si(roof.bandwidth, 'B/s')}",
        (0, 1), (0, 6), "axes fraction", "offset points", va="bottom", fontsize=theme.SMALL,
    )  # fmt: skip


def _dots(
    crowd: Crowd,
    at: dict[int, tuple[float, float]],
    timed: dict[int, Measurement],
    roof: Roofline,
) -> None:
    look = theme.style("gemm")
    for x, y in at.values():
        crowd.ax.plot(x, y, look.marker, ms=8, mfc=theme.PAPER, mec=look.colour, mew=2, zorder=4)
        crowd.add_disc(*crowd.pixel(x, y), 7)
    style = theme.style("gemv")
    for count, one in timed.items():
        x = at[count][0] if count in at else one.op.intensity
        share = one.flop_per_s / roof.peak
        crowd.ax.plot(x, share, style.marker, ms=7, color=theme.INK, zorder=5)
        crowd.add_disc(*crowd.pixel(x, share), 7)
    if timed:
        crowd.ax.plot([], [], style.marker, ms=7, color=theme.INK, label="measured")
        crowd.ax.plot([], [], look.marker, ms=8, mfc=theme.PAPER, mec=look.colour, mew=2,
                      label="by the roof")  # fmt: skip
        crowd.ax.legend(loc="lower right", bbox_to_anchor=(1, 0.1), fontsize=theme.FONT,
                        frameon=False, handletextpad=0.2)  # fmt: skip


def _names(crowd: Crowd, roof: Roofline, at: dict[int, tuple[float, float]]) -> None:
    """Name the ridge, the points and the two sides; the first to be named has the best place."""
    foot = crowd.pixel(roof.ridge, Y_LIMITS[0])
    spots = [
        Spot(foot[0] + side, foot[1] + up, ha, "bottom")
        for up in (6, 26) for side, ha in ((6, "left"), (-6, "right"))
    ]  # fmt: skip
    crowd.write(f"ridge {theme.ridge(roof.ridge)}", spots, fontsize=theme.FONT, weight="bold")
    for count, (x, y) in at.items():
        px, py = crowd.pixel(x, y)
        flat = x > roof.ridge
        spots = [
            Spot(px if flat else px - 9, py + (9 if flat else 5), "center" if flat else "right",
                 "bottom"),
            Spot(px + 10, py - 6, "left", "top"),
        ]  # fmt: skip
        crowd.write(f"{count}", spots, fontsize=theme.FONT, weight="bold" if count == 64 else None)
    top, edges = crowd.pixel(1, Y_LIMITS[1])[1] - 4, (X_LIMITS[0], roof.ridge, X_LIMITS[1])
    ends = [crowd.pixel(x, 1)[0] for x in edges]
    for left, right, word in zip(ends, ends[1:], ("memory", "computing"), strict=False):
        if right - left > NARROW:
            crowd.write(word, [Spot((left + right) / 2, top, "center", "top")],
                        fontsize=theme.FONT, color=theme.CEILING)  # fmt: skip


def _name(roof: Roofline) -> str:
    name = f"{short(roof)} ({roof.machine.provenance.split(' on ')[0]})"
    return name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"


def _words(
    inputs: int, outputs: int, roofs: Sequence[Roofline], timed: dict[int, Measurement]
) -> str:
    lines = [f"A layer {inputs} → {outputs} under two roofs."]
    for roof in roofs:
        ops = _ops(inputs, outputs, roof)
        left = [str(count) for count, op in ops.items() if roof.limit(op) == "memory"]
        lines.append(
            f"{short(roof)}, {roof.dtype} ({roof.machine.provenance}): ridge at "
            f"{theme.ridge(roof.ridge)} FLOP/byte; of {', '.join(map(str, TOKENS))} tokens "
            f"{', '.join(left) or 'none'} {'is' if len(left) == 1 else 'are'} limited by memory."
        )
    one, other = sorted(roof.ridge for roof in roofs)
    lines.append(f"The ridges are {plain(other / one, 3)} times apart.")
    if timed:
        share = (f"{n}: {one.flop_per_s / roofs[0].peak:.0%}" for n, one in sorted(timed.items()))
        lines.append(
            f"Measured, tokens: share of the peak ({short(roofs[0])}): {', '.join(share)}."
        )
    return "\n".join(lines)
