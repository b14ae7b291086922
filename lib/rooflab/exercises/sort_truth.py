"""The truth of a card to sort: what limits its operation according to the model, and the clock.

``rl.predict`` decides the bin; what was measured stands beside it. A part that the model states is
never left standing as if it were clearly larger than the whole that the clock saw.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rooflab.count.operation import Operation
from rooflab.count.si import percent, si, times
from rooflab.measure.measurement import Measurement
from rooflab.predict.catalogue import machine as _machine
from rooflab.predict.estimate import Prediction, mix_of, peak_of, predict
from rooflab.predict.machine import Machine

ASTRAY = 2.0  # a measured time this many times beside the estimate, or the limit alone, is said
NOISE = 1.1  # two times of which one is longer by less do not contradict each other

# Where a part of the model is longer than the whole that was measured.
_DOUBTS = {
    "overhead": "the usual call was timed in a busier moment.",
    "memory": "the bandwidth was measured in a busier moment, or a nearer cache held some of it.",
    "compute": "the library computes on a faster unit than the one whose peak was measured, or "
    "that was in a busier moment.",
}

#: An operation, "cold" or "warm", and its measurement if there is one.
Thing = tuple[Operation, str, Measurement | None]


@dataclass(frozen=True)
class Card:
    """An operation to sort: its ``limit`` here (one of BINS), the time it took, and why."""

    name: str
    limit: str
    fact: str
    reason: str


def where(things: Sequence[Thing], machine: Machine | str | None) -> Machine:
    """The machine whose limits count; this computer is measured only if it has to be."""
    if machine is not None:
        return _machine(machine)
    from rooflab.measure.backend import host_id
    from rooflab.measure.this_machine import stored_machine, this_machine
    from rooflab.show.time_to_roofline import machine_of

    seen = [m for _, _, m in things if m is not None]
    if not seen:
        return stored_machine() or this_machine()
    found = machine_of(seen)
    if found is None and {(m.machine, m.backend) for m in seen} == {(host_id(), "cpu")}:
        found = this_machine("cpu", seen[0].threads)
    if found is None:
        raise ValueError(f"machine=None: the roofs of {seen[0].machine} are unknown; pass machine=")
    return found


def name(op: Operation, cache: str) -> str:
    """What stands on a card: ``GEMM 32×32×32, fp32, warm``."""
    from rooflab.show import captions

    return f"{captions.short(op)}, {op.compute_dtype}, {cache}"


def card(op: Operation, cache: str, seen: Measurement | None, m: Machine) -> Card:
    """The card of an operation, its truth on the machine ``m``."""
    estimate = predict(op, m, cache=cache)
    limit = estimate.limit.partition(":")[0]
    if seen is None:
        fact = f"predicted {si(estimate.seconds, 's')}, {si(op.flops / estimate.seconds, 'FLOP/s')}"
    else:
        fact = f"measured {si(seen.median_s, 's')}, {si(seen.flop_per_s, 'FLOP/s')}"
        fact += "".join(f", ⚠ {text.partition(':')[0]}" for text in seen.warnings)
    return Card(name(op, cache), limit, fact, _reason(op, m, estimate, seen))


def _reason(op: Operation, m: Machine, estimate: Prediction, seen: Measurement | None) -> str:
    """Why the limit is what it is, in the times that compete."""
    from rooflab.show.captions import level_word

    peak = peak_of(op, m)[0]
    bandwidth = m.bandwidth(estimate.level, mix_of(op, m, estimate.level))
    computing, carrying = op.flops / peak, op.bytes_at(estimate.level) / bandwidth
    stages = {stage.name: stage.seconds for stage in estimate.terms}
    call = stages["call overhead"] - stages["level and mix"]
    place = level_word(estimate.level).replace("The", "the").replace("Memory", "memory")
    work = max(computing, carrying)
    if estimate.limit == "overhead":
        part, text = call, f"The call alone costs {si(call, 's')}, the work {si(work, 's')}."
    elif estimate.limit != "compute":
        part = carrying
        text = (
            f"Carrying {si(op.bytes, 'B')} from {place} takes {si(carrying, 's')}, "
            f"computing {si(computing, 's')}."
        )
    elif computing >= carrying:
        part = computing
        text = (
            f"Computing {si(op.flops, 'FLOP')} takes {si(computing, 's')}, "
            f"carrying from {place} {si(carrying, 's')}."
        )
    else:
        part, share = estimate.seconds - call, percent(computing / (estimate.seconds - call))
        text = f"The routine reaches {share} of the peak on this shape: slower than the carrying."
    return text + _beside(estimate, part, seen)


def _beside(estimate: Prediction, part: float, seen: Measurement | None) -> str:
    """What the clock says to it: ``part`` alone is longer or far shorter, or the estimate is off."""
    if seen is None:
        return ""
    whole = si(seen.median_s, "s")
    if part > NOISE * seen.median_s:
        return f" But all of it took only {whole} here: {_DOUBTS[estimate.limit.partition(':')[0]]}"
    ratio = seen.median_s / estimate.seconds
    if ratio >= ASTRAY:
        return (
            f" But the clock says {whole}, {times(ratio, 2)} what is predicted here, and nothing "
            "that was measured explains it: measure again, with nothing else running."
        )
    if ratio <= 1 / ASTRAY:
        return f" Measured {times(1 / ratio, 2)} shorter than predicted."
    if seen.median_s > ASTRAY * part:
        return (
            f" But the clock says {whole}, {times(seen.median_s / part, 2)} that: none of the three "
            "alone, but the routine."
        )
    return ""
