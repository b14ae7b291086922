"""Sentences of lesson 06, chosen from the reader's own memory mountain and chases."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rooflab.conclusions import Conclusion, cautions, fold
from rooflab.count.si import plain, si
from rooflab.labs.memory.bandwidths import Bandwidth, Bandwidths
from rooflab.labs.memory.concurrency import Concurrency
from rooflab.labs.memory.levels import MEMORY_HOP
from rooflab.labs.memory.mountain import Mountain
from rooflab.predict.machine import Machine

NEAR = 10.0  # times: a memory whose hop is less than that slower is strangely near


def hop(mountain: Mountain, core: Machine) -> Conclusion:
    """A hop in memory beside one in the nearest cache, and the arithmetic that it would hold."""
    near, far = float(mountain.latency[0]), float(mountain.latency[-1])
    adds = far * core.peak("fp32", "vector") / 2
    said = (
        f"In {si(mountain.sizes[0], 'B')} a hop takes {si(near, 's')}, in "
        f"{si(mountain.sizes[-1], 'B')} it takes {si(far, 's')}, {fold(far / near)} as long. "
        f"Meanwhile this core could have done {plain(adds, 2)} multiply-adds in fp32."
    )
    doubts = cautions(mountain)
    home = next((one for one in mountain.levels if one.kind == "open"), None)
    if home is not None:
        return Conclusion(
            "cache",
            f"{said} The system tells of an {home.name} of {si(home.told or 0, 'B')}, though. So "
            f"perhaps even the largest array lay in that cache, and not in memory.{doubts}",
        )
    if far < NEAR * near or far < MEMORY_HOP:  # a last cache may be 25 times as far as the first
        return Conclusion(
            "near",
            f"{said} That is little for a trip to memory. Perhaps the largest array still lay in a "
            f"cache.{doubts}",
        )
    return Conclusion("far", f"{said} The chase gave it nothing to do.{doubts}")


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
    """Every bandwidth of one core, what its bytes are, and why it is what it is."""
    rows = [
        "| | asked for | fetched | written back | both ways |",
        "|---|---|---|---|---|",
        *(
            f"| {one.name} | {si(one.rate, 'B/s')} | {_at_most(one, one.fetched)} | "
            f"{si(one.written, 'B/s') if one.written else '–'} | {_at_most(one, one.bus)} |"
            for one in found.figures
        ),
    ]
    said = [f"- {one.sentence}" for one in found.figures]
    rates = [one.rate for one in found.figures if one.lessons]
    case = "several" if max(rates) > 1.1 * min(rates) else "alike"
    return Conclusion(case, "\n".join([*rows, "", *said]))


def _at_most(one: Bandwidth, rate: float) -> str:
    """``rate`` in words; where more may travel than was asked for, nobody knows whether it does."""
    return f"{'up to ' * (one.bus > 1.001 * one.rate)}{si(rate, 'B/s')}"


CONCLUSIONS: Mapping[str, Callable[..., Conclusion]] = {
    "06-hop": hop,
    "06-levels": levels,
    "06-underway": underway,
    "06-bandwidths": bandwidths,
}
