"""``rl.show.walk``: one layer, more and more tokens, under two roofs side by side.

Both panels have the same axes: intensity, and speed as a share of the machine's own peak. So all
roofs are equally high, and what differs between them is where they bend.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import Any, TypeAlias

from matplotlib.axes import Axes

from rooflab.count.blas import gemm
from rooflab.count.operation import Operation
from rooflab.count.si import plain, si
from rooflab.count.validation import size
from rooflab.labs.llm.layer_time import (
    draw_measured,
    layer_name,
    log_axes,
    name_measured,
    tokens_of,
)
from rooflab.measure.measurement import Measurement
from rooflab.predict.roofline import Roofline
from rooflab.show import theme
from rooflab.show.figures import Inset, Panel, Picture, page
from rooflab.show.labels import Crowd, Spot, spots_around
from rooflab.show.rooflines.roofs import label_ridge, names, short

TOKENS = (1, 4, 16, 64, 256, 1024)
X_LIMITS, Y_LIMITS = (0.2, 4000), (1 / 800, 4)
AXES: dict[str, Any] = {
    "xlabel": "FLOP per byte", "xlim": X_LIMITS, "ylim": Y_LIMITS, "yticks": [1, 0.1, 0.01],
    "xticks": [1, 10, 100, 1000], "xticklabels": [1, 10, 100, 1000],
}  # fmt: skip
SHARES = ["100 %", "10 %", "1 %"]
LETTER = 8.5  # pixels of a letter of a heading
INSET, NARROW = Inset(68, 14, 50, 56), Inset(68, 14, 50, 94)  # with two lines above a panel; four
WITH_LINES = 6.5  # inches of a figure whose headings have two lines
WORDS = (("memory", "mem."), ("computing", "comp."))  # what limits each side
Look: TypeAlias = dict[str, Any]


def walk(
    inputs: int,
    outputs: int,
    roofs: Sequence[Roofline],
    measured: Sequence[Measurement] = (),
    *,
    ax: Sequence[Axes] | None = None,
    width: float | None = None,
    height: float | None = None,
) -> Picture | Panel:
    """Draw a layer of 1 to 1024 tokens under each of two ``roofs``, side by side.

    Hollow markers are what a roof allows.

    Parameters
    ----------
    inputs, outputs : int
        Numbers of a row that goes in, and of one that comes out.
    roofs : sequence of Roofline
        Two.
    measured : sequence of Measurement, optional
        As in :func:`rooflab.show.tokens`, on the machine of the first roof.
    ax : pair of matplotlib.axes.Axes, optional
        Two axes to draw into, where they are. None: a figure of its own.
    width, height : float, optional
        As in :func:`rooflab.show.tokens`.

    Returns
    -------
    Picture or Panel
        A figure, or what was drawn into ``ax``. Its ``words`` say what it shows, and ``save(path)``
        writes a pdf, svg or png.

    Examples
    --------
    >>> epyc = rl.Roofline(rl.recording("epyc-2core-vm").machine, "fp32")
    >>> h100 = rl.Roofline(rl.machine("h100-sxm"), "bf16")
    >>> print(rl.show.walk(4096, 11008, [epyc, h100]).words)
    A layer 4096 → 11 008 under two roofs.
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
    title = f"{layer_name(inputs, outputs)}, 1 to 1024 tokens: share of the peak"
    inset = INSET if width is None or width >= WITH_LINES else NARROW
    with page(ax, width, height, None, title, high=0.57, inset=inset, panels=2) as sheet:
        for roof, panel, seen, shares in zip(both, sheet.axes, (timed, {}), (SHARES, [""] * 3)):
            log_axes(panel, **AXES, yticklabels=shares)
            _panel(sheet.crowd(panel), roof, _ops(inputs, outputs, roof), seen)
    return sheet.done(_words(inputs, outputs, both, timed))


def _ops(inputs: int, outputs: int, roof: Roofline) -> dict[int, Operation]:
    return {count: gemm(count, outputs, inputs, roof.dtype) for count in TOKENS}


def _panel(
    crowd: Crowd, roof: Roofline, ops: dict[int, Operation], timed: dict[int, Measurement]
) -> None:
    """Draw one roof, its two sides, its points, hollow and filled, and their labels."""
    ax, share, edges = crowd.ax, crowd.share, (X_LIMITS[0], roof.ridge, X_LIMITS[1])
    corners = [(x, roof.attainable(x) / roof.peak) for x in edges]
    for one, other, ink in zip(corners, corners[1:], (theme.CARRYING, theme.COMPUTING)):
        ax.axvspan(one[0], other[0], color=ink, alpha=0.09, lw=0, zorder=0)
        ax.plot(*zip(one, other), color=ink, lw=2.6 * share, solid_capstyle="round", zorder=2)
    soft: Look = {"color": theme.CEILING, "lw": 1.4 * share, "zorder": 1}
    ax.plot([roof.ridge] * 2, [Y_LIMITS[0], 1], ":", **soft)
    crowd.add_line([crowd.pixel(*corner) for corner in corners])
    hollow: Look = {"ms": 8 * share, "mfc": theme.PAPER, "mec": theme.INK, "mew": 2 * share}
    at = {count: (op.intensity, roof.attainable(op.intensity) / roof.peak)
          for count, op in ops.items()}  # fmt: skip
    for point in at.values():
        ax.plot(*point, theme.style("gemm").marker, zorder=4, **hollow)
        crowd.add_disc(*crowd.pixel(*point), 7)
    there = {count: ops.get(count, one.op) for count, one in timed.items()}
    places = draw_measured(
        crowd, [(there[n].intensity, one.flop_per_s / roof.peak) for n, one in timed.items()]
    )
    _label(crowd, roof, at)
    name_measured(crowd, places)


def _label(crowd: Crowd, roof: Roofline, at: dict[int, tuple[float, float]]) -> None:
    """Name the roof, its ridge, its two sides and the points on it."""
    (left, _, right, top), (ridge, _) = crowd.frame, crowd.pixel(roof.ridge, 1)
    letters = int((right - left) / LETTER)
    name = names(short(roof.machine))[0 if len(short(roof.machine)) <= letters else -1]
    rates = ", ".join(one.replace(" ", "\u00a0")  # a number keeps its unit
                      for one in (si(roof.peak, "FLOP/s"), si(roof.bandwidth, "B/s")))  # fmt: skip
    said = (f"{name} ({roof.machine.provenance.split(' on ')[0]})", f"{roof.dtype}: {rates}")
    lines = [fill(words, letters, max_lines=2, placeholder=" …") for words in said]
    corner = Spot(left, top + 8, "left", "bottom")
    crowd.annotate("\n".join(lines), corner, fontsize=theme.SMALL)
    label_ridge(crowd, roof, weight="bold")
    sides = ((left, ridge, theme.CARRYING), (ridge, right, theme.COMPUTING))
    for (start, end, ink), texts in zip(sides, WORDS):
        middle = Spot((start + end) / 2, top - 4, "center", "top")
        fits = [one for one in texts if crowd.extent(one)[0] < end - start - 4]
        crowd.write(fits, [middle], forced=False, color=ink)
    for count, point in at.items():
        x, y = place = crowd.pixel(*point)
        above = (x, y + 9, "center") if x > ridge else (x - 9, y + 5, "right")
        spots = [Spot(*above, "bottom"), *spots_around(x, y, 9)]
        weight = "bold" if count == 64 else None
        crowd.write(f"{count}", spots, [place], forced=False, weight=weight)


def _words(
    inputs: int, outputs: int, roofs: Sequence[Roofline], timed: dict[int, Measurement]
) -> str:
    lines = [f"{layer_name(inputs, outputs)} under two roofs."]
    for roof in roofs:
        ops = _ops(inputs, outputs, roof)
        left = [str(count) for count, op in ops.items() if roof.limit(op) == "memory"]
        lines.append(
            f"{short(roof.machine)}, {roof.dtype} ({roof.machine.provenance}): ridge at "
            f"{theme.ridge(roof.ridge)} FLOP/byte; of {', '.join(map(str, TOKENS))} tokens "
            f"{', '.join(left) or 'none'} {'is' if len(left) == 1 else 'are'} limited by memory."
        )
    one, other = sorted(roof.ridge for roof in roofs)
    lines.append(f"The ridges are {plain(other / one, 3)} times apart.")
    if timed:
        share = (f"{n}: {one.flop_per_s / roofs[0].peak:.0%}" for n, one in sorted(timed.items()))
        lines.append(
            f"Measured, tokens: share of the peak ({short(roofs[0].machine)}): {', '.join(share)}."
        )
    return "\n".join(lines)
