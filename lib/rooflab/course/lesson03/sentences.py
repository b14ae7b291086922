"""Sentences of lesson 03, chosen from what the reader's core did beside its own roofs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import permutations

from rooflab.count.si import plain, times
from rooflab.exercises.sentences import Conclusion, Rows, cautions, choose
from rooflab.measure.measurement import Measurement
from rooflab.predict.estimate import homes, mix_of, overhead, peak_of, predict
from rooflab.predict.machine import MIXES, Machine
from rooflab.predict.roofline import Roofline

NOISE = 1.15  # two figures that differ by less are the same, with the noise of a laptop
SHOWN = 6  # pairs; more of them are only counted
NEAR_ITS_BOUND = 1.3  # times the bound: what is still called near it

BOUND = "A bound says that nothing is faster, and is as good as its two figures."
# Why operations lie where they lie, in the order of the bullets; far: share from main memory
REASONS: Rows = (
    ("roof", lambda place, far: place == "near peak" or (place == "near slope" and far * NOISE > 1),
     "**Near the bound**: {operations}. The roof is what stops them."),
    ("chance", lambda place, far: place == "near slope" and far * NOISE <= 1,
     "**Beside it by chance**: {operations}. The bound uses the bandwidth of the main memory, and "
     "these came from a cache, at least in part. So the bound is not what stops them."),
    ("routine", lambda place: place == "routine",
     "**Above it, for the routine**: {operations}. The library has a routine for every kind of "
     "shape, and by its own calibration on this core this one does not reach the roof."),
    ("call", lambda place: place == "call",
     "**The call**: {operations}. Most of their time is the call. The bound knows nothing of "
     "calls, so where they lie beside it says nothing."),
    ("level", lambda place: place == "level",
     "**Above it, though warm**: {operations}. No cache holds all of it, or the cache is slower "
     "than the memory of the bound."),
    ("unexplained", lambda place: place == "unexplained",
     "**Above it, for no known reason**: {operations}. The call, the cache and the routine "
     "together do not explain it. Look for a ⚠, and measure again."),
    ("cache", lambda place, far, ratio: place == "below slope" and far <= NOISE * ratio,
     "**Below it, from a cache**: {operations}. Faster than possible? The bound was computed with "
     "the bandwidth of the main memory, and these came from a cache, at least in part. For them "
     "a steeper roof holds: the roof of their cache."),
    ("faster unit", lambda place: place == "below peak",
     "**Below it, though it computes**: {operations}. Either the library computes on a unit that "
     "is faster than the one whose peak was measured, as Apple's matrix unit is, or that peak was "
     "measured in a busier moment."),
    ("busy roof", lambda place, far, ratio: place == "below slope" and far > NOISE * ratio,
     "**Below it, from memory**: {operations}. No memory is faster than itself: the roof was "
     "measured in a busier moment. `rl.this_machine(threads=1, refresh=True)` measures it again."),
)


def bounds(measured: Sequence[Measurement], here: Machine) -> Conclusion:
    """Why each of the measured operations took as many times its bound as it did."""
    groups: dict[str, list[Measurement]] = {}
    for one in measured:
        groups.setdefault(_reason([one], here).case, []).append(one)
    reasons = [_reason(groups[case], here) for case, _, _ in REASONS if case in groups]
    text = "\n".join([BOUND, "", *(f"- {reason.text}" for reason in reasons)])
    return Conclusion(", ".join(reason.case for reason in reasons), text + cautions(*measured))


def _reason(alike: Sequence[Measurement], here: Machine) -> Conclusion:
    """Why operations lie where they lie: all of them for the reason that the first one has."""
    one, (place, ratio) = alike[0], _place(alike[0], here)
    far = homes(one.op.working_set, here, one.cache).get("dram", 0.0)
    names = [f"{a.op.label}, {times(_place(a, here)[1])}{' ⚠' * bool(a.warnings)}" for a in alike]
    return choose(REASONS, operations="; ".join(names), place=place, ratio=ratio, far=far)


def _place(one: Measurement, here: Machine) -> tuple[str, float]:
    """Where it lies, "near slope", "below peak" or what explains most, and time over bound."""
    op, (peak, _) = one.op, peak_of(one.op, here)
    carrying = op.bytes / here.bandwidth(mix=mix_of(op, here, "dram"))
    computing = op.flops / peak
    ratio = one.median_s / max(computing, carrying)
    if overhead(op, here, one.cache) > one.median_s / 2:
        return "call", ratio
    if ratio < NEAR_ITS_BOUND:
        beside = "below" if ratio * NOISE < 1 else "near"
        return f"{beside} {'peak' if computing >= carrying else 'slope'}", ratio
    steps = {stage.name: stage.seconds for stage in predict(op, here, cache=one.cache).terms}
    factors = {
        "level": steps["level and mix"] / max(computing, carrying),
        "call": steps["call overhead"] / steps["level and mix"],
        "routine": steps["routine efficiency"] / steps["call overhead"],
        "unexplained": one.median_s / steps["routine efficiency"],
    }
    return max(factors, key=factors.__getitem__), ratio


SLOPES: Rows = (
    ("one is wrong", lambda read, best: best > NOISE * 2 * read,
     "From its memory, this core read {read:B/s}, and with the mix it likes best it moved "
     "{best:B/s}, the bytes of both directions counted. Writing back beside the loads can double a "
     "figure at most, so one of the two was measured in a busier moment. "
     "`rl.this_machine(threads=1, refresh=True)` measures them again."),
    ("both directions", lambda read, best: NOISE * read < best <= NOISE * 2 * read,
     "From its memory, this core reads {read:B/s}. With the mix it likes best, it moves "
     "{best:B/s}: the bytes of both directions are counted. A core can have only so many loads "
     "in flight at a time, and what it writes back rides along. So one core has more than one "
     "slope, and its `fp32` ridge lies at {ridge:3} FLOP/byte for reading and at {ridge_of_best:3} "
     "for the best mix."),
    ("one slope", lambda read, best: best <= NOISE * read,
     "From its memory, this core reads {read:B/s}, and no mix of reading and writing moves much "
     "more: {best:B/s}. On many cores it does: the bytes of both directions are counted, and what "
     "is written back rides along with the loads. Here one slope will do, with the `fp32` ridge at "
     "{ridge:3} FLOP/byte."),
)


def slopes(here: Machine) -> Conclusion:
    """Reading alone beside the best mix of reading and writing, from this machine's memory."""
    read = here.bandwidth()
    best = max(here.bandwidth(mix=mix) for mix in MIXES if mix in here.bandwidths["dram"])
    ridge = Roofline(here, "fp32", unit="vector").ridge
    return choose(SLOPES, read=read, best=best, ridge=ridge, ridge_of_best=ridge * read / best)


RIDGES = (
    "In `bf16` the ridge of the {gpu} is {ridge_of_gpu:3} FLOP/byte: above 8 it still waits for "
    "memory, and goes on waiting up to there. In `fp32`, reading, the ridge of your core is at "
    "{ridge:3}."
)
THUMB: Rows = (
    ("below 4", lambda ridge: ridge < 4,
     "So between {ridge:3} and 4 it is busy computing, and the first rule fails on it."),
    ("between", lambda ridge: 4 <= ridge <= 8, "Here both rules hold, by luck."),
    ("above 8", lambda ridge: ridge > 8,
     "So between 8 and {ridge:3} it still waits for memory as well, and the second rule fails on "
     "it."),
)


def thumb(here: Machine, gpu: Machine) -> Conclusion:
    """Whether "below 4 memory, above 8 compute" holds on this core; ``gpu`` in bf16 beside it."""
    ridge, other = Roofline(here, "fp32", unit="vector").ridge, Roofline(gpu, "bf16").ridge
    return choose(RIDGES, THUMB, gpu=gpu.name, ridge=ridge, ridge_of_gpu=other)


MORE_PAIRS: Rows = (("", lambda count: count > SHOWN, "… and {more} more.\n\n"),)
PAIRS: Rows = (
    ("none", lambda count: count == 0,
     "There is no such pair on this machine today. A list of ten proves no rule: the claim still "
     "fails, as you will see."),
    ("other limits", lambda count, alike: count > 0 and alike == 0,
     "In every pair the model names two different limits."),
    ("same limit", lambda count, alike: count == alike == 1,
     "In this pair the model names the same limit for both."),
    ("same limit", lambda count, alike: count > 1 and alike > 0,
     "In {alike} of these {count} pairs the model names the same limit for both."),
)


def pairs(measured: Sequence[Measurement], here: Machine) -> Conclusion:
    """The pairs in which more than twice the intensity goes with less speed."""
    found = [
        (a, b) for a, b in permutations(measured, 2)
        if a.op.intensity > 2 * b.op.intensity and a.flop_per_s < b.flop_per_s
    ]
    alike = [(a, b) for a, b in found if _limit(a, here) == _limit(b, here)]
    found = [*alike, *(pair for pair in found if pair not in alike)]
    rows = ["| slower | FLOP/byte | faster | FLOP/byte | same limit |", "|---|---|---|---|---|"]
    for a, b in found[:SHOWN]:
        rows.append(f"| {_row(a)} | {_row(b)} | {_limit(a, here) if (a, b) in alike else ''} |")
    return choose(
        "{table}", MORE_PAIRS, PAIRS, of=[one for pair in found for one in pair] or measured,
        table="\n".join([*rows, "", ""]) if found else "", count=len(found), alike=len(alike),
        more=len(found) - SHOWN,
    )


def _row(one: Measurement) -> str:
    return f"{one.op.label}, {one.cache}{' ⚠' * bool(one.warnings)} | {plain(one.op.intensity, 3)}"


def _limit(one: Measurement, here: Machine) -> str:
    """The limit that the model names: ``"compute"``, ``"overhead"``, ``"memory, L2"``."""
    limit, _, level = predict(one.op, here, cache=one.cache).limit.partition(":")
    return f"{limit}, {level.upper()}" if level else limit


CONCLUSIONS: Mapping[str, Callable[..., Conclusion]] = {
    "03-bounds": bounds, "03-slopes": slopes, "03-thumb": thumb, "03-pairs": pairs,
}
