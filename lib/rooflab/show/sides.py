"""Cold and warm side by side: how each side looks, and what is said of it.

A warm measurement may lie far above the DRAM roof. It is no mistake and no miracle: the bytes came
from a cache, whose roof is higher. So each side is compared with its own roof, and what a warm one
is of the DRAM roof is said with the place it was read from.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rooflab.count.operation import Operation
from rooflab.count.si import si, times
from rooflab.predict.machine import Machine
from rooflab.predict.roofline import Roofline
from rooflab.show.polylines import CACHES, LEVELS, missing, roof


@dataclass(frozen=True)
class Side:
    """How one side looks: the ``colour`` and ``radius`` (pixels) of the ring around its markers."""

    name: str
    colour: str
    radius: int


# Okabe and Ito's sky blue and orange, which no operation has; warm's ring is wider, so that both
# are seen where the two sides coincide.
SIDES = {"cold": Side("Cold", "#56B4E9", 13), "warm": Side("Warm", "#E69F00", 17)}
TRAP_MARK = "×{gap} of memory: {place}"
SAY = {
    "side": " {side}: {how} {rate}, ×{gap} {where} {roof}.",
    "side_bound": " {side}: by {roof} {rate}.",
    "side_outside": " {side}: {how} {rate}, which lies below this picture.",
    "trap": " That is ×{gap} of the DRAM roof, more than 100 %: {source}.",
    "trap_label": TRAP_MARK,
}
PEAK = "the peak"


def sides(machine: Machine | None, kind: object, cache: str) -> tuple[str, ...]:
    """Return the sides that ``cache`` shows: cold, and warm only where it has a figure."""
    if cache == "cold":
        return (cache,)
    if cache == "warm":
        return ("cold",) if machine is not None and missing(machine, kind, "warm") else (cache,)
    there = [side for side in CACHES if machine is not None and not missing(machine, kind, side)]
    return tuple(there) or ("cold",)


def last(machine: Machine | None, kind: object, cache: str) -> str:
    """Return the side whose roofs are drawn uppermost: warm where it is shown."""
    return sides(machine, kind, cache)[-1]


def home(op: Operation, machine: Machine, side: str) -> str:
    """Return the memory level whose roof bounds ``op`` on one ``side``."""
    return machine.home(op.working_set) if side == "warm" else "dram"


def roof_word(level: str) -> str:
    """Return the slanted roof of ``level`` as the sentences name it: ``the L2 roof``."""
    return f"the {LEVELS[level]} roof"


def place(level: str) -> str:
    """Return where a warm operation of home ``level`` was read from; "dram" holds no whole one."""
    return "partly a cache" if level == "dram" else LEVELS[level]


def source(level: str) -> str:
    """Return :func:`place` as a reason."""
    return (
        "some of it is read from a cache"
        if level == "dram"
        else f"it is read from {LEVELS[level]}, not from memory"
    )


def over(rate: float, allowed: float) -> str:
    """Return how far ``rate`` is above ``allowed``, as ``1.8``; "" if it is not, after rounding."""
    ratio = times(rate / allowed).removeprefix("×")
    return ratio if rate > allowed and ratio != "1" else ""


def mark(op: Operation, rate: float, machine: Machine) -> str:
    """Return what stands at a warm ``rate`` above the DRAM roof of ``machine``, else ""."""
    gap = over(rate, roof(machine, op.compute_dtype).attainable(op.intensity_at("dram")))
    return TRAP_MARK.format(gap=gap, place=place(home(op, machine, "warm"))) if gap else ""


def trap(op: Operation, rate: float, machine: Machine) -> str:
    """Say why a warm ``rate`` may lie above the DRAM roof of ``machine``; "" if it does not."""
    gap = over(rate, roof(machine, op.compute_dtype).attainable(op.intensity_at("dram")))
    return SAY["trap"].format(gap=gap, source=source(home(op, machine, "warm"))) if gap else ""


def said(side: str, how: str, op: Operation, rate: float, bound: Roofline) -> str:
    """Say one side: ``rate`` is "measured" or "predicted" against ``bound``, or is the "bound"."""
    intensity = op.intensity_at(bound.level)
    allowed = bound.attainable(intensity)
    values = {
        "side": SIDES[side].name, "how": how, "rate": si(rate, "FLOP/s"),
        "roof": PEAK if intensity >= bound.ridge else roof_word(bound.level),
        "where": "above" if rate > allowed else "below",
        "gap": times(max(rate / allowed, allowed / rate)).removeprefix("×"),
    }  # fmt: skip
    return SAY["side_bound" if how == "bound" else "side"].format(**values)


def outside(side: str, how: str, rate: float) -> str:
    """Say a ``rate`` in FLOP/s that the picture leaves out."""
    return SAY["side_outside"].format(side=SIDES[side].name, how=how, rate=si(rate, "FLOP/s"))


def pack(levels: Iterable[str]) -> dict[str, object]:
    """Return what a browser needs to draw and say both sides: looks, words for each level."""
    known = list(levels)
    return {
        "looks": {
            key: {"name": s.name, "colour": s.colour, "radius": s.radius}
            for key, s in SIDES.items()
        },
        "roof": {**{level: roof_word(level) for level in known}, "peak": PEAK},
        "place": {level: place(level) for level in known},
        "source": {level: source(level) for level in known},
    }  # fmt: skip
