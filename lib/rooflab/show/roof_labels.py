"""The words of a roofline drawing's roofs: bandwidths, peaks and ridges, each figure once."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from rooflab.count.si import si
from rooflab.show import theme
from rooflab.show.labels import Crowd, Spot
from rooflab.show.polylines import Ceiling


def label_ceilings(
    crowd: Crowd, ceilings: Sequence[Ceiling], active: Collection[str], name: str = ""
) -> None:
    """Write the bandwidths: one on its slanted line, several in a key, bold where they count."""
    if len(ceilings) == 1:
        label_slope(crowd, ceilings[0], name)
        return
    box = crowd.ax.get_window_extent()
    right = [
        Spot(box.x1 - 170, box.y1 - down * box.height, "left", "top") for down in (0.02, 0.3, 0.4)
    ]
    heading = f"{name}, roofs from the top" if name else "roofs from the top"
    rows = [(ceiling.slope_text, ceiling.level in active) for ceiling in ceilings]
    crowd.write_rows(
        [(heading, False), *rows], [Spot(box.x0 + 8, right[0].y, "left", "top"), *right]
    )


def label_slope(crowd: Crowd, ceiling: Ceiling, name: str = "") -> None:
    """Write the bandwidth of ``ceiling`` along its slanted line, where there is room."""
    ax, roof = crowd.ax, ceiling.roof
    (x_lo, x_hi), y_lo = ax.get_xlim(), ax.get_ylim()[0]
    left = max(x_lo, y_lo / roof.bandwidth)
    ends = [crowd.pixel(x, roof.attainable(x)) for x in (left, min(roof.ridge, x_hi))]
    (x0, y0), (x1, y1) = ends
    if x1 - x0 < 60:
        return
    angle = math.degrees(math.atan2(y1 - y0, x1 - x0))
    spots = [
        Spot(x0 + t * (x1 - x0), y0 + t * (y1 - y0) + side, "center", va, angle)
        for side, va in ((11, "bottom"), (-11, "top"))
        for t in (0.3, 0.45, 0.6, 0.2, 0.75, 0.1, 0.9)
    ]
    label = f"{name}: {ceiling.slope_text}" if name else ceiling.slope_text
    crowd.write(label, spots, color="#333333", fontsize=_size(name), weight="bold")


def label_peak(crowd: Crowd, ceiling: Ceiling, text: str, name: str = "") -> None:
    """Write ``text`` on the flat roof of ``ceiling`` and its ridge at the foot."""
    x_hi = crowd.ax.get_xlim()[1]
    roof = ceiling.roof
    right, y = crowd.pixel(x_hi, roof.peak)
    bend = crowd.pixel(min(roof.ridge, x_hi), roof.peak)[0]
    spots = [
        Spot(x, y + side, ha, va)
        for side, va in ((5, "bottom"), (-6, "top"))
        for x, ha in ((right - 4, "right"), ((right + bend) / 2, "center"), (bend + 8, "left"))
    ]
    crowd.write(
        f"{name}: {text}" if name else text,
        spots,
        color="#333333",
        fontsize=_size(name),
        weight="bold",
    )
    ridge, foot = crowd.pixel(roof.ridge, crowd.ax.get_ylim()[0])
    if roof.ridge < x_hi:
        spots = [Spot(ridge + 5, foot + up, "left", "bottom") for up in (5, 20, 35)]
        spots += [Spot(ridge - 5, foot + up, "right", "bottom") for up in (5, 20, 35)]
        crowd.write(
            f"ridge {theme.ridge(roof.ridge)}", spots, color="#333333", fontsize=theme.SMALL
        )


def _size(name: str) -> float:
    """Points of a roof's label: smaller where each carries the machine's ``name`` as well."""
    return theme.SMALL - 1.5 if name else theme.SMALL


def label_machine(
    crowd: Crowd, groups: Sequence[Sequence[Ceiling]], active: Collection[str], name: str = ""
) -> None:
    """Label the roofs of one machine (a group of ceilings per dtype), each figure once.

    ``name`` stands before the labels when there are several machines.
    """
    label_ceilings(crowd, groups[0], active, name)
    # The farthest active level: where both sides are shown that is memory, whose ridge counts.
    tops = [next((c for c in reversed(group) if c.level in active), group[-1]) for group in groups]
    for peak in dict.fromkeys(float(top.roof.peak) for top in tops):
        same = [top for top in tops if top.roof.peak == peak]
        kinds = ", ".join(str(top.roof.dtype) for top in same)
        label_peak(crowd, same[0], f"{kinds} {si(peak, 'FLOP/s')}", name)
