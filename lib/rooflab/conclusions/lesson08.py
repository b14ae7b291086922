"""Sentences of lesson 08, chosen from the times of the reader's own loops in six orders."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rooflab.conclusions import Conclusion, cautions, fold, matrix_unit, speed_table
from rooflab.count.si import percent, several
from rooflab.measure.measurement import Measurement
from rooflab.measure.roof_kernels import host
from rooflab.predict.machine import Machine

CLEARLY = 1.3  # times: a smaller gain is not worth a sentence, with the noise of a laptop
UNLIKELY = 1.05  # of the peak: more than clocks differ from one minute to the next
SIDE_BY_SIDE = "j"  # the loop that runs along rows of B and C
LANES = 8  # of the lesson's schedules


def orders(timed: Mapping[str, Measurement], core: Machine) -> Conclusion:
    """The six orders by time, and whether the innermost loop tells fast from slow."""
    ranked = sorted(timed, key=lambda name: timed[name].median_s)
    gain = timed[ranked[-1]].median_s / timed[ranked[0]].median_s
    inside = [name[-1] for name in ranked]
    counted = set(inside[:2]) == {SIDE_BY_SIDE}
    said = (
        f"The fastest order, {ranked[0]}, is {fold(gain)} as fast as the slowest, {ranked[-1]}. "
        "The FLOPs are the same, and so are the operands. "
    )
    if gain < CLEARLY:
        case = "alike"
        said += (
            "On this machine the order hardly matters. Perhaps the compiler has turned the loops "
            "round by itself."
        )
    elif counted:
        case = "as counted"
        said += "The two with j innermost are in front, whatever the other loops do."
    else:
        case = "otherwise"
        said += (
            f"The innermost loops, from fast to slow, are {', '.join(inside)}. By the lines that "
            "a turn fetches, j should be in front. Measure once more with nothing else running."
        )
    said += matrix_unit(timed[ranked[0]], core)
    shown = {name: timed[name] for name in ranked}
    text = "\n".join([*speed_table("order", shown, core), "", said])
    return Conclusion(case, text + cautions(*timed.values()))


def rows(timed: Mapping[int, Measurement], core: Machine) -> Conclusion:
    """Rows of C at a time, by time, and what it brings to have several sums under way."""
    one, best = min(timed), min(timed, key=lambda count: timed[count].median_s)
    gain = timed[one].median_s / timed[best].median_s
    if gain < CLEARLY:
        case = "alike"
        said = (
            "Several sums at a time bring little here. Either one of them keeps this core busy, "
            "or something else holds it up, such as the cache."
        )
    else:
        case = "sums help"
        said = (
            f"With {best} rows at a time it is {fold(gain)} as fast as with one. In each case a "
            "multiply-add of a sum waits for the one before it, but with more sums there is other "
            "work meanwhile. And what is fetched of B serves all rows."
        )
    said += " " + _of_peak(timed[best], core)
    shown = {several(count, "row"): one for count, one in timed.items()}
    text = "\n".join([*speed_table("at a time", shown, core), "", said])
    return Conclusion(case, text + cautions(*timed.values()))


def _of_peak(best: Measurement, core: Machine) -> str:
    """What share of the peak the best reaches, and where the rest may be."""
    kind = best.op.compute_dtype.name
    unit = "vector" if core.has_peak(kind, "vector") else None
    share = best.flop_per_s / core.peak(kind, unit)
    said = f"The fastest reaches {percent(share)} of the core's peak."
    if core.has_peak(kind, "tensor"):
        said = f"The fastest reaches {percent(share)} of what the core's vector units can do."
        said += matrix_unit(best, core)
    if share > UNLIKELY:
        said += (
            " It cannot be more than all. Perhaps the clock was slower when the peak was measured, "
            "or it was measured on a core of another kind."
        )
    elif share < 0.7:
        wide = 8 * host().vector_bytes // int(best.op.compute_dtype.bits)
        said += " What is left may be loads, tiles or packing."
        if wide > LANES:
            said += (
                f" It may be lanes, too: these schedules fill {LANES}, and this core has {wide}."
            )
    return said


CONCLUSIONS: Mapping[str, Callable[..., Conclusion]] = {"08-orders": orders, "08-rows": rows}
