"""Sentences of lesson 06, chosen from the reader's own memory mountain and chases."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rooflab.count.si import si
from rooflab.exercises.sentences import Conclusion, Rows, cautions, choose
from rooflab.labs.memory.bandwidths import Bandwidth, Bandwidths
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
     "The system tells of an {home} of {size:B}, though. So perhaps even the largest array lay in "
     "that cache, and not in memory."),
    ("near", lambda home, near, far: not home and (far < NEAR * near or far < MEMORY_HOP),
     "That is little for a trip to memory. Perhaps the largest array still lay in a cache."),
    ("far", lambda home, near, far: not home and far >= max(NEAR * near, MEMORY_HOP),
     "The chase gave it nothing to do."),
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


HEAD = "| | asked for | fetched | written back | both ways |\n|---|---|---|---|---|"
AT_MOST: Rows = (  # where more may travel than was asked for, nobody knows whether it does
    ("", lambda more: more, "up to {rate:B/s}"),
    ("", lambda more: not more, "{rate:B/s}"),
)


def bandwidths(found: Bandwidths) -> Conclusion:
    """Every bandwidth of one core, what its bytes are, and why it is what it is."""
    rows = [
        f"| {one.name} | {si(one.rate, 'B/s')} | {_at_most(one, one.fetched)} | "
        f"{si(one.written, 'B/s') if one.written else '–'} | {_at_most(one, one.bus)} |"
        for one in found.figures
    ]
    said = [f"- {one.sentence}" for one in found.figures]
    rates = [one.rate for one in found.figures if one.lessons]
    case = "several" if max(rates) > 1.1 * min(rates) else "alike"
    return Conclusion(case, "\n".join([HEAD, *rows, "", *said]))


def _at_most(one: Bandwidth, rate: float) -> str:
    return choose(AT_MOST, more=one.bus > 1.001 * one.rate, rate=rate).text


CONCLUSIONS: Mapping[str, Callable[..., Conclusion]] = {
    "06-hop": hop, "06-levels": levels, "06-underway": underway, "06-bandwidths": bandwidths,
}
