"""Sentences of lesson 03, chosen from what the reader's core did beside its own roofs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rooflab.conclusions import Conclusion, cautions
from rooflab.count.si import plain, si, times
from rooflab.measure.measurement import Measurement
from rooflab.predict.estimate import homes, mix_of, overhead, peak_of, predict
from rooflab.predict.machine import MIXES, Machine
from rooflab.predict.roofline import Roofline

NOISE = 1.15  # two figures that differ by less are the same, with the noise of a laptop
SHOWN = 6  # pairs; more of them are only counted
NEAR_ITS_BOUND = 1.3  # times the bound: what is still called near it

# Why an operation lies where it lies, in the order of the bullets.
_REASONS = {
    "roof": "**Near the bound**: {rows}. The roof is what stops them.",
    "chance": "**Beside it by chance**: {rows}. The bound takes the bandwidth of the main memory, "
    "and these came from a cache, at least in part. So the bound is not what stops them.",
    "routine": "**Above it, for the routine**: {rows}. The library has a routine for every kind of "
    "shape, and by its own calibration on this core this one does not reach the roof.",
    "call": "**The call**: {rows}. Most of their time is the call. The bound knows nothing of "
    "calls, so where they lie beside it says nothing.",
    "level": "**Above it, though warm**: {rows}. No cache holds all of it, or the cache is slower "
    "than the memory of the bound.",
    "unexplained": "**Above it, and nobody knows why**: {rows}. The call, the cache and the "
    "routine together do not explain it. Look for a ⚠, and measure again.",
    "cache": "**Below it, from a cache**: {rows}. Faster than possible? The bound was computed "
    "with the bandwidth of the main memory, and these came from a cache, at least in part. For "
    "them another roof holds, that of their cache, and it is steeper.",
    "faster unit": "**Below it, though it computes**: {rows}. Either the library computes on a "
    "unit that is faster than the one whose peak was measured, as Apple's matrix unit is, or that "
    "peak was measured in a busier moment.",
    "busy roof": "**Below it, from memory**: {rows}. No memory is faster than itself: the roof was "
    "measured in a busier moment. `rl.this_machine(threads=1, refresh=True)` measures it again.",
}


def bounds(measured: Sequence[Measurement], here: Machine) -> Conclusion:
    """Why each of the measured operations took as many times its bound as it did."""
    groups: dict[str, list[str]] = {}
    for one in measured:
        reason, ratio = _reason(one, here)
        doubt = " ⚠" if one.warnings else ""
        groups.setdefault(reason, []).append(f"{one.op.label}, {times(ratio)}{doubt}")
    bullets = [
        f"- {text.format(rows='; '.join(groups[reason]))}"
        for reason, text in _REASONS.items()
        if reason in groups
    ]
    head = "A bound says that nothing is faster, and is as good as its two figures."
    case = "+".join(reason for reason in _REASONS if reason in groups)
    return Conclusion(case, "\n".join([head, "", *bullets]) + cautions(*measured))


def _reason(one: Measurement, here: Machine) -> tuple[str, float]:
    """A key of _REASONS, and the measured time over the bound with the operation's own mix."""
    op, (peak, _) = one.op, peak_of(one.op, here)
    carrying = op.bytes / here.bandwidth(mix=mix_of(op, here, "dram"))
    computing = op.flops / peak
    ratio = one.median_s / max(computing, carrying)
    if overhead(op, here, one.cache) > one.median_s / 2:
        return "call", ratio
    far = homes(op.working_set, here, one.cache).get("dram", 0.0)  # share that memory serves
    if ratio * NOISE < 1:
        if computing >= carrying:
            return "faster unit", ratio
        return "busy roof" if far > NOISE * ratio else "cache", ratio
    if ratio < NEAR_ITS_BOUND:
        return "roof" if computing >= carrying or far * NOISE > 1 else "chance", ratio
    steps = {stage.name: stage.seconds for stage in predict(op, here, cache=one.cache).terms}
    factors = {
        "level": steps["level and mix"] / max(computing, carrying),
        "call": steps["call overhead"] / steps["level and mix"],
        "routine": steps["routine efficiency"] / steps["call overhead"],
        "unexplained": one.median_s / steps["routine efficiency"],
    }
    return max(factors, key=factors.__getitem__), ratio


def slopes(here: Machine) -> Conclusion:
    """Reading alone beside the best mix of reading and writing, from this machine's memory."""
    rates = {mix: here.bandwidth(mix=mix) for mix in MIXES if mix in here.bandwidths["dram"]}
    read, best = here.bandwidth(), max(rates.values())
    ridge = Roofline(here, "fp32", unit="vector").ridge
    if best > NOISE * 2 * read:
        return Conclusion(
            "one is wrong",
            f"From its memory, this core read {si(read, 'B/s')}, and with the mix it likes best it "
            f"moved {si(best, 'B/s')}, the bytes of both directions counted. Writing back beside "
            "the loads can double a figure at most, so one of the two was measured in a busier "
            "moment. `rl.this_machine(threads=1, refresh=True)` measures them again.",
        )
    if best > NOISE * read:
        return Conclusion(
            "both directions",
            f"From its memory, this core reads {si(read, 'B/s')}. With the mix it likes best, it "
            f"moves {si(best, 'B/s')}: the bytes of both directions are counted. A core can have "
            "only so many loads under way at a time, and what it writes back rides along. So one "
            f"core has more than one slope, and its `fp32` ridge lies at {plain(ridge, 3)} "
            f"FLOP/byte for reading and at {plain(ridge * read / best, 3)} for the best mix.",
        )
    return Conclusion(
        "one slope",
        f"From its memory, this core reads {si(read, 'B/s')}, and no mix of reading and writing "
        f"moves much more: {si(best, 'B/s')}. On many cores it does: the bytes of both directions "
        "are counted, and what is written back rides along with the loads. Here one slope will "
        f"do, with the `fp32` ridge at {plain(ridge, 3)} FLOP/byte.",
    )


def thumb(here: Machine, gpu: Machine) -> Conclusion:
    """Whether "below 4 memory, above 8 compute" holds on this core; ``gpu`` in bf16 beside it."""
    ridge, other = Roofline(here, "fp32", unit="vector").ridge, Roofline(gpu, "bf16").ridge
    said = (
        f"In `bf16` an {gpu.name} has its ridge at {plain(other, 3)} FLOP/byte: above 8 it still "
        f"waits for memory, and goes on waiting up to there. In `fp32`, reading, the ridge of your "
        f"core is at {plain(ridge, 3)}."
    )
    if ridge < 4:
        return Conclusion(
            "below 4",
            f"{said} So between {plain(ridge, 3)} and 4 it is busy computing, and the first rule "
            "fails on it.",
        )
    if ridge <= 8:
        return Conclusion("between", f"{said} Here both rules hold, by luck.")
    return Conclusion(
        "above 8",
        f"{said} So between 8 and {plain(ridge, 3)} it still waits for memory as well, and the "
        "second rule fails on it.",
    )


def pairs(measured: Sequence[Measurement], here: Machine) -> Conclusion:
    """The pairs in which more than twice the intensity goes with less speed."""
    found = [
        (a, b)
        for a in measured
        for b in measured
        if a.op.intensity > 2 * b.op.intensity and a.flop_per_s < b.flop_per_s
    ]
    if not found:
        return Conclusion(
            "none",
            "There is no such pair on this machine today. A list of ten proves no rule: the claim "
            f"still fails, as you will see.{cautions(*measured)}",
        )
    alike = [(a, b) for a, b in found if _limit(a, here) == _limit(b, here)]
    found = [*alike, *(pair for pair in found if pair not in alike)]
    rows = ["| slower | FLOP/byte | faster | FLOP/byte | same limit |", "|---|---|---|---|---|"]
    for a, b in found[:SHOWN]:
        same = _limit(a, here) if (a, b) in alike else ""
        rows.append(f"| {_row(a)} | {_row(b)} | {same} |")
    if len(found) > SHOWN:
        rows += ["", f"… and {len(found) - SHOWN} more."]
    last = "In every pair the model names two different limits."
    if alike:
        which = f"{len(alike)} of these {len(found)} pairs" if len(found) > 1 else "this pair"
        last = f"In {which} the model names the same limit for both."
    doubts = cautions(*(one for pair in found for one in pair))
    case = "same limit" if alike else "other limits"
    return Conclusion(case, "\n".join([*rows, "", last]) + doubts)


def _row(one: Measurement) -> str:
    doubt = " ⚠" if one.warnings else ""
    return f"{one.op.label}, {one.cache}{doubt} | {plain(one.op.intensity, 3)}"


def _limit(one: Measurement, here: Machine) -> str:
    """The limit that the model names: ``"compute"``, ``"overhead"``, ``"memory, L2"``."""
    limit, _, level = predict(one.op, here, cache=one.cache).limit.partition(":")
    return f"{limit}, {level.upper()}" if level else limit


CONCLUSIONS: Mapping[str, Callable[..., Conclusion]] = {
    "03-bounds": bounds,
    "03-slopes": slopes,
    "03-thumb": thumb,
    "03-pairs": pairs,
}
