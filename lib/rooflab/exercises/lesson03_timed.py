"""What 03-predict may ask: timed operations with the figures of their machine, if asking is fair.

Fairness is a rule, not a choice by hand: an operation is asked only where the model of the lesson
(call + the longer of computing and carrying, from the level that holds the operands) comes well
within what is allowed beside the clock, and, with computing and carrying about equally long, where
the clock can tell the longer of them from their sum. Lesson 03 says so.

``lesson03_recorded.json`` holds what this rule found in a recording. It is frozen: a class is
asked the same tomorrow, whatever was recorded since. ``python -m tools.freeze`` made it (see
frozen.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rooflab.exercises.frozen import Clocked, read_frozen
from rooflab.measure.measurement import Measurement
from rooflab.measure.recording import Recording, recording
from rooflab.measure.threads import with_threads
from rooflab.predict.estimate import mix_of, overhead
from rooflab.predict.machine import Machine

FROZEN = Path(__file__).with_name("lesson03_recorded.json")
ROOM = 0.5  # of a cache: operands that fill more than half of it are partly elsewhere
BEYOND = 4  # times the last cache: from there on the operands really come from memory
KINDS = ("both", "cache", "call", "compute", "memory")
FEWEST = 2  # of a kind: a draw has as many
INPUTS = ("flops", "bytes", "peak", "bandwidth", "capacity", "call")  # of the learner's function


@dataclass(frozen=True)
class Timed(Clocked):
    """A timed operation with the figures of its machine.

    ``case``: FLOP, bytes, FLOP/s, byte/s and bytes of each level (nearest first), seconds of a
    call. ``operation`` and ``machine`` say what ran where, for those who read the file.
    """

    operation: str
    machine: str

    @property
    def kind(self) -> str:
        """Which side of the model it tries: one of ``KINDS``."""
        call, computing, carrying = parts(*self.case.values())
        if call > 2 * max(carrying, computing):
            return "call"
        if min(carrying, computing) > 0.4 * max(carrying, computing):
            return "both"
        if computing > carrying:
            return "compute"
        return "memory" if self._place == len(self.case["capacity"]) - 1 else "cache"

    @property
    def fair(self) -> bool:
        """Whether it may be asked (see the module)."""
        caches, nbytes = self.case["capacity"][:-1], self.case["bytes"]
        if self._place < len(caches):
            sure = nbytes <= ROOM * caches[self._place]
        else:
            sure = not caches or nbytes >= BEYOND * caches[-1]
        return sure and self.close(model) and (self.kind != "both" or self.beyond(sum_for_max))

    @property
    def _place(self) -> int:
        return level(self.case["bytes"], self.case["capacity"])


def level(nbytes: int, capacity: list[float]) -> int:
    """Place of the first level that holds ``nbytes``."""
    return next(place for place, room in enumerate(capacity) if nbytes <= room)


def parts(
    flops: int, bytes: int, peak: float, bandwidth: list[float], capacity: list[float], call: float
) -> tuple[float, float, float]:
    """Seconds of the call, of computing and of carrying."""
    return call, flops / peak, bytes / bandwidth[level(bytes, capacity)]


def model(*case: object) -> float:
    """The lesson's model: the call, then the longer of computing and carrying, in seconds."""
    call, computing, carrying = parts(*case)
    return call + max(computing, carrying)


def sum_for_max(*case: object) -> float:
    """The model without overlap, in seconds."""
    return sum(parts(*case))


def found_in(kept: Recording) -> tuple[Timed, ...]:
    """Every operation of a recording that may be asked, in the order in which they were timed."""
    entries = (_entry(m, kept.at(m.threads)) for m in kept.select(cache="warm"))
    return tuple(entry for entry in entries if entry.fair)


def _entry(measured: Measurement, m: Machine) -> Timed:
    op = measured.op
    case = {
        "flops": op.flops, "bytes": op.bytes, "peak": float(m.peak(op.compute_dtype)),
        "bandwidth": [float(m.bandwidth(level, mix_of(op, m, level))) for level in m.levels],
        "capacity": [m.capacities[level] for level in m.levels], "call": overhead(op, m),
    }  # fmt: skip
    spread = measured.iqr_s / measured.median_s
    return Timed(case, measured.median_s, spread, op.label, with_threads(m.id, m.threads))


def entries_of(name: str) -> tuple[Recording, tuple[Timed, ...]]:
    """The recording ``name``, and what of it may be asked."""
    kept = recording(name)
    return kept, found_in(kept)


@cache
def recorded() -> tuple[Timed, ...]:
    """The frozen operations."""
    return tuple(
        Timed(
            {name: row[name] for name in INPUTS}, row["seconds"], row["spread"],
            row["operation"], row["machine"],
        )
        for row in read_frozen(FROZEN)
    )  # fmt: skip
