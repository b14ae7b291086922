"""The ceilings of a roofline as data: roofs, overhead lines, cold and warm, and bands."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from numbers import Real

from rooflab.count import blas
from rooflab.count.dtypes import DTypeLike
from rooflab.count.operation import Operation
from rooflab.count.si import si, times
from rooflab.predict.estimate import CACHES, overhead
from rooflab.predict.machine import Machine
from rooflab.predict.roofline import Roofline
from rooflab.show import theme

CHOICES = (*CACHES, "both")  # what a picture can show: one side, or both side by side
MIX = "best"  # the drawn roof is one that no mix of reading and writing passes
LEVELS = {"l1": "L1", "l2": "L2", "l3": "L3", "dram": "memory"}


def roof(machine: Machine, kind: DTypeLike, level: str = "dram", mix: str = MIX) -> Roofline:
    """Return the roofline that a picture draws: the best mix of reads and writes of ``level``."""
    return Roofline(machine, kind, level, mix=mix)


def slope_text(roof: Roofline) -> str:
    """Return what stands on the slanted part of a roof: ``memory 4.80 TB/s``."""
    return f"{LEVELS[roof.level]} {si(roof.bandwidth, 'B/s')}"


def missing(machine: Machine, kind: DTypeLike, cache: str) -> str:
    """Return what ``machine`` lacks for a roofline of dtype ``kind``, in a few words, or ""."""
    if not machine.has_peak(kind):
        return f"no {kind} figure"
    if "dram" not in machine.levels:
        return "no memory bandwidth"
    if cache != "cold" and len(machine.levels) == 1:
        return "no cache bandwidth"
    return ""


def ceilings(machine: Machine, kind: DTypeLike, cache: str) -> tuple[Roofline, ...]:
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
    return tuple(roof(machine, kind, level) for level in levels)


# The overhead line: what an operation reaches if all of its time is the cost of the call.
#
# A call takes its time before any work is done. As a rate that is FLOP ÷ call time: a line that
# small sizes slide down along, far below every roof, until they are large enough to reach the roof.
# Without a side it takes a warm call, the cheapest there is, so that nothing lies above it.


SAY_OVERHEAD = {
    "call_warm": " More than half of that time is the call itself, {call}.",
    "call_cold": " More than half of that time is the call itself, {call} with its operands "
    "in memory.",
}
LOWEST = 1e8  # FLOP/s: the foot of a picture that shows the line
#: Routines that one line over n stands for, and how many edges of length n each has.
ROUTINES = {"axpy": 1, "dot": 1, "scale": 1, "ger": 2, "gemv": 2, "gemm": 3}
_SIZES = tuple(dict.fromkeys(round(2 ** (step / 4)) for step in range(84)))


@dataclass(frozen=True)
class CallLine:
    """Calls of ``name``, ``seconds`` each, whatever they do: (FLOP/byte, FLOP/s) up to the roof."""

    name: str
    seconds: float
    points: tuple[tuple[float, float], ...]

    @property
    def label(self) -> str:
        """What the key says of the line: ``AXPY call 111 ns``."""
        return f"{self.name.upper()} call {si(self.seconds, 's')}"


def call_line(
    build: Callable[[int], Operation], machine: Machine, cache: str | None
) -> CallLine | None:
    """Return the line of ``build(n)`` on ``machine`` over n = 1, 2, …, cut off at its roof.

    ``cache``: "cold" or "warm", which decides the call and the roof; the line ends on it. None: a
    warm call and the highest roof; it ends at its last size below. None where none was timed.
    """
    smallest = build(1)
    call = overhead(smallest, machine, cache or "warm")
    if not call:
        return None
    roofs = {level: roof(machine, smallest.compute_dtype, level) for level in machine.levels}
    points: list[tuple[float, float]] = []
    below = 0.0
    for n in _SIZES:
        op = build(n)
        # A batch of separate calls costs several: the line says what each of them reaches.
        x, rate = op.intensity, op.flops / overhead(op, machine, cache or "warm")
        allowed = (
            roofs[home(op, machine, cache)].attainable(x)
            if cache
            else max(one.attainable(x) for one in roofs.values())
        )
        above = math.log(rate / allowed)
        if above >= 0:
            if points and cache:
                points.append(_between(points[-1], (x, rate), below / (below - above)))
            break
        points.append((x, rate))
        below = above
    return CallLine(smallest.name, call, tuple(points)) if len(points) > 1 else None


def _between(a: tuple[float, float], b: tuple[float, float], t: float) -> tuple[float, float]:
    """The point a share ``t`` of the way from ``a`` to ``b`` on logarithmic axes."""
    return tuple(p ** (1 - t) * q**t for p, q in zip(a, b))


def of_operations(
    ops: Iterable[Operation], machine: Machine, cache: str
) -> dict[tuple[str, str], CallLine]:
    """Return the lines of the routines of ``ops``, all edges equal, by operation name and dtype."""
    found = {}
    for op in ops:
        key = (op.name, str(op.compute_dtype))
        if key in found or op.name not in ROUTINES:
            continue
        line = call_line(square(*key), machine, cache)
        if line:
            found[key] = line
    return found


def square(name: str, kind: DTypeLike) -> Callable[[int], Operation]:
    """Return what makes the routine ``name`` in dtype ``kind`` with all its edges equal to n."""
    make, edges = getattr(blas, name), ROUTINES[name]
    return lambda n: make(*[n] * edges, kind)


# Cold and warm side by side: what is said of each.
#
# A warm measurement may lie far above the DRAM roof. It is no mistake and no miracle: the bytes
# came from a cache, whose roof is higher. So each side is compared with its own roof, and what a
# warm one is of the DRAM roof is said with the place it was read from.


SIDES = {"cold": "Cold", "warm": "Warm"}  # as a sentence begins with them
TRAP_MARK = "×{gap} of memory: {place}"
SAY_SIDES = {
    "side": " {side}: {how} {rate}, ×{gap} {where} {roof}.",
    "side_bound": " {side}: by {roof} {rate}.",
    "side_outside": " {side}: {how} {rate}, which lies below this picture.",
    "trap": " That is ×{gap} of the memory roof, more than 100 %: {source}.",
}
PEAK = "the peak"


def sides(machine: Machine, kind: DTypeLike, cache: str) -> tuple[str, ...]:
    """Return the sides that ``cache`` shows: cold, and warm only where it has a figure."""
    asked = CACHES if cache == "both" else (cache,)
    return tuple(side for side in asked if not missing(machine, kind, side)) or ("cold",)


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


def over(op: Operation, rate: float, machine: Machine) -> str:
    """Return how far ``rate`` is above the DRAM roof, as ``1.8``; "" if not, after rounding."""
    allowed = roof(machine, op.compute_dtype).attainable(op.intensity_at("dram"))
    ratio = times(rate / allowed).removeprefix("×")
    return ratio if rate > allowed and ratio != "1" else ""


def mark(op: Operation, rate: float, machine: Machine) -> str:
    """Return what stands at a warm ``rate`` above the DRAM roof of ``machine``, else ""."""
    gap = over(op, rate, machine)
    return TRAP_MARK.format(gap=gap, place=place(home(op, machine, "warm"))) if gap else ""


def trap(op: Operation, rate: float, machine: Machine) -> str:
    """Say why a warm ``rate`` may lie above the DRAM roof of ``machine``; "" if it does not."""
    gap, why = over(op, rate, machine), source(home(op, machine, "warm"))
    return SAY_SIDES["trap"].format(gap=gap, source=why) if gap else ""


def sides_words(side: str, op: Operation, rate: float, bound: Roofline) -> str:
    """Say what a ``rate`` measured on one side is of the roof over it."""
    intensity = op.intensity_at(bound.level)
    allowed = bound.attainable(intensity)
    values = {
        "side": SIDES[side], "how": "measured", "rate": si(rate, "FLOP/s"),
        "roof": PEAK if intensity >= bound.ridge else roof_word(bound.level),
        "where": "above" if rate > allowed else "below",
        "gap": times(max(rate / allowed, allowed / rate)).removeprefix("×"),
    }  # fmt: skip
    return SAY_SIDES["side"].format(**values)


# The band of the thumb rules: "below 4 FLOP/byte it is memory, above 8 it is compute".
#
# The rules were made for one machine. The band stays where it is while the ridge moves away.


COLOUR = theme.colour("soft")  # grey: the band says neither carrying nor computing
SHADE = 0.16


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


def band_words(band: tuple[float, float]) -> str:
    """Say what the band is."""
    low, high = (theme.intensity(edge) for edge in band)
    return (
        f"Shaded: thumb rules call less than {low} FLOP/byte memory and more than {high} compute; "
        "the ridge decides, and it moves with the machine and the dtype."
    )
