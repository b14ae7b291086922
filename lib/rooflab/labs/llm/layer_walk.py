"""``rl.show.walk``: one layer, more and more tokens, under two roofs side by side.

Both panels have the same axes: intensity, and speed as a share of the machine's own peak. So all
roofs are equally high, and what differs between them is where they bend.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any, TypeAlias

from matplotlib.axes import Axes

from rooflab.count.blas import gemm
from rooflab.count.operation import Operation
from rooflab.count.si import plain, si
from rooflab.count.validation import size
from rooflab.labs.llm.layer_time import layer_name, short, tokens_of
from rooflab.measure.measurement import Measurement
from rooflab.predict.roofline import Roofline
from rooflab.show import theme
from rooflab.show.figures import Inset, Panel, Picture, page
from rooflab.show.labels import Crowd, Spot, spots_around
from rooflab.show.rooflines.roofs import names

TOKENS = (1, 4, 16, 64, 256, 1024)
X_LIMITS, Y_LIMITS = (0.2, 4000), (1 / 800, 4)
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
    inputs : int
        Numbers of a row that goes in.
    outputs : int
        Numbers of a row that comes out.
    roofs : sequence of Roofline
        Two.
    measured : sequence of Measurement, optional
        As in :func:`rooflab.show.tokens`, on the machine of the first roof.
    ax : pair of matplotlib.axes.Axes, optional
        Two axes to draw into, where they are. None: a figure of its own.
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
        for number, (roof, panel) in enumerate(zip(both, sheet.axes, strict=True)):
            _axes(panel, first=number == 0)
            ops = _ops(inputs, outputs, roof)
            _panel(sheet.crowd(panel), roof, ops, timed if number == 0 else {})
    return sheet.done(_words(inputs, outputs, both, timed))


def _ops(inputs: int, outputs: int, roof: Roofline) -> dict[int, Operation]:
    return {count: gemm(count, outputs, inputs, roof.dtype) for count in TOKENS}


def _axes(ax: Axes, first: bool) -> None:
    ax.set(xscale="log", yscale="log", xlim=X_LIMITS, ylim=Y_LIMITS)
    ax.set_xticks([1, 10, 100, 1000], ["1", "10", "100", "1000"])
    ax.set_yticks([1, 0.1, 0.01], ["100 %", "10 %", "1 %"] if first else [""] * 3)
    ax.minorticks_off()
    ax.grid(color=theme.GRID, lw=0.8)
    ax.set_axisbelow(True)
    ax.set_xlabel("FLOP per byte")


def _panel(
    crowd: Crowd, roof: Roofline, ops: dict[int, Operation], timed: dict[int, Measurement]
) -> None:
    """One roof, its two sides, its points, and their labels where there is room."""
    ax, share = crowd.ax, crowd.share
    corners = [(x, roof.attainable(x) / roof.peak) for x in (X_LIMITS[0], roof.ridge, X_LIMITS[1])]
    places = [crowd.pixel(*corner) for corner in corners]
    for one, other, colour in zip(corners, corners[1:], (theme.CARRYING, theme.COMPUTING)):
        ax.axvspan(one[0], other[0], color=colour, alpha=0.09, lw=0, zorder=0)
        ax.plot(*zip(one, other), color=colour, lw=2.6 * share, solid_capstyle="round", zorder=2)
    ridge: Look = {"color": theme.CEILING, "lw": 1.4 * share, "zorder": 1}
    ax.plot([roof.ridge] * 2, [Y_LIMITS[0], 1], ":", **ridge)
    crowd.add_line(places)
    at = {count: (op.intensity, roof.attainable(op.intensity) / roof.peak)
          for count, op in ops.items()}  # fmt: skip
    measured = _dots(crowd, at, timed, roof)
    _names(crowd, roof, at)
    if measured:
        spots = [spot for one in measured for spot in spots_around(*one, 11)]
        crowd.write("measured", spots, measured, forced=False, fontsize=theme.FONT)
    _heading(crowd, roof)


def _heading(crowd: Crowd, roof: Roofline) -> None:
    """The machine and its figures above the panel, in as many lines as its width asks for."""
    left, _, right, top = crowd.frame
    fits = [one for one in names(short(roof)) if crowd.width(one, theme.SMALL) <= right - left]
    name = fits[0] if fits else textwrap.shorten(short(roof), 20, placeholder="…")
    source = f"({roof.machine.provenance.split(' on ')[0]})"
    figures = (f"{roof.dtype}: {si(roof.peak, 'FLOP/s')},", si(roof.bandwidth, "B/s"))
    lines: list[str] = []
    for one, other in (figures, (name, source)):
        whole = f"{one} {other}"
        one_line = crowd.width(whole, theme.SMALL) <= right - left
        lines += [whole] if one_line else [other, one.removesuffix(",")]
    for number, text in enumerate(lines):
        crowd.place(text, Spot(left, top + 8 + 19 * number, "left", "bottom"), theme.SMALL)


def _dots(
    crowd: Crowd, at: dict[int, tuple[float, float]], timed: dict[int, Measurement], roof: Roofline
) -> list[tuple[float, float]]:
    """What the roof allows is hollow, what was measured is filled; the places of the latter."""
    marker, share = theme.style("gemm").marker, crowd.share
    hollow: Look = {"ms": 8 * share, "mfc": theme.PAPER, "mec": theme.INK, "mew": 2 * share}
    for x, y in at.values():
        crowd.ax.plot(x, y, marker, zorder=4, **hollow)
        crowd.add_disc(*crowd.pixel(x, y), 7)
    places = []
    for count, one in timed.items():
        x = at[count][0] if count in at else one.op.intensity
        y = one.flop_per_s / roof.peak
        crowd.ax.plot(x, y, marker, ms=8 * share, color=theme.INK, zorder=5)
        places.append(crowd.pixel(x, y))
        crowd.add_disc(*places[-1], 7)
    return places


def _names(crowd: Crowd, roof: Roofline, at: dict[int, tuple[float, float]]) -> None:
    """Name the ridge, the points and the two sides; the first to be named has the best place."""
    foot = crowd.pixel(roof.ridge, Y_LIMITS[0])
    spots = [
        Spot(foot[0] + side, foot[1] + up, ha, "bottom")
        for up in (6, 26) for side, ha in ((6, "left"), (-6, "right"))
    ]  # fmt: skip
    crowd.write(f"ridge {theme.ridge(roof.ridge)}", spots, fontsize=theme.FONT, weight="bold")
    top, edges = crowd.pixel(1, Y_LIMITS[1])[1] - 4, (X_LIMITS[0], roof.ridge, X_LIMITS[1])
    ends, sides = [crowd.pixel(x, 1)[0] for x in edges], (theme.CARRYING, theme.COMPUTING)
    for left, right, words, ink in zip(ends, ends[1:], WORDS, sides, strict=False):
        room = [one for one in words if crowd.width(one, theme.FONT) < right - left - 4]
        if room:
            middle = [Spot((left + right) / 2, top, "center", "top")]
            crowd.write(room[0], middle, forced=False, fontsize=theme.FONT, color=ink)
    for count, (x, y) in at.items():
        px, py = crowd.pixel(x, y)
        flat = x > roof.ridge
        spots = [
            Spot(px if flat else px - 9, py + (9 if flat else 5), "center" if flat else "right",
                 "bottom"),
            Spot(px + 10, py - 6, "left", "top"),
            Spot(px, py - 9, "center", "top"),
        ]  # fmt: skip
        look: Look = {"fontsize": theme.FONT, "weight": "bold" if count == 64 else None}
        crowd.write(f"{count}", spots, [(px, py)], forced=False, **look)


def _words(
    inputs: int, outputs: int, roofs: Sequence[Roofline], timed: dict[int, Measurement]
) -> str:
    lines = [f"{layer_name(inputs, outputs)} under two roofs."]
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
