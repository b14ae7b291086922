"""Waterfalls as places on a log axis: from the roofline's bound, factor by factor, to the time.

On a log axis a factor is a length. Each bar starts where the last one ended, so the bars' lengths
add up to the distance from the bound to the measured time: their product is measured / bound. The
pictures and the terminal draw the same places.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rooflab.count.operation import Operation
from rooflab.count.si import rounded, si, times
from rooflab.predict.estimate import Prediction, limit_of, peak_of
from rooflab.predict.explain import Explanation, Factor
from rooflab.predict.machine import Machine
from rooflab.show import captions

BOUND, REST = "roofline bound", "unexplained"
#: Which roof the bound is on. The roofline beside it says how far a point lies below a roof.
ROOFS = {"memory": "the bound is that of memory", "compute": "the bound is that of the peak"}


@dataclass(frozen=True)
class WaterfallStep:
    """One bar, from ``start`` to ``end`` (log10 of seconds); ``note`` says why it is there."""

    name: str
    start: float
    end: float
    factor: str
    note: str

    @property
    def kind(self) -> str:
        """ "slower", "faster" or "same" (a factor that three digits write as ×1)."""
        if self.factor == "×1":
            return "same"
        return "slower" if self.end > self.start else "faster"

    @property
    def explained(self) -> bool:
        """Whether a known step made it."""
        return self.name != REST

    @property
    def seconds(self) -> str:
        """The time so far, formatted."""
        return seconds_of(self.end)


@dataclass(frozen=True)
class Fall:
    """A waterfall: the ``sentence`` above it, its ``start`` (log10 s) and the ``steps`` from there.

    ``reached``: "measured" or "predicted"; ``note``: the roofs that the bound comes from;
    ``limit``: which of them it is, "memory" or "compute".
    """

    sentence: str
    note: str
    start: float
    steps: tuple[WaterfallStep, ...]
    reached: str
    limit: str

    @property
    def roof(self) -> str:
        """Which roof the bound lies on, in words."""
        return ROOFS[self.limit]

    @property
    def end(self) -> float:
        """Where it ends, log10 of seconds."""
        return self.steps[-1].end if self.steps else self.start

    @property
    def total(self) -> str:
        """The product of all factors, formatted."""
        return factor_text(10 ** min(self.end - self.start, 308))

    @property
    def places(self) -> tuple[float, ...]:
        """Start and end of every bar, log10 of seconds."""
        return (self.start, *(step.end for step in self.steps))

    @property
    def words(self) -> str:
        """The whole picture as text: the sentence, then a line a bar."""
        bound = f"{BOUND}: {seconds_of(self.start)} ({self.note})."
        steps = [f"{s.name} {s.factor}: {s.seconds} ({s.note})." for s in self.steps]
        end = f"{self.reached}: {seconds_of(self.end)}, {self.total} the bound ({self.roof})."
        return "\n".join([self.sentence, bound, *steps, end])


def of_explanation(e: Explanation) -> Fall:
    """The waterfall of a measured time: its last bar ends at the time itself."""
    start = math.log10(e.bound)
    steps: list[WaterfallStep] = []
    place = start
    for factor in e.factors[:-1]:
        begin, place = place, place + math.log10(factor.factor)
        # What was never timed multiplies by exactly one: no bar, or it would look like a finding.
        if e.machine.routines or factor.factor != 1:
            steps.append(_step(factor, begin, place))
    steps.append(_step(e.factors[-1], place, math.log10(e.seconds)))
    named = e.sentence.replace(e.op.label, f"{captions.short(e.op)} {e.op.compute_dtype}", 1)
    return Fall(named, roof_of(e.op, e.machine), start, tuple(steps), "measured", e.limit)


def of_prediction(op: Operation, machine: Machine, predicted: Prediction) -> Fall:
    """The waterfall of a predicted time, where nothing was measured."""
    first, *stages = predicted.terms
    ends = [math.log10(stage.seconds) for stage in predicted.terms]
    steps = tuple(
        WaterfallStep(stage.name, start, end, factor_text(10 ** (end - start)), stage.note)
        for stage, start, end in zip(stages, ends, ends[1:])
    )
    bound, total = first.seconds, factor_text(predicted.seconds / first.seconds)
    said = (
        f"{captions.what(op)} on {machine.name}: the roofline allows {si(bound, 's')}, "
        f"{si(predicted.seconds, 's')} is predicted ({total}). "
        "Nothing was measured at this size, so the waterfall stops at the prediction."
    )
    limit = limit_of(op, machine, bound)
    return Fall(said, roof_of(op, machine), ends[0], steps, "predicted", limit)


def roof_of(op: Operation, machine: Machine) -> str:
    """The two figures that the bound comes from, and where they come from."""
    peak, bandwidth = peak_of(op, machine)[0], machine.bandwidth("dram", "best")
    return f"{si(peak, 'FLOP/s')} peak, {si(bandwidth, 'B/s')} memory, {machine.provenance}"


def window(places: Sequence[float], pad: float) -> tuple[float, float]:
    """Limits in decades that hold ``places``, ``pad`` (a share of the width) free on each side.

    Half a decade at least, so that a factor of 1.02 does not fill the picture.
    """
    lo, hi = min(places), max(places)
    width = max(0.5, hi - lo)
    slack = (width - (hi - lo)) / 2 + pad * width
    return lo - slack, hi + slack


def seconds_of(decades: float) -> str:
    """Format 10**decades seconds, also beyond what a float holds."""
    if not -300 < decades < 300:
        return f"1e{decades:.0f} s"
    return si(rounded(10.0**decades, 12), "s")  # as the seconds read that the logarithm is of


def _step(factor: Factor, start: float, end: float) -> WaterfallStep:
    return WaterfallStep(factor.name, start, end, factor_text(factor.factor), factor.note)


def factor_text(factor: float) -> str:
    """Format a factor in at most eight letters: ``×1.13``, ``×12,300``, ``×1.2e-9``."""
    if 1e-4 <= factor < 1e6 or not math.isfinite(factor):
        return times(factor)
    mantissa, _, exponent = f"{factor:.1e}".partition("e")
    return f"×{mantissa}e{int(exponent)}"
