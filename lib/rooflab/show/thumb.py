"""The band of the thumb rules: "below 4 FLOP/byte it is memory, above 8 it is compute".

The rules were made for one machine. The band stays where it is while the ridge moves away.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real

from rooflab.show import theme
from rooflab.show.axes import Frame
from rooflab.show.labels import Crowd, Spot

COLOUR = "#CC79A7"  # Okabe and Ito's purple: no roof and no operation of the live roofline has it
SHADE = 0.22


def as_band(band: object) -> tuple[float, float] | None:
    """Return ``band`` as two intensities in FLOP/byte, the lower first; None stays None."""
    if band is None:
        return None
    pair = band if isinstance(band, Sequence) and not isinstance(band, str) else ()
    if len(pair) != 2 or any(isinstance(e, bool) or not isinstance(e, Real) for e in pair):
        raise TypeError(f"band={band!r} must be two intensities in FLOP/byte, e.g. (4, 8)")
    low, high = (float(edge) for edge in pair)
    if not 0 < low < high < math.inf:
        raise ValueError(f"band={band!r} must rise from above 0, e.g. (4, 8)")
    return low, high


def labels(band: tuple[float, float]) -> tuple[str, str]:
    """Return what stands left and right of ``band``: ``< 4 memory`` and ``> 8 compute?``."""
    low, high = (theme.intensity(edge) for edge in band)
    return f"< {low} memory", f"> {high} compute?"


def pack(band: tuple[float, float] | None, frame: Frame) -> dict[str, object] | None:
    """Return the band in pixels of ``frame`` with its labels; None where there is none."""
    if band is None:
        return None
    left, right = (min(max(frame.x(edge), frame.left), frame.width - frame.right) for edge in band)
    return {
        "x0": round(left, 2), "x1": round(right, 2), "colour": COLOUR, "shade": SHADE,
        "labels": labels(band), "said": said(band),
    }  # fmt: skip


def draw(crowd: Crowd, band: tuple[float, float] | None) -> None:
    """Shade ``band`` and write its labels beside it, at the top if nothing else is there."""
    if band is None:
        return
    ax = crowd.ax
    ax.axvspan(*band, color=COLOUR, alpha=SHADE, lw=0, zorder=0.5)
    foot, top = ax.get_ylim()
    for text, edge, ha, side in zip(labels(band), band, ("right", "left"), (-6, 6)):
        (x, low), (_, high) = crowd.pixel(edge, foot), crowd.pixel(edge, top)
        places = [
            *(high - down for down in (26, 46, 66)),
            *(low + up for up in (24, 44, 64, 6, 84)),
        ]
        spots = [Spot(x + side, y, ha, "bottom") for y in places]
        crowd.write(text, spots, color="#8C3A6B", fontsize=theme.SMALL)


def said(band: tuple[float, float] | None) -> str:
    """Say what the band is."""
    if band is None:
        return ""
    low, high = (theme.intensity(edge) for edge in band)
    return (
        f"Shaded: thumb rules call less than {low} FLOP/byte memory and more than {high} compute; "
        "the ridge decides, and it moves with the machine and the dtype."
    )
