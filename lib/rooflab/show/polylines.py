"""Roofs as polylines: the corners of each ceiling of a machine, in values and in pixels.

A browser that only interpolates along such a line needs no formula of the roofline itself.
"""

from __future__ import annotations

from dataclasses import dataclass

from rooflab.count.si import si
from rooflab.predict.estimate import CACHES
from rooflab.predict.machine import Machine
from rooflab.predict.roofline import Roofline
from rooflab.show import theme
from rooflab.show.axes import Frame

CHOICES = (*CACHES, "both")  # what a picture can show: one side, or both side by side
MIX = "best"  # the drawn roof is one that no mix of reading and writing passes
LEVELS = {"l1": "L1", "l2": "L2", "l3": "L3", "dram": "memory"}


@dataclass(frozen=True)
class Ceiling:
    """One roof of a machine: a slanted part (``level``'s bandwidth) and a flat one (the peak)."""

    level: str
    roof: Roofline

    @property
    def slope_text(self) -> str:
        """What stands on the slanted part, e.g. ``memory 4.80 TB/s``."""
        return f"{LEVELS[self.level]} {si(self.roof.bandwidth, 'B/s')}"

    @property
    def flat_text(self) -> str:
        """What stands on the flat part, e.g. ``fp32 67.0 TFLOP/s``."""
        return f"{self.roof.dtype} {si(self.roof.peak, 'FLOP/s')}"

    def corners(self, frame: Frame) -> list[float]:
        """Pixels x0, y0, x1, y1, x2, y2 of left end, ridge and right end of the roof."""
        ends = (10**frame.x_lo, self.roof.ridge, 10**frame.x_hi)
        return [
            pixel
            for intensity in ends
            for pixel in (frame.x(intensity), frame.y(self.roof.attainable(intensity)))
        ]


def roof(machine: Machine, kind: object, level: str = "dram", mix: str = MIX) -> Roofline:
    """Return the roofline that a picture draws: the best mix of reads and writes of ``level``."""
    return Roofline(machine, kind, level, mix=mix)


def missing(machine: Machine, kind: object, cache: str) -> str:
    """Return what ``machine`` lacks for a roofline of dtype ``kind``, in a few words, or ""."""
    if not machine.has_peak(kind):
        return f"no {kind} figure"
    if "dram" not in machine.levels:
        return "no memory bandwidth"
    if cache != "cold" and len(machine.levels) == 1:
        return "no cache bandwidth"
    return ""


def ceilings(machine: Machine, kind: object, cache: str, mix: str = MIX) -> tuple[Ceiling, ...]:
    """Return the roofs of ``machine`` for dtype ``kind``, nearest memory level first.

    "cold": operands come from memory, one roof. "warm": they may still lie in a cache, one roof a
    level; "both" needs the same. Raises ValueError naming the machine and the figure that is
    missing.
    """
    reason = missing(machine, kind, cache)
    if reason:
        which = "warm" if cache == "both" else cache
        raise ValueError(f"{machine.name}: {reason}, so there is no {which} roof to draw")
    levels = ("dram",) if cache == "cold" else machine.levels
    return tuple(Ceiling(level, roof(machine, kind, level, mix)) for level in levels)


def lines(
    machine: Machine, kind: object, cache: str, frame: Frame, mix: str = MIX
) -> list[dict[str, object]]:
    """Return :func:`ceilings` as plain data for the browser."""
    return [
        {
            "level": ceiling.level,
            "corners": [round(pixel, 4) for pixel in ceiling.corners(frame)],
            "slope": ceiling.slope_text,
            "flat": ceiling.flat_text,
            "ridge": theme.ridge(ceiling.roof.ridge),
        }
        for ceiling in ceilings(machine, kind, cache, mix)
    ]
