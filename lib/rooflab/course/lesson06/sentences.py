"""Sentences of lesson 06, chosen from the reader's own memory mountain and chases."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from rooflab.count.si import si
from rooflab.exercises.sentences import Conclusion, Rows, cautions, choose
from rooflab.labs.memory.bandwidths import TRAVEL, Bandwidths
from rooflab.labs.memory.concurrency import Concurrency
from rooflab.labs.memory.levels import MEMORY_HOP
from rooflab.labs.memory.mountain import Mountain
from rooflab.predict.machine import Machine

NEAR = 10.0  # times: a memory whose hop is less than that slower is strangely near

HOPS = (
    "In {smallest:B} a hop takes {near:s}, in {largest:B} it takes {far:s}, {longer:times} as "
    "long. Meanwhile this core could have done {adds:2} multiply-adds in fp32."
)
TO_MEMORY: Rows = (
    ("cache", lambda home: home,
     "The system reports an {home} of {size:B}, though. So perhaps even the largest array lay in "
     "that cache, and not in memory."),
    ("near", lambda home, near, far: not home and (far < NEAR * near or far < MEMORY_HOP),
     "That is little for a trip to memory. Perhaps the largest array still lay in a cache."),
    ("far", lambda home, near, far: not home and far >= max(NEAR * near, MEMORY_HOP),
     "Instead it waited."),
)  # MEMORY_HOP: a last cache may be 25 times as far as the first


def hop(mountain: Mountain, core: Machine) -> Conclusion:
    """A hop in memory beside one in the nearest cache, and the arithmetic that it would hold."""
    near, far = float(mountain.latency[0]), float(mountain.latency[-1])
    home = next((one for one in mountain.levels if one.kind == "open"), None)
    return choose(
        HOPS, TO_MEMORY, of=(mountain,), smallest=mountain.sizes[0], largest=mountain.sizes[-1],
        near=near, far=far, longer=far / near, adds=far * core.peak("fp32", "vector") / 2,
        home=home and home.name, size=home and (home.told or 0),
    )


def levels(mountain: Mountain) -> Conclusion:
    """The levels in the curve, beside those that the system tells of."""
    seen = [one for one in mountain.levels if one.found is not None]
    told = [one.sentence for one in mountain.levels] + [one.sentence for one in mountain.climbs]
    lines = [f"- {sentence}" for sentence in told]
    odd = [one for one in mountain.levels if one.kind not in ("agrees", "memory") or one.doubtful]
    case = "none" if not seen else "otherwise" if odd or mountain.climbs else "as told"
    return Conclusion(case, "\n".join(lines) + cautions(mountain))


def underway(chases: Concurrency) -> Conclusion:
    """Chases side by side, a stream, and what Little's law makes of them."""
    stream, most = chases.lines(chases.core.stream), chases.most
    case = "prefetchers help" if stream > most * 1.15 else "no more than chases"
    lines = [f"- {one}" for one in chases.sentences]
    return Conclusion(case, "\n".join(lines) + cautions(chases))


def bandwidths(found: Bandwidths) -> Conclusion:
    """What updating and copying are beside reading."""
    rates = [found[mix].rate for mix in TRAVEL]
    case = "several" if max(rates) > 1.1 * min(rates) else "alike"
    return Conclusion(case, "\n".join(f"- {sentence}" for sentence in found.sentences))


USUAL = {"L1": "1 ns", "L2": "4 ns", "L3": "10 to 40 ns", "memory": "60 to 150 ns"}  # of a hop


def keep(mountain: Mountain) -> Conclusion:
    """Numbers worth keeping: what is usual, and beside it what was measured here."""
    own = {one.name: si(one.latency, "s", 2) for one in mountain.levels
           if math.isfinite(one.latency) and not one.doubtful}  # fmt: skip
    rows = [f"| a hop in {name} | {hops} | {own.get(name, '–')} |" for name, hops in USUAL.items()]
    last = f"| a line | 64 bytes | {mountain.line} bytes |"
    case = "all" if own.keys() >= USUAL.keys() else "some"
    text = "\n".join(["| | usual | here |", "|---|---|---|", *rows, last])
    return Conclusion(case, text + cautions(mountain))


CONCLUSIONS: Mapping[str, Callable[..., Conclusion]] = {
    "06-hop": hop, "06-levels": levels, "06-underway": underway, "06-bandwidths": bandwidths,
    "06-keep": keep,
}
