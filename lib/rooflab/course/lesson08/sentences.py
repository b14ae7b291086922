"""Sentences of lesson 08, chosen from the times of the reader's own loops in six orders."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rooflab.count.si import several
from rooflab.exercises.sentences import Conclusion, Rows, choose, matrix_unit, speed_table
from rooflab.measure.measurement import Measurement
from rooflab.measure.roof_kernels import host
from rooflab.predict.machine import Machine

CLEARLY = 1.3  # times: a smaller gain is not worth a sentence, with the noise of a laptop
UNLIKELY = 1.05  # of the peak: more than clocks differ from one minute to the next
NEAR = 0.7  # of the peak: what is left beyond it needs no reason
SIDE_BY_SIDE = "j"  # the loop that runs along rows of B and C
LANES = 8  # of the lesson's schedules

ENDS = (
    "The fastest order, {fast}, is {gain:times} as fast as the slowest, {slow}. The FLOPs are the "
    "same, and so are the operands."
)
ORDERS: Rows = (
    ("alike", lambda gain: gain < CLEARLY,
     "On this machine the order hardly matters. Perhaps the compiler reordered the loops "
     "itself."),
    ("as counted", lambda gain, front: gain >= CLEARLY and front == {SIDE_BY_SIDE},
     "The two with j innermost are in front, whatever the other loops do."),
    ("otherwise", lambda gain, front: gain >= CLEARLY and front != {SIDE_BY_SIDE},
     "The innermost loops, from fast to slow, are {inside}. By the lines that a turn fetches, j "
     "should be in front; in these times it is not."),
)


def orders(timed: Mapping[str, Measurement], core: Machine) -> Conclusion:
    """The six orders by time, and whether the innermost loop tells fast from slow."""
    ranked = sorted(timed, key=lambda name: timed[name].median_s)
    fastest, slowest = timed[ranked[0]], timed[ranked[-1]]
    inside = [name[-1] for name in ranked]
    shown = {name: timed[name] for name in ranked}
    return choose(
        "{table}\n\n", ENDS, ORDERS, "{unit}", of=timed.values(),
        table="\n".join(speed_table("order", shown, core)), fast=ranked[0], slow=ranked[-1],
        gain=slowest.median_s / fastest.median_s, inside=", ".join(inside), front=set(inside[:2]),
        unit=matrix_unit(fastest, core),
    )


SUMS: Rows = (
    ("alike", lambda gain: gain < CLEARLY,
     "Several sums at a time gain little here. Either one sum already keeps this core busy, or "
     "something else holds it up, such as the cache."),
    ("sums help", lambda gain: gain >= CLEARLY,
     "With {count} rows at a time it is {gain:times} as fast as with one. Either way, each "
     "multiply-add waits for the one before it in its sum, but with more sums there is other work "
     "meanwhile. And what is fetched of B serves all rows."),
)
OF_PEAK: Rows = (
    ("", lambda unit: not unit,
     "The fastest reaches {share:percent} of the core's peak."),
    ("", lambda unit: unit,
     "The fastest reaches {share:percent} of what the core's vector units can do. {unit}"),
)
REST: Rows = (
    ("", lambda share: share > UNLIKELY,
     "It cannot exceed 100 %. Perhaps the clock was slower when the peak was measured, or it "
     "was measured on a core of another kind."),
    ("", lambda share: share < NEAR,
     "The rest may be lost to loads, or to missing tiles or packing."),
)
WIDER: Rows = (
    ("", lambda share, lanes: share < NEAR and lanes > LANES,
     f"It may be lanes, too: these schedules fill {LANES}, and this core has {{lanes}}."),
)


def rows(timed: Mapping[int, Measurement], core: Machine) -> Conclusion:
    """Rows of C at a time, by time, and what it brings to have several sums under way."""
    count = min(timed, key=lambda count: timed[count].median_s)
    best, kind = timed[count], timed[count].op.compute_dtype
    peak = core.peak(kind.name, "vector" if core.has_peak(kind.name, "vector") else None)
    shown = {several(count, "row"): one for count, one in timed.items()}
    return choose(
        "{table}\n\n", SUMS, OF_PEAK, REST, WIDER, of=timed.values(),
        table="\n".join(speed_table("at a time", shown, core)), count=count,
        gain=timed[min(timed)].median_s / best.median_s, unit=matrix_unit(best, core),
        share=best.flop_per_s / peak, lanes=8 * host().vector_bytes // int(kind.bits),
    )


CONCLUSIONS: Mapping[str, Callable[..., Conclusion]] = {"08-orders": orders, "08-rows": rows}
